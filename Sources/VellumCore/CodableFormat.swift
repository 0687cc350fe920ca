internal import CBORCoding
public import Foundation

/// The format in which `Codable` values are stored.
///
/// Every reader recognizes both formats by their first bytes, so the choice affects only what is written from now on.
///
/// ```swift
/// let bytes = try CodableFormat.cbor.encode(user)
/// let user = try CodableFormat.decode(User.self, from: bytes)
/// ```
public enum CodableFormat: Sendable {
    /// CBOR (RFC 8949) under the tag 55799: several times faster than JSON, and smaller.
    case cbor
    /// JSON, which can be read in a text editor.
    case json

    /// Returns the value encoded in this format.
    ///
    /// Runs on the caller's thread, including the type's own `encode(to:)`.
    ///
    /// - Complexity: O(n) in the size of the result.
    /// - Throws: `EncodingError`, and any error that the type's `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        switch self {
        case .cbor: try Self.cborEncoder.encode(value)
        case .json: try JSONCoders.encoder.encode(value)
        }
    }

    /// Returns the value decoded from bytes in either format.
    ///
    /// Runs on the caller's thread, including the type's own `init(from:)`.
    ///
    /// - Complexity: O(n) in the number of bytes.
    /// - Throws: `DecodingError`, and any error that the type's `init(from:)` throws.
    public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decode(type, from: bytes) : try JSONCoders.decoder.decode(type, from: bytes)
    }

    /// Returns one nested value without decoding the rest; `nil` if the path is absent, or the bytes are JSON.
    ///
    /// - Complexity: O(n) in the number of bytes up to the end of the value.
    /// - Throws: `DecodingError` if the bytes up to there are malformed, or the value has another type.
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
