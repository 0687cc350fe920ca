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
    package static func decode<Value: Decodable>(
        _ type: Value.Type,
        from bytes: Data
    ) throws -> Value {
        CBORDecoder.isSelfDescribed(bytes)
            ? try cborDecoder.decode(type, from: bytes)
            : try JSONCoders.decoder.decode(type, from: bytes)
    }

    /// Whether both values are encoded, with the same content, in whatever order their sets and
    /// dictionaries are. Of other types, the order of properties is content: they may keep one.
    package static func isSame<Value>(_ value: Value, _ other: Value) throws -> Bool {
        guard let value = value as? any Encodable, let other = other as? any Encodable else {
            return false
        }
        return try comparingEncoder.encode(value) == comparingEncoder.encode(other)
    }

    private static let comparingEncoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.unorderedCollections = .sorted
        return encoder
    }()

    private static let cborEncoder: CBOREncoder = {
        var encoder = CBOREncoder()
        encoder.isSelfDescribed = true
        return encoder
    }()

    private static let cborDecoder = CBORDecoder()
}

extension Data {
    /// Whether these may be the same bytes as others in another order. Almost always false if they
    /// are not.
    package func mayBeReordered(_ other: Data) -> Bool {
        count == other.count && sumOfSquares == other.sumOfSquares
    }

    private var sumOfSquares: UInt32 {
        withUnsafeBytes { $0.reduce(0) { $0 &+ UInt32($1) &* UInt32($1) } }
    }
}

/// The JSON coders that the whole package shares: created once, never changed, safe on any thread.
package enum JSONCoders {
    package static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity",
            negativeInfinity: "-Infinity",
            nan: "NaN"
        )
        return encoder
    }()

    package static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity",
            negativeInfinity: "-Infinity",
            nan: "NaN"
        )
        return decoder
    }()
}
