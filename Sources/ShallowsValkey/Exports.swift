@_exported public import Shallows
@_exported public import enum VellumCore.CodableFormat
@_exported public import struct VellumCore.DataSize
@_exported public import struct VellumCore.Expiration
@_exported public import VellumRemote
@_exported public import VellumValkey
