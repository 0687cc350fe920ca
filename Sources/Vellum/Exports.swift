// Types of VellumCore in this module's API, so that `import Vellum` is enough.

@_exported public import struct VellumCore.Capacity
@_exported public import enum VellumCore.CodableFormat
@_exported public import struct VellumCore.DataSize
@_exported public import enum VellumCore.Durability
@_exported public import struct VellumCore.EntryMetadata
@_exported public import struct VellumCore.Expiration
@_exported public import struct VellumCore.IndexProgress
@_exported public import enum VellumCore.IndexValue
@_exported public import protocol VellumCore.IndexableScalar
@_exported public import protocol VellumCore.IndexableValue
@_exported public import struct VellumCore.LimitChange
@_exported public import struct VellumCore.LoadOptions
@_exported public import enum VellumCore.LoadSource
@_exported public import struct VellumCore.Loaded
@_exported public import struct VellumCore.QueryExplanation
@_exported public import enum VellumCore.RemovalCause
@_exported public import struct VellumCore.StorageLimits
@_exported public import struct VellumCore.StorageUsage
@_exported public import struct VellumCore.VellumError
@_exported public import enum VellumCore.StoreEvent
@_exported public import struct VellumCore.StoreStatistics
@_exported public import enum VellumCore.UnawaitedLoad
@_exported public import struct VellumCore.WallClock
