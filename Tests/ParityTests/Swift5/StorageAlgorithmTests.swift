import Foundation
import Testing
import Vellum

/// The steps of "Storage Algorithm". No block of code, but promises in words.
@Suite(.timeLimit(.minutes(60)))
struct StorageAlgorithmTests {
    let temporary = TemporaryArchives()

    @Test func bothSizesAreAssignedByHand() throws {
        let archives = try temporary.factory.archives(for: Parcel.self, trySetMaxMemorySize: 1.kiloByte, trySetMaxDiskSize: 3.kiloByte)

        #expect(archives.store.limits == (1.kiloByte, 3.kiloByte))
    }

    @Test func aFullMemoryLosesWhatWasUsedLongestAgoToTheDisk() throws {
        let archives = try temporary.factory.archives(for: Parcel.self, trySetMaxMemorySize: 200, trySetMaxDiskSize: 1000)
        for key in ["a", "b", "c"] { archives.record(Parcel(key, size: 100)) }

        let statistics = try archives.store.statistics()

        #expect(statistics.memory.entries == 2)
        #expect(statistics.disk.entries == 3)
        #expect(archives.access(archiveWithKey: "a") != nil)
    }

    @Test func aFullDiskLosesWhatWasUsedLongestAgo() throws {
        let archives = try temporary.factory.archives(for: Parcel.self, trySetMaxMemorySize: 100, trySetMaxDiskSize: 300)
        for key in ["a", "b", "c"] { archives.record(Parcel(key, size: 100)) }
        _ = archives.access(archiveWithKey: "a")

        archives.record(Parcel("d", size: 100))

        #expect(archives.access(archiveWithKey: "b") == nil)
        #expect(archives.accessAll().map(\.primaryKey) == ["d", "a", "c"])
    }

    @Test func whatIsInMemoryIsNotLookedForOnDisk() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)
        archives.record(Parcel("a", size: 100))

        _ = archives.access(archiveWithKey: "a")

        let statistics = try archives.store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits, statistics.misses) == (1, 0, 0))
    }

    @Test func whatIsFoundOnDiskIsKeptInMemory() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)
        archives.record(Parcel("a", size: 100))
        archives.store.trimMemory(to: .zero)

        _ = archives.access(archiveWithKey: "a")
        _ = archives.access(archiveWithKey: "a")

        let statistics = try archives.store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits, statistics.misses) == (1, 1, 0))
    }

    @Test func whatIsNowhereIsNil() throws {
        let archives = try temporary.factory.archives(for: Parcel.self)

        #expect(archives.access(archiveWithKey: "a") == nil)
        #expect(try archives.store.statistics().misses == 1)
    }
}
