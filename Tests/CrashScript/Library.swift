package import Foundation
internal import Synchronization
package import Tiers
package import TiersSQLite

/// The archives of a script, open.
package final class Library {
    /// What the clock of every archive says, in milliseconds.
    package final class Clock: Sendable {
        private let milliseconds: Atomic<Int64>

        package init(_ now: Int64) { milliseconds = Atomic(now) }

        package var now: Int64 {
            get { milliseconds.load(ordering: .acquiring) }
            set { milliseconds.store(newValue, ordering: .releasing) }
        }

        package var wallClock: WallClock { WallClock { WallInstant(rawValue: self.now) } }
    }

    package let file: SQLiteFile
    package let clock: Clock
    package private(set) var stores: [Shelf: TieredStore<Item>] = [:]

    package static func url(in folder: String) -> URL { URL(fileURLWithPath: folder).appendingPathComponent("Archives.sqlite") }

    /// Opens everything as the model says that it is.
    package init(in folder: String, _ model: Model, clock: Clock) throws {
        self.clock = clock
        file = try SQLiteFile.open(at: Self.url(in: folder), clock: clock.wallClock)
        for shelf in Shelf.allCases where !shelf.isVersion { try open(shelf, model) }
        try open(model.version, model)
    }

    package func open(_ shelf: Shelf, _ model: Model) throws {
        let limit =
            switch shelf {
            case .tight: try Capacity(DataSize(bytes: model.tightLimit))
            case .versionOne, .versionTwo: try Capacity(DataSize(bytes: Shelf.versionLimit))
            default: Capacity.unlimited
            }
        stores[shelf] = try file.store(
            named: shelf.rawValue, codec: ItemCodec(shelf), inFamily: shelf.isVersion ? "versions" : nil,
            memory: try Capacity(DataSize(bytes: shelf == .bulky ? 400_000 : 2000)), disk: limit, remembering: .values,
            indexing: shelf == .safe ? Item.catalog(model.catalog) : nil, durability: shelf.durability)
    }

    package func close(_ shelf: Shelf) throws {
        try stores[shelf]?.close()
        stores[shelf] = nil
    }

    /// How entries of an original MiniCache file are taken over: each cache is a shelf, each key and value a text. The entries get their
    /// keys later, by ``renameOriginalEntries(of:in:)``.
    package static let original = OriginalCache { entry in
        guard let shelf = Shelf(rawValue: entry.cache), let version = Int(entry.value) else { return nil }
        let item = Item(shelf: shelf, key: entry.key, version: version, filling: 20)
        return .init(
            archive: shelf.rawValue, versionGroup: "\(shelf.rawValue) family", key: EntryKey(originalPrefix + entry.key), bytes: item.bytes)
    }

    private static let originalPrefix = "original "

    /// Gives the entries of an open archive that were taken over their keys.
    package static func renameOriginalEntries(of shelf: Shelf, in file: SQLiteFile) throws {
        try file.renameEntries(ofArchive: shelf.rawValue, withKeyPrefix: originalPrefix) { key in
            EntryKey(String(key.normalized.dropFirst(originalPrefix.count)))
        }
    }

    package func store(_ shelf: Shelf) throws -> TieredStore<Item> {
        guard let store = stores[shelf] else { throw StoreError(.closed, "The shelf \(shelf) is not open.") }
        return store
    }
}
