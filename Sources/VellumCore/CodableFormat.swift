internal import CBORCoding
public import Foundation

/// What `Codable` values become when they are stored.
///
/// Bytes of either format tell themselves, so that both are always read: the choice is about what is written next.
public enum CodableFormat: Sendable {
    /// CBOR (RFC 8949) under the tag 55799: several times faster than JSON, and smaller.
    case cbor
    /// JSON, for those who look into files by eye.
    case json

    /// The value in this format. Runs on the caller's thread, the type's own `encode(to:)` included.
    ///
    /// - Complexity: O(n) in the bytes made.
    /// - Throws: `EncodingError`, and whatever the type throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        switch self {
        case .cbor: try Self.cborEncoder.encode(value)
        case .json: try JSONCoders.encoder.encode(value)
        }
    }

    /// The value that the bytes hold, in whichever format they are. Runs on the caller's thread, the type's own `init(from:)` included.
    ///
    /// - Complexity: O(n) in the bytes.
    /// - Throws: `DecodingError`, and whatever the type throws.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decode(type, from: bytes) : try JSONCoders.decoder.decode(type, from: bytes)
    }

    /// One value out of what is stored, without decoding the rest; `nil` if it cannot be read so, as out of JSON.
    ///
    /// - Complexity: O(n) in the bytes before the end of the value.
    /// - Throws: `DecodingError` for bytes that are not well-formed up to there, or a value of another type.
    public static func decodeField<Value: Decodable>(_ type: Value.Type, at path: [String], from bytes: Data) throws -> Value? {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decodeIfPresent(type, at: path, from: bytes) : nil
    }

    private static let cborEncoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.isSelfDescribed = true
        return encoder
    }()

    private static let cborDecoder = CBORDecoder()
}
