internal import Foundation
package import VellumCore
package import VellumEngine
internal import VellumTestSupport

/// The archives that several processes use concurrently, with the system's clock.
package final class SharedArchives {
    package let file: DatabaseFile
    private let stores: [ScriptArchive: Store<Item>]

    /// The disk limit of the archive.
    package static let tightLimit = 20_000

    package init(in folder: String) throws {
        let file = try whileBusy { try DatabaseFile.open(at: Library.url(in: folder)) }
        var stores: [ScriptArchive: Store<Item>] = [:]
        for archive in [ScriptArchive.safe, .power, .relaxed, .tight, .fleeting] {
            stores[archive] = try whileBusy {
                try file.store(
                    named: archive.rawValue,
                    codec: ItemCodec(archive),
                    memory: try Capacity(DataSize(bytes: 200_000)),
                    disk: archive == .tight
                        ? try Capacity(DataSize(bytes: Self.tightLimit)) : .unlimited,
                    caching: .values,
                    indexing: archive == .safe ? Item.catalog(3) : nil,
                    durability: archive.durability
                )
            }
        }
        (self.file, self.stores) = (file, stores)
    }

    package func store(_ archive: ScriptArchive) throws -> Store<Item> {
        guard let store = stores[archive] else {
            throw VellumError(.closed, "The archive \(archive) is not open.")
        }
        return store
    }

    package func find(_ archive: ScriptArchive, _ key: String) throws -> Int? {
        let store = try store(archive)
        return try whileBusy { try store.value(forKey: EntryKey(key))?.version }
    }

    package func remove(_ archive: ScriptArchive, _ key: String) throws {
        let store = try store(archive)
        try whileBusy { try store.remove(EntryKey(key)) }
    }

    package func close() throws { try whileBusy { try file.close() } }

    package func put(
        _ archive: ScriptArchive,
        _ key: String,
        _ version: Int,
        filling: Int = 50,
        expiration: Expiration? = nil
    ) throws {
        let store = try store(archive)
        let item = Item(archive: archive, key: key, version: version, filling: filling)
        try whileBusy { try store.record(item, forKey: EntryKey(key), expiration: expiration) }
    }

    /// Records items of several archives together.
    package func put(_ key: String, _ version: Int, on archives: [ScriptArchive]) throws {
        try whileBusy {
            var transaction = StoreTransaction()
            for archive in archives {
                try transaction.record(
                    Item(archive: archive, key: key, version: version, filling: 50),
                    forKey: EntryKey(key),
                    in: store(archive)
                )
            }
            try transaction.commit()
        }
    }

    /// Records the item if its key is absent.
    ///
    /// - Returns: Whether it was recorded.
    package func claim(_ key: String, _ version: Int) throws -> Bool {
        try whileBusy {
            var transaction = StoreTransaction()
            try transaction.record(
                Item(archive: .safe, key: key, version: version, filling: 10),
                forKey: EntryKey(key),
                in: store(.safe),
                onlyIfAbsent: true
            )
            return try transaction.commit().first ?? false
        }
    }
}
