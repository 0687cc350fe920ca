internal import CBORCoding
package import Foundation
package import VellumCore

extension CodableFormat {
    /// The value in this format. Runs on the caller's thread, the type's own `encode(to:)` included.
    ///
    /// - Complexity: O(n) in the bytes made.
    /// - Throws: `EncodingError`, and whatever the type throws.
    package func encode<Value: Encodable>(_ value: Value) throws -> Data {
        switch self {
        case .cbor: try Self.cborEncoder.encode(value)
        case .json: try JSONCoders.encoder.encode(value)
        }
    }

    /// The value that the bytes hold, in whichever format they are. Runs on the caller's thread, the type's own `init(from:)` included.
    ///
    /// - Complexity: O(n) in the bytes.
    /// - Throws: `DecodingError`, and whatever the type throws.
    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decode(type, from: bytes) : try JSONCoders.decoder.decode(type, from: bytes)
    }

    /// One value out of what is stored, without decoding the rest; `nil` if it cannot be read so, as out of JSON.
    ///
    /// - Complexity: O(n) in the bytes before the end of the value.
    /// - Throws: `DecodingError` for bytes that are not well-formed up to there, or a value of another type.
    package static func decodeField<Value: Decodable>(_ type: Value.Type, at path: [String], from bytes: Data) throws -> Value? {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decodeIfPresent(type, at: path, from: bytes) : nil
    }

    private static let cborEncoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.isSelfDescribed = true
        return encoder
    }()

    private static let cborDecoder = CBORDecoder()
}
