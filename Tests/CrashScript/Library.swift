package import Foundation
internal import Synchronization
package import VellumCore
package import VellumEngine

/// The open archives of a script.
package final class Library {
    /// The time of every archive's clock, in milliseconds.
    package final class Clock: Sendable {
        private let milliseconds: Atomic<Int64>

        package init(_ now: Int64) { milliseconds = Atomic(now) }

        package var now: Int64 {
            get { milliseconds.load(ordering: .acquiring) }
            set { milliseconds.store(newValue, ordering: .releasing) }
        }

        package var wallClock: WallClock { WallClock(instants: { WallInstant(rawValue: self.now) }) }
    }

    package let file: DatabaseFile
    package let clock: Clock
    package private(set) var stores: [State: Store<Item>] = [:]

    package static func url(in folder: String) -> URL { URL(fileURLWithPath: folder).appendingPathComponent("Archives.sqlite") }

    /// Opens all archives in the state of the model.
    package init(in folder: String, _ model: Model, clock: Clock) throws {
        self.clock = clock
        file = try DatabaseFile.open(at: Self.url(in: folder), clock: clock.wallClock)
        for shelf in State.allCases where !shelf.isVersion { try open(shelf, model) }
        try open(model.version, model)
    }

    package func open(_ shelf: State, _ model: Model) throws {
        let limit =
            switch shelf {
            case .tight: try Capacity(DataSize(bytes: model.tightLimit))
            case .versionOne, .versionTwo: try Capacity(DataSize(bytes: State.versionLimit))
            default: Capacity.unlimited
            }
        stores[shelf] = try file.store(
            named: shelf.rawValue, codec: ItemCodec(shelf), inVersionGroup: shelf.isVersion ? "versions" : nil,
            memory: try Capacity(DataSize(bytes: shelf == .bulky ? 400_000 : 2000)), disk: limit, caching: .values,
            indexing: shelf == .safe ? Item.catalog(model.catalog) : nil, durability: shelf.durability)
    }

    package func close(_ shelf: State) throws {
        try stores[shelf]?.close()
        stores[shelf] = nil
    }

    /// The mapping of entries of an original MiniCache file: each cache is a shelf, each key and value a string. The entries get their keys
    /// later, by ``renameOriginalEntries(of:in:)``.
    package static let original = OriginalCache { entry in
        guard let shelf = State(rawValue: entry.cache), let version = Int(entry.value) else { return nil }
        let item = Item(shelf: shelf, key: entry.key, version: version, filling: 20)
        return .init(
            archive: shelf.rawValue, inVersionGroup: "\(shelf.rawValue) family", key: EntryKey(originalPrefix + entry.key),
            bytes: item.bytes)
    }

    private static let originalPrefix = "original "

    /// Assigns keys to the migrated entries of an open archive.
    package static func renameOriginalEntries(of shelf: State, in file: DatabaseFile) throws {
        try file.renameEntries(ofArchive: shelf.rawValue, withKeyPrefix: originalPrefix) { key in
            EntryKey(String(key.normalized.dropFirst(originalPrefix.count)))
        }
    }

    package func store(_ shelf: State) throws -> Store<Item> {
        guard let store = stores[shelf] else { throw VellumError(.closed, "The shelf \(shelf) is not open.") }
        return store
    }
}
