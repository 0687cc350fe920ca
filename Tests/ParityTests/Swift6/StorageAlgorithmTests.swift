import Foundation
import TestThreads
import Testing
import Vellum

/// The steps of "Storage Algorithm", which has no code block.
@Suite(.ownThreads)
struct StorageAlgorithmTests {
    let temporary = TemporaryArchives()

    @Test func bothSizesCanBeGiven() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 1.kiloByte,
            trySetMaxDiskSize: 3.kiloByte
        )

        #expect(archives.store.limits == StorageLimits(memory: 1.kiloByte, disk: 3.kiloByte))
    }

    @Test func fullMemoryEvictsTheLeastRecentlyUsedObjectToTheDisk() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 200,
            trySetMaxDiskSize: 1000
        )
        for key in ["a", "b", "c"] { archives.record(Parcel(key, size: 100)) }

        let statistics = try archives.store.statistics()

        #expect(statistics.memory.entries == 2)
        #expect(statistics.disk.entries == 3)
        #expect(archives.access(archiveWithKey: "a") != nil)
    }

    @Test func aFullDiskEvictsTheLeastRecentlyUsedObject() throws {
        let archives = try temporary.factory.archives(
            for: Parcel.self,
            trySetMaxMemorySize: 100,
            trySetMaxDiskSize: 300
        )
        for key in ["a", "b", "c"] { archives.record(Parcel(key, size: 100)) }
        _ = archives.access(archiveWithKey: "a")

        archives.record(Parcel("d", size: 100))

        #expect(archives.access(archiveWithKey: "b") == nil)
        #expect(archives.accessAll().map(\.primaryKey) == ["d", "a", "c"])
    }

    @Test func memoryHitsDoNotReadTheDisk() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)
        archives.record(Parcel("a", size: 100))

        _ = archives.access(archiveWithKey: "a")

        let statistics = try archives.store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits, statistics.misses) == (1, 0, 0))
    }

    @Test func diskHitsAreKeptInMemory() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)
        archives.record(Parcel("a", size: 100))
        archives.store.trimMemory(to: .zero)

        _ = archives.access(archiveWithKey: "a")
        _ = archives.access(archiveWithKey: "a")

        let statistics = try archives.store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits, statistics.misses) == (1, 1, 0))
    }

    @Test func anObjectInNeitherMemoryNorDiskIsNil() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)

        #expect(archives.access(archiveWithKey: "a") == nil)
        #expect(try archives.store.statistics().misses == 1)
    }
}
