// The names that callers of this module use: all of Shallows, and these of the engine.

@_exported public import Shallows
@_exported public import struct Tiers.Capacity
@_exported public import enum Tiers.CodableFormat
@_exported public import struct Tiers.DataSize
@_exported public import enum Tiers.Durability
@_exported public import protocol Tiers.EngineError
@_exported public import struct Tiers.Expiration
@_exported public import enum Tiers.RemovalCause
@_exported public import struct Tiers.StoreError
@_exported public import struct Tiers.StoreStatistics
@_exported public import struct Tiers.TierTotals
@_exported public import struct Tiers.WallClock
@_exported public import struct Tiers.WallInstant
