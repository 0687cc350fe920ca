// The types of the engine that callers of this module use, so that `import MiniCache` is enough.

@_exported public import struct Tiers.Capacity
@_exported public import enum Tiers.CodableFormat
@_exported public import struct Tiers.DataSize
@_exported public import enum Tiers.Durability
@_exported public import protocol Tiers.EngineError
@_exported public import struct Tiers.EntryMetadata
@_exported public import struct Tiers.Expiration
@_exported public import enum Tiers.AbandonedLoad
@_exported public import struct Tiers.LoadOptions
@_exported public import enum Tiers.LoadSource
@_exported public import struct Tiers.Loaded
@_exported public import enum Tiers.RemovalCause
@_exported public import struct Tiers.StoreError
@_exported public import struct Tiers.StoreStatistics
@_exported public import struct Tiers.TierTotals
@_exported public import struct Tiers.WallClock
@_exported public import struct Tiers.WallInstant
