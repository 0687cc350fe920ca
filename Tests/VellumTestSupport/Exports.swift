// Tests that use these helpers also need the engine.
@_exported public import VellumCore
@_exported public import VellumEngine
