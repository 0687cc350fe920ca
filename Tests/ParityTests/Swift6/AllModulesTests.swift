import CBORCoding
import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum

private nonisolated struct City: ArchiveCodable, Equatable, Sendable {
    static var archiveName: String { "Cities" }
    var primaryKey: String { name }
    let name: String
    let people: Int
}

private nonisolated final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        "AllModules-\(UUID().uuidString)",
        isDirectory: true
    )

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// All modules are imported in one file, and their main types are used by name: no two modules
/// declare the same name.
@Suite(.ownThreads)
struct AllModulesTests {
    private let folder = Folder()
    private let bern = City(name: "Bern", people: 134_591)

    private func cache(_ manager: MiniCacheManager) -> MiniCache<String, City> {
        manager.cache(
            cacheName: "Cities",
            cacheVersion: .appVersion,
            maxAge: .days(7),
            memoryLimit: 1.megaByte,
            diskLimit: 2.megaByte
        )
    }

    @Test func oneTypeIsArchivedCachedAndStored() async throws {
        let factory = ArchivesFactory(directory: folder.url)
        let archives: ArchiveManager<City> = try factory.archives(
            for: City.self,
            trySetMaxDiskSize: 2.megaByte
        )
        let manager = MiniCacheManager(name: "Cities", directory: folder.url)
        let cache: MiniCache<String, City> = cache(manager)
        let disk = SQLiteStorage<City>(fileURL: folder.url.appendingPathComponent("storage.sqlite"))
        let memory = MemoryStorage<Filename, City>()
        let layers: Storage<Filename, City> = memory.combined(with: disk)

        archives.record(bern)
        cache["bern"] = archives.access(archiveWithKey: "Bern")
        try await layers.set(cache["bern"].unwrap(), forKey: "bern")
        let stored = try await layers.retrieve(forKey: "bern")
        let decoded = try CBORDecoder().decode(City.self, from: try CBOREncoder().encode(stored))

        #expect(decoded == bern)
        try await disk.close()
        try manager.close()
        try factory.close()
    }

    @Test func sharedTypesAreTheSameInAllModules() throws {
        let factory = ArchivesFactory(directory: folder.url, durability: Durability.powerSafe)
        let store: ArchiveStore<City> = try factory.store(
            for: City.self,
            memoryLimit: 1.megaByte,
            diskLimit: 2.megaByte
        )
        let manager = MiniCacheManager(name: "Cities", directory: folder.url)
        let cache = cache(manager)
        try store.record(bern)
        try cache.set(bern, forKey: "bern")

        let limits: [StorageLimits] = [store.limits, cache.limits]
        let statistics: [StoreStatistics] = [try store.statistics(), try cache.statistics()]

        #expect(Set(limits) == [StorageLimits(memory: 1.megaByte, disk: 2.megaByte)])
        #expect(statistics.map(\.disk.entries) == [1, 1])
        #expect(try store.fetch(where: #Predicate { $0.people > 100_000 }) == [bern])
        let steps: [Query<City>] = [
            .findWhere { $0.people(.greater(than: 0)) }, .sorted { $0.name(.ascending) },
            .limitResults(by: 10),
        ]
        #expect(try factory.archives(for: City.self).process(queries: steps) == [bern])
        try manager.close()
        try factory.close()
    }

    @Test func eachModuleHasItsOwnErrors() async throws {
        let archiveError = #expect(throws: VellumError.self) {
            _ = try ArchivesFactory(directory: folder.url).store(for: City.self, diskLimit: .zero)
        }
        let cache: MiniCache<Set<Int>, City> = MiniCacheManager(
            name: "Cities",
            directory: folder.url
        )
        .cache(cacheName: "Sets", cacheVersion: .appVersion, maxAge: .days(7))
        let cacheError = #expect(throws: MiniCacheError.self) { try cache.set(bern, forKey: [1]) }
        let storageError = await #expect(throws: ShallowsError.self) {
            try await DiskFolderStorage(folderURL: folder.url.appendingPathComponent("nothing"))
                .strict().retrieve(forKey: "bern")
        }

        #expect(archiveError?.code == .invalidLimit)
        #expect(cacheError?.code == .invalidKey)
        #expect(storageError != nil)
    }
}
