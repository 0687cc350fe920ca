internal import Foundation

/// The `Decoder` that is passed to the `init(from:)` of a type. It decodes one item.
struct ItemDecoder: Decoder {
    let source: DecodingSource
    /// The offset of the item, including its tags.
    let offset: Int
    /// The number of enclosing containers.
    let depth: Int

    @inline(__always)
    init(_ source: DecodingSource, at offset: Int, depth: Int) {
        self.source = source
        self.offset = offset
        self.depth = depth
    }

    var codingPath: [any CodingKey] { source.codingPath(of: offset) }
    var userInfo: [CodingUserInfoKey: Any] { source.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try CBORKeyedDecodingContainer(source, at: offset, depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try CBORUnkeyedDecodingContainer(source, at: offset, depth: depth) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        CBORSingleValueDecodingContainer(source, at: offset, depth: depth)
    }
}
