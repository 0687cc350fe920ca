// Decision 31.

/// The format in which `Codable` values are stored.
///
/// Every reader recognizes both formats by their first bytes, so the choice affects only what is
/// written from now on.
public enum CodableFormat: Sendable {
    /// CBOR (RFC 8949) under the tag 55799: several times faster than JSON, and smaller.
    case cbor
    /// JSON, which can be read in a text editor.
    case json
}
