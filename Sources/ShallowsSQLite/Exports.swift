// The names that callers of this module use: all of Shallows, and these of the engine.

@_exported public import Shallows
@_exported public import struct VellumCore.Capacity
@_exported public import enum VellumCore.CodableFormat
@_exported public import struct VellumCore.DataSize
@_exported public import enum VellumCore.Durability
@_exported public import struct VellumCore.Expiration
@_exported public import enum VellumCore.RemovalCause
@_exported public import struct VellumCore.VellumError
@_exported public import struct VellumCore.StoreStatistics
@_exported public import struct VellumCore.WaitingCalls
@_exported public import struct VellumCore.LoadStatistics
@_exported public import struct VellumCore.StorageUsage
@_exported public import struct VellumCore.WallClock
@_exported public import struct VellumCore.Sizing
@_exported public import enum VellumCore.MemoryPressure
