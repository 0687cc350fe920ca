/// A collection that may be encoded in the iteration order of a hash table, which differs between equal values and between launches.
protocol UnorderedCollection {
    /// Whether the type is encoded as an array in iteration order.
    static var isEncodedInIterationOrder: Bool { get }
    /// The type of its keys or elements.
    static var keyType: Any.Type { get }
    /// Whether two coding keys are the same key.
    static func hasEqualKeys(_ keys: [any CodingKey]) -> Bool
}

extension Set: UnorderedCollection {
    static var isEncodedInIterationOrder: Bool { true }
    static var keyType: Any.Type { Element.self }
    static func hasEqualKeys(_ keys: [any CodingKey]) -> Bool { false }
}

extension Dictionary: UnorderedCollection {
    /// With these keys a dictionary is encoded as a map, whose keys the encoder sorts; with others as an array of keys and values.
    static var isEncodedInIterationOrder: Bool {
        !(Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type)
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

    /// Throws an error if values of the type are encoded in iteration order.
    static func check(_ type: Any.Type) throws {
        if let collection = type as? any UnorderedCollection.Type, collection.isEncodedInIterationOrder {
            throw UnorderedCollectionError(type: type)
        }
    }
}
