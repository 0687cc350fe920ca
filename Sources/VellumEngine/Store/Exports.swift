// Whoever imports the engine encodes and decodes values.
@_exported public import CodableFormats
