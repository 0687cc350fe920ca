internal import Foundation

/// What becomes of collections that would be encoded in the iteration order of a hash table.
package enum UnorderedCollections: Sendable {
    case asTheyAre
    /// They throw ``UnorderedCollectionError``.
    case rejected
    /// They, and all dictionaries, become an array of byte strings, the sorted encodings of their
    /// items: only for a comparison of two values of one type.
    case sorted
}

/// A collection that may be encoded in the iteration order of a hash table, which differs between
/// equal values and between launches.
protocol UnorderedCollection {
    /// Whether the type is encoded as an array in iteration order.
    static var isEncodedInIterationOrder: Bool { get }
    /// The encodings of the items, which may be elements or pairs.
    func items(by encoder: CBOREncoder) throws -> [Data]
    /// The type of its keys or elements.
    static var keyType: Any.Type { get }
    /// Whether two coding keys are the same key.
    static func hasEqualKeys(_ keys: [any CodingKey]) -> Bool
}

extension Set: UnorderedCollection {
    static var isEncodedInIterationOrder: Bool { true }
    func items(by encoder: CBOREncoder) throws -> [Data] {
        try map(encoder.encode(item:))
    }
    static var keyType: Any.Type { Element.self }
    static func hasEqualKeys(_ keys: [any CodingKey]) -> Bool { false }
}

extension Dictionary: UnorderedCollection {
    /// With these keys a dictionary is encoded as a map, whose keys the encoder may sort; with
    /// others as an array of keys and values.
    static var isEncodedInIterationOrder: Bool {
        !(Key.self == String.self || Key.self == Int.self
            || Key.self is any CodingKeyRepresentable.Type)
    }
    func items(by encoder: CBOREncoder) throws -> [Data] {
        try map { try encoder.encode(item: $0) + encoder.encode(item: $1) }
    }
    static var keyType: Any.Type { Key.self }
    static func hasEqualKeys(_ keys: [any CodingKey]) -> Bool {
        let type = Key.self as? any CodingKeyRepresentable.Type
        let found = keys.compactMap { type?.init(codingKey: $0) as? Key }
        return Set(found).count < found.count
    }
}

/// The error of a value that is encoded in the iteration order of a hash table.
package struct UnorderedCollectionError: Error {
    package let type: Any.Type
}

extension CBOREncoder {
    /// Returns the sorted items of a set or a dictionary; `nil` for any other value.
    func sortedItems<Value>(of value: Value) throws -> [Data]? {
        guard let type = Value.self as? any UnorderedCollection.Type,
            let collection = value as? any UnorderedCollection
        else { return nil }
        guard unorderedCollections == .sorted else {
            if type.isEncodedInIterationOrder { throw UnorderedCollectionError(type: Value.self) }
            return nil
        }
        return try collection.items(by: self).sorted { $0.lexicographicallyPrecedes($1) }
    }

    fileprivate func encode(item: Any) throws -> Data {
        guard let item = item as? any Encodable else {
            throw UnorderedCollectionError(type: type(of: item))
        }
        return try encode(item)
    }
}
