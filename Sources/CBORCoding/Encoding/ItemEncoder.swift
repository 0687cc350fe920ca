internal import Foundation

/// The `Encoder` that is passed to the `encode(to:)` of a type. It encodes one item.
struct ItemEncoder: Encoder {
    let buffer: EncodingBuffer
    let item: Int

    init(_ buffer: EncodingBuffer, _ item: Int) {
        self.buffer = buffer
        self.item = item
    }

    var codingPath: [any CodingKey] { buffer.codingPath(of: item) }
    var userInfo: [CodingUserInfoKey: Any] { buffer.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.open(item, as: .map)
        return KeyedEncodingContainer(CBORKeyedEncodingContainer(buffer: buffer, item: item))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.open(item, as: .array)
        return CBORUnkeyedEncodingContainer(buffer: buffer, item: item)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { CBORSingleValueEncodingContainer(buffer: buffer, item: item) }
}
