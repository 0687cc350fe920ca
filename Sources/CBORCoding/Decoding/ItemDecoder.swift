internal import Foundation

/// The decoder of one item, as types see it.
struct ItemDecoder: Decoder {
    let source: DecodingSource
    /// Where the item begins, with its tags.
    let offset: Int
    /// In how many containers it lies.
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
        KeyedDecodingContainer(try KeyedEntries(source, at: offset, depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedEntries(source, at: offset, depth: depth) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleEntry(source, at: offset, depth: depth) }
}
