internal import Foundation

/// The encoder of one item, as types see it.
struct ItemEncoder: Encoder {
    let log: EncodingLog
    let item: Int

    init(_ log: EncodingLog, _ item: Int) {
        self.log = log
        self.item = item
    }

    var codingPath: [any CodingKey] { log.codingPath(of: item) }
    var userInfo: [CodingUserInfoKey: Any] { log.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        log.open(item, as: .map)
        return KeyedEncodingContainer(KeyedItems(log: log, item: item))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        log.open(item, as: .array)
        return UnkeyedItems(log: log, item: item)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleItem(log: log, item: item) }
}
