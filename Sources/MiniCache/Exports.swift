// The types of the engine that callers of this module use, so that `import MiniCache` is enough.

@_exported public import enum CBORCoding.CBORValue
@_exported public import enum ModelVersions.Migrated
@_exported public import struct ModelVersions.StoredObject
@_exported public import protocol ModelVersions.VersionedArchive
@_exported public import struct VellumCore.Capacity
@_exported public import enum VellumCore.CodableFormat
@_exported public import struct VellumCore.DataSize
@_exported public import enum VellumCore.Durability
@_exported public import struct VellumCore.EntryMetadata
@_exported public import struct VellumCore.Expiration
@_exported public import enum VellumCore.UnawaitedLoad
@_exported public import struct VellumCore.FileHealth
@_exported public import struct VellumCore.LoadOptions
@_exported public import enum VellumCore.LoadResult
@_exported public import enum VellumCore.LoadSource
@_exported public import struct VellumCore.LoadStatistics
@_exported public import struct VellumCore.Loaded
@_exported public import enum VellumCore.RemovalCause
@_exported public import struct VellumCore.VellumError
@_exported public import struct VellumCore.StoreStatistics
@_exported public import struct VellumCore.WaitingCalls
@_exported public import struct VellumCore.StorageLimits
@_exported public import struct VellumCore.StorageUsage
@_exported public import struct VellumCore.WallClock
@_exported public import struct VellumCore.Sizing
@_exported public import enum VellumCore.MemoryPressure
