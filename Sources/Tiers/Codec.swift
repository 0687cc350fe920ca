public import Foundation

/// Turns values into bytes and back.
///
/// A store encodes once per write and decodes at most once per read, on the caller's thread and never under a lock.
public protocol Codec<Value>: Sendable {
    associatedtype Value

    func encode(_ value: Value) throws -> Data
    func decode(_ bytes: Data) throws -> Value
}

/// A codec for anything `Codable`, which writes one format and reads them all.
public struct CodableCodec<Value: Codable>: Codec {
    /// What is written.
    public let format: CodableFormat

    public init(_ format: CodableFormat = .cbor) { self.format = format }

    public func encode(_ value: Value) throws -> Data { try format.encode(value) }
    public func decode(_ bytes: Data) throws -> Value { try CodableFormat.decode(Value.self, from: bytes) }
}

/// A codec for anything `Codable` that is JSON and nothing else: JSON of Foundation, with numbers that are not finite spelled out.
public struct JSONCodec<Value: Codable>: Codec {
    public init() {}

    public func encode(_ value: Value) throws -> Data { try JSONCoders.encoder.encode(value) }
    public func decode(_ bytes: Data) throws -> Value { try JSONCoders.decoder.decode(Value.self, from: bytes) }
}

/// The JSON coders that the whole package shares: made once, never changed, safe on any thread.
public enum JSONCoders {
    public static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return encoder
    }()

    public static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        return decoder
    }()
}

/// A codec for bytes: they are their own encoding.
public struct IdentityCodec: Codec {
    public init() {}

    public func encode(_ value: Data) -> Data { value }
    public func decode(_ bytes: Data) -> Data { bytes }
}
