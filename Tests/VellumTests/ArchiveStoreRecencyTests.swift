import Foundation
import TestThreads
import Testing
import Vellum

/// Which operations affect the eviction order. (C4, P15)
@Suite(.ownThreads)
struct ArchiveStoreRecencyTests {
    let temporary = TemporaryArchives()

    private func store(
        memory: DataSize = 1000,
        disk: DataSize = 1000
    ) throws -> ArchiveStore<Parcel> {
        try temporary.factory.store(memoryLimit: memory, diskLimit: disk)
    }

    @Test func accessingAnObjectMakesItTheMostRecentlyUsed() throws {
        let store = try store(memory: 200)
        try store.record(contentsOf: ["a", "b", "c", "d"].map { Parcel($0) })

        _ = try store.access(archiveWithKey: "a")
        _ = try store.access(archiveWithKey: "c")

        #expect(try store.keys() == ["c", "a", "d", "b"])
    }

    @Test func recordingAnObjectMakesItTheMostRecentlyUsed() throws {
        let store = try store(memory: 200)
        try store.record(contentsOf: ["a", "b", "c", "d"].map { Parcel($0) })

        try store.record(Parcel("b"))

        #expect(try store.keys() == ["b", "d", "c", "a"])
    }

    @Test func listingAndInspectingDoNotAffectTheEvictionOrder() throws {
        let store = try store(memory: 200, disk: 400)
        try store.record(contentsOf: ["a", "b", "c", "d"].map { Parcel($0) })
        let before = try ["a", "b", "c", "d"].map { try store.metadata(forKey: $0)?.lastUsed }
        temporary.clock.advance(bySeconds: 60)

        _ = try store.accessAll()
        _ = try store.accessAll(limit: 2)
        _ = try store.keys()
        _ = try store.contains(archiveWithKey: "a")
        _ = try store.metadata(forKey: "a")
        _ = try store.count()
        _ = try store.statistics()
        _ = try store.access(archiveWithKey: "nothing")

        #expect(
            try ["a", "b", "c", "d"].map { try store.metadata(forKey: $0)?.lastUsed } == before
        )
        try store.record(Parcel("e"))
        #expect(try store.keys() == ["e", "d", "c", "b"])
        let statistics = try store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits) == (0, 0))
    }

    @Test func memoryHitsProtectAnObjectFromEvictionOnDisk() throws {
        let store = try store(memory: 100, disk: 300)
        try store.record(Parcel("a"))
        for number in 0..<10 {
            _ = try store.access(archiveWithKey: "a")
            try store.record(Parcel("\(number)"))
        }

        #expect(try store.keys() == ["9", "a", "8"])
    }

    @Test func theEvictionOrderSurvivesReopening() throws {
        try store().record(contentsOf: ["a", "b", "c", "d"].map { Parcel($0) })
        _ = try store().access(archiveWithKey: "b")
        try store().record(Parcel("a", size: 50))
        try temporary.factory.close()

        #expect(try store().keys() == ["a", "b", "d", "c"])
        #expect(try store().accessAll(limit: 2) == [Parcel("a", size: 50), Parcel("b")])
    }

    @Test func theEvictionOrderDoesNotDependOnTheClock() throws {
        let store = try store()
        for key in ["a", "b", "c"] { try store.record(Parcel(key)) }
        temporary.clock.advance(bySeconds: -3600)
        try store.record(Parcel("d"))
        _ = try store.access(archiveWithKey: "a")

        #expect(try store.keys() == ["a", "d", "c", "b"])
    }
}
