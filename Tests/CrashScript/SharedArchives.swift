internal import Foundation
package import VellumCore
package import VellumEngine

/// The archives that several processes use concurrently, with the system's clock.
package final class SharedArchives {
    package let file: DatabaseFile
    private let stores: [State: Store<Item>]

    /// The disk limit of the shelf.
    package static let tightLimit = 20_000

    package init(in folder: String) throws {
        let file = try DatabaseFile.open(at: Library.url(in: folder))
        var stores: [State: Store<Item>] = [:]
        for shelf in [State.safe, .power, .relaxed, .tight, .fleeting] {
            stores[shelf] = try file.store(
                named: shelf.rawValue, codec: ItemCodec(shelf), memory: try Capacity(DataSize(bytes: 200_000)),
                disk: shelf == .tight ? try Capacity(DataSize(bytes: Self.tightLimit)) : .unlimited, caching: .values,
                indexing: shelf == .safe ? Item.catalog(3) : nil, durability: shelf.durability)
        }
        (self.file, self.stores) = (file, stores)
    }

    package func store(_ shelf: State) throws -> Store<Item> {
        guard let store = stores[shelf] else { throw VellumError(.closed, "The shelf \(shelf) is not open.") }
        return store
    }

    package func find(_ shelf: State, _ key: String) throws -> Int? { try store(shelf).value(forKey: EntryKey(key))?.version }

    package func put(_ shelf: State, _ key: String, _ version: Int, filling: Int = 50, expiration: Expiration? = nil) throws {
        try store(shelf).record(
            Item(shelf: shelf, key: key, version: version, filling: filling), forKey: EntryKey(key), expiration: expiration)
    }

    /// Records items of several shelves together.
    package func put(_ key: String, _ version: Int, on shelves: [State]) throws {
        var transaction = StoreTransaction()
        for shelf in shelves {
            try transaction.record(
                Item(shelf: shelf, key: key, version: version, filling: 50), forKey: EntryKey(key), in: store(shelf))
        }
        try transaction.commit()
    }

    /// Records the item if its key is absent.
    ///
    /// - Returns: Whether it was recorded.
    package func claim(_ key: String, _ version: Int) throws -> Bool {
        var transaction = StoreTransaction()
        try transaction.record(
            Item(shelf: .safe, key: key, version: version, filling: 10), forKey: EntryKey(key), in: store(.safe), onlyIfAbsent: true)
        return try transaction.commit().first ?? false
    }
}
