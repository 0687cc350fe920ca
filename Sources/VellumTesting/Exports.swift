@_exported public import struct VellumCore.WallClock
