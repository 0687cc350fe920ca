package import Foundation
internal import Synchronization
package import VellumCore
package import VellumEngine
internal import VellumTestSupport

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

        package var wallClock: WallClock {
            WallClock(instants: { WallInstant(rawValue: self.now) })
        }
    }

    package let file: DatabaseFile
    package let clock: Clock
    package private(set) var stores: [ScriptArchive: Store<Item>] = [:]

    package static func url(in folder: String) -> URL {
        URL(fileURLWithPath: folder).appendingPathComponent("Archives.sqlite")
    }

    /// Opens all archives in the state of the model.
    package init(in folder: String, _ model: Model, clock: Clock) throws {
        self.clock = clock
        file = try DatabaseFile.open(at: Self.url(in: folder), clock: clock.wallClock)
        for archive in ScriptArchive.allCases { try open(archive, model) }
    }

    package func open(_ archive: ScriptArchive, _ model: Model) throws {
        let limit =
            switch archive {
            case .tight: try Capacity(DataSize(bytes: model.tightLimit))
            case .cache: try Capacity(DataSize(bytes: ScriptArchive.cacheLimit))
            default: Capacity.unlimited
            }
        stores[archive] = try file.store(
            named: archive.rawValue,
            codec: ItemCodec(archive, version: archive == .safe ? model.typeVersion : 0),
            cacheVersion: archive == .cache ? "\(model.cacheVersion)" : nil,
            memory: try Capacity(DataSize(bytes: archive == .bulky ? 400_000 : 2000)),
            disk: limit,
            caching: .values,
            indexing: archive == .safe
                ? Item.catalog(model.catalog, version: model.typeVersion) : nil,
            durability: archive.durability
        )
    }

    package func close(_ archive: ScriptArchive) throws {
        try stores[archive]?.close()
        stores[archive] = nil
    }

    package func store(_ archive: ScriptArchive) throws -> Store<Item> {
        guard let store = stores[archive] else {
            throw VellumError(.closed, "The archive \(archive) is not open.")
        }
        return store
    }
}
