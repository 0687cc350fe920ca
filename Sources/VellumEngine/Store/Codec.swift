public import Foundation
public import VellumCore

/// Encodes values as bytes, and decodes them.
///
/// A store encodes once per write and decodes at most once per read, on the caller's thread and never under a lock.
@usableFromInline package protocol Codec<Value>: Sendable {
    associatedtype Value

    func encode(_ value: Value) throws -> Data
    func decode(_ bytes: Data) throws -> Value
}

/// A codec for `Codable` types, which writes one format and reads all formats.
@usableFromInline package struct CodableCodec<Value: Codable>: Codec {
    /// The format of new bytes.
    @usableFromInline package let format: CodableFormat

    @usableFromInline package init(_ format: CodableFormat = .cbor) { self.format = format }

    @usableFromInline package func encode(_ value: Value) throws -> Data { try format.encode(value) }
    @usableFromInline package func decode(_ bytes: Data) throws -> Value { try CodableFormat.decode(Value.self, from: bytes) }
}

/// A codec for `Codable` types that reads and writes only Foundation's JSON. Infinity and NaN are encoded as strings.
@usableFromInline package struct JSONCodec<Value: Codable>: Codec {
    @usableFromInline package init() {}

    @usableFromInline package func encode(_ value: Value) throws -> Data { try JSONCoders.encoder.encode(value) }
    @usableFromInline package func decode(_ bytes: Data) throws -> Value { try JSONCoders.decoder.decode(Value.self, from: bytes) }
}

/// A codec for bytes, which leaves them unchanged.
@usableFromInline package struct IdentityCodec: Codec {
    @usableFromInline package init() {}

    @usableFromInline package func encode(_ value: Data) -> Data { value }
    @usableFromInline package func decode(_ bytes: Data) -> Data { bytes }
}
