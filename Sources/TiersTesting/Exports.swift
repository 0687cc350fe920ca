// Whoever tests a tier of their own needs the engine's names.
@_exported public import Tiers
