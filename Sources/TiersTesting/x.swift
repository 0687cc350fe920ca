internal import Tiers
