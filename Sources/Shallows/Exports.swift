// What callers of this module need of the engine, so that `import Shallows` is enough.

@_exported public import struct VellumCore.Capacity
@_exported public import struct VellumCore.DataSize
@_exported public import enum VellumCore.Durability
@_exported public import struct VellumCore.Expiration
@_exported public import struct VellumCore.VellumError
@_exported public import struct VellumCore.StorageUsage
@_exported public import struct VellumCore.WallClock
@_exported public import enum VellumCore.MemoryPressure
