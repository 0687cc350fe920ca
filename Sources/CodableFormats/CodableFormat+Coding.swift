internal import CBORCoding
package import Foundation
package import VellumCore

extension CodableFormat {
    /// Returns the value encoded in this format.
    ///
    /// Runs on the caller's thread, including the type's own `encode(to:)`.
    ///
    /// - Complexity: O(n) in the size of the result.
    /// - Throws: `EncodingError`, and any error that the type's `encode(to:)` throws.
    package func encode<Value: Encodable>(_ value: Value) throws -> Data {
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
    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: Data) throws -> Value {
        CBORDecoder.isSelfDescribed(bytes) ? try cborDecoder.decode(type, from: bytes) : try JSONCoders.decoder.decode(type, from: bytes)
    }

    private static let cborEncoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.isSelfDescribed = true
        return encoder
    }()

    fileprivate static let cborDecoder = CBORDecoder()
}

/// A value within encoded values, which is read without decoding the rest. JSON has none.
package struct EncodedField: Sendable {
    private let path: CBORFieldPath

    /// - Parameter path: The string values of the coding keys that lead to the value.
    package init(_ path: [String]) { self.path = CBORFieldPath(path) }

    /// Returns the value; `nil` if the path is absent, or the bytes are JSON.
    ///
    /// - Complexity: O(n) in the number of bytes up to the end of the value.
    /// - Throws: `DecodingError` if the bytes up to there are malformed, or the value has another type.
    package func value<Value: Decodable>(_ type: Value.Type, in bytes: Data) throws -> Value? {
        CBORDecoder.isSelfDescribed(bytes) ? try CodableFormat.cborDecoder.decodeIfPresent(type, at: path, from: bytes) : nil
    }

    /// Returns whether the value is equal to a text in UTF-8; `nil` if its bytes do not tell.
    package func isText(_ utf8: [UInt8], in bytes: Data) throws -> Bool? {
        CBORDecoder.isSelfDescribed(bytes) ? try CodableFormat.cborDecoder.isText(utf8, at: path, in: bytes) : nil
    }
}
