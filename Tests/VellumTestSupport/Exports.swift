// Tests need the engine wherever they need these.
@_exported public import VellumCore
@_exported public import VellumEngine
