@_exported public import enum CBORCoding.CBORValue
@_exported public import struct VellumCore.DataSize
@_exported public import struct VellumCore.VellumError
@_exported public import struct VellumCore.Sizing
@_exported public import enum VellumCore.MemoryPressure
