internal import Foundation

/// The `Decoder` that is passed to the `init(from:)` of a type, and its single-value container. It
/// decodes one item.
struct ItemDecoder: Decoder, SingleValueDecodingContainer {
    let source: DecodingSource
    /// The offset of the item, including its tags.
    let offset: Int
    /// The number of enclosing containers.
    let depth: Int

    var codingPath: [any CodingKey] { source.codingPath(of: offset) }
    var userInfo: [CodingUserInfoKey: Any] { source.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try CBORKeyedDecodingContainer(source, at: offset, depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecodingContainer(source, at: offset, depth: depth)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    // MARK: One value

    func decodeNil() -> Bool { source.isOpen && source.reader.isNil(at: offset) }

    func decode(_ type: Bool.Type) throws -> Bool {
        try source.bool(at: offset)
    }
    func decode(_ type: String.Type) throws -> String {
        try source.string(at: offset)
    }
    func decode(_ type: Double.Type) throws -> Double {
        try source.double(at: offset)
    }
    func decode(_ type: Float.Type) throws -> Float {
        try source.float(at: offset)
    }
    @inline(__always)
    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        try source.integer(type, at: offset)
    }
    // Not by the generic one: the protocol has methods of its own for these, which would be chosen.
    func decode(_ type: Int128.Type) throws -> Int128 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt128.Type) throws -> UInt128 {
        try source.integer(type, at: offset)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try source.decode(type, at: offset, depth: depth)
    }
}
