public import Foundation
public import VellumCore

/// Encodes values as bytes, and decodes them.
///
/// A store encodes once per write and decodes at most once per read, on the caller's thread and
/// never under a lock.
@usableFromInline package protocol Codec<Value>: Sendable {
    associatedtype Value

    func encode(_ value: Value) throws -> Data
    /// Decodes bytes of this ``version``.
    func decode(_ bytes: Data) throws -> Value

    /// The version of the type that is read and written; 0 if the type has none.
    var version: Int64 { get }
    /// The version of the bytes that ``encode(_:)`` makes of a value.
    func version(of value: Value) -> Int64
    /// Makes a value of bytes of another version. May run more than once for the same bytes.
    func migrate(_ bytes: Data, from version: Int64, of key: EntryKey) throws -> Migration<Value>
    /// Whether the bytes of the value decode as the same content as `old`, in whatever order. Asked
    /// if they are the same bytes in another order.
    func isSame(_ value: Value, _ new: Data, as old: Data) throws -> Bool
    /// The key that a value belongs under; `nil` if values do not say.
    func key(of value: Value) -> EntryKey?
}

/// What became of an object of an older version.
@usableFromInline package enum Migration<Value> {
    case value(Value)
    /// It is no longer needed.
    case removed
}

extension Codec {
    @usableFromInline package var version: Int64 { 0 }
    @usableFromInline package func version(of value: Value) -> Int64 { version }
    @usableFromInline package func migrate(
        _ bytes: Data,
        from version: Int64,
        of key: EntryKey
    ) throws -> Migration<Value> {
        throw VellumError.newerVersion(version, than: self.version)
    }
    @usableFromInline package func isSame(_ value: Value, _ new: Data, as old: Data) throws -> Bool
    {
        try CodableFormat.isSame(value, decode(old))
    }
    @usableFromInline package func key(of value: Value) -> EntryKey? { nil }
}

/// A codec for `Codable` types, which writes one format and reads all formats.
@usableFromInline package struct CodableCodec<Value: Codable>: Codec {
    /// The format of new bytes.
    @usableFromInline package let format: CodableFormat

    @usableFromInline package init(_ format: CodableFormat = .cbor) { self.format = format }

    @usableFromInline package func encode(_ value: Value) throws -> Data {
        try format.encode(value)
    }
    @usableFromInline package func decode(_ bytes: Data) throws -> Value {
        try CodableFormat.decode(Value.self, from: bytes)
    }
}
