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
    func decode(_ type: Int.Type) throws -> Int {
        try source.integer(type, at: offset)
    }
    func decode(_ type: Int8.Type) throws -> Int8 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: Int16.Type) throws -> Int16 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: Int32.Type) throws -> Int32 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: Int64.Type) throws -> Int64 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: Int128.Type) throws -> Int128 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt.Type) throws -> UInt {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt8.Type) throws -> UInt8 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt16.Type) throws -> UInt16 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt32.Type) throws -> UInt32 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt64.Type) throws -> UInt64 {
        try source.integer(type, at: offset)
    }
    func decode(_ type: UInt128.Type) throws -> UInt128 {
        try source.integer(type, at: offset)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try source.decode(type, at: offset, depth: depth)
    }
}
