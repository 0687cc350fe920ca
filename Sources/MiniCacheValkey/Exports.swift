@_exported public import MiniCache
@_exported public import VellumRemote
@_exported public import VellumValkey
