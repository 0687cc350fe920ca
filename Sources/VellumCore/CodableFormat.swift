/// What `Codable` values become when they are stored.
///
/// Bytes of either format tell themselves, so that both are always read: the choice is about what is written next.
public enum CodableFormat: Sendable {
    /// CBOR (RFC 8949) under the tag 55799: several times faster than JSON, and smaller.
    case cbor
    /// JSON, for those who look into files by eye.
    case json
}
