@_exported public import enum CBORCoding.CBORValue
@_exported public import struct VellumCore.DataSize
@_exported public import struct VellumCore.QueryExplanation
@_exported public import struct VellumCore.VellumError
