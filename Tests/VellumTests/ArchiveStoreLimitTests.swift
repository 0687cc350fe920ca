import Foundation
import TestThreads
import Testing
import Vellum

/// Limits hold when a call returns, and objects that are too large evict nothing. (C2, C3)
@Suite(.ownThreads)
struct ArchiveStoreLimitTests {
    let temporary = TemporaryArchives()

    private func store(memory: DataSize, disk: DataSize) throws -> ArchiveStore<Parcel> {
        try temporary.factory.store(memoryLimit: memory, diskLimit: disk)
    }

    @Test func overwritingAnObjectAdjustsTheSize() throws {
        let store = try store(memory: 1000, disk: 1000)

        for size in [100, 700, 10, 1000, 1] {
            try store.record(Parcel("a", size: size))

            let statistics = try store.statistics()
            #expect((statistics.memory.bytes, statistics.disk.bytes) == (size, size))
            #expect((statistics.memory.entries, statistics.disk.entries) == (1, 1))
        }
    }

    @Test func anObjectTooLargeForMemoryIsStoredOnDiskAndEvictsNothing() throws {
        let store = try store(memory: 300, disk: 1000)
        try store.record(contentsOf: [Parcel("a"), Parcel("b")])

        try store.record(Parcel("large", size: 301))

        var statistics = try store.statistics()
        #expect((statistics.memory.entries, statistics.disk.entries) == (2, 3))
        #expect(try store.access(archiveWithKey: "large") == Parcel("large", size: 301))
        statistics = try store.statistics()
        #expect((statistics.memory.entries, statistics.memoryEvictions) == (2, 0))
    }

    @Test func anObjectTooLargeForTheDiskIsKeptInMemoryAndEvictsNothing() throws {
        let store = try store(memory: 1000, disk: 300)
        try store.record(contentsOf: [Parcel("a"), Parcel("b")])

        try store.record(Parcel("large", size: 301))

        let statistics = try store.statistics()
        #expect((statistics.memory.entries, statistics.disk.entries) == (3, 2))
        #expect(try store.access(archiveWithKey: "large") == Parcel("large", size: 301))
        #expect(try store.keys() == ["large", "b", "a"])
        #expect(try store.count() == 3)
        #expect(try store.metadata(forKey: "large")?.size == 301)
    }

    @Test func anObjectThatBecomesTooLargeForTheDiskIsRemovedFromIt() throws {
        try store(memory: 1000, disk: 300).record(Parcel("a", size: 100))
        try store(memory: 1000, disk: 300).record(Parcel("a", size: 301))
        #expect(
            try store(memory: 1000, disk: 300).access(archiveWithKey: "a") == Parcel("a", size: 301)
        )
        try temporary.factory.close()

        #expect(try store(memory: 1000, disk: 300).access(archiveWithKey: "a") == nil)
    }

    @Test func anObjectTooLargeForBothIsAnErrorAndTheOldOneIsKept() throws {
        let store = try store(memory: 200, disk: 300)
        try store.record(contentsOf: [Parcel("a"), Parcel("b")])

        let error = #expect(throws: VellumError.self) { try store.record(Parcel("a", size: 301)) }

        #expect(error?.code == .tooLarge)
        #expect(try store.access(archiveWithKey: "a") == Parcel("a"))
        #expect(try store.access(archiveWithKey: "b") == Parcel("b"))
        let statistics = try store.statistics()
        #expect((statistics.memory.bytes, statistics.disk.bytes) == (200, 200))
    }

    @Test(arguments: [(300, 300), (299, 300), (300, 299), (1, 300), (300, 1)])
    func anObjectAsLargeAsTheLimitIsStored(memory: Int, disk: Int) throws {
        let store = try store(memory: .bytes(memory), disk: .bytes(disk))

        try store.record(Parcel("a", size: 300))

        #expect(try store.access(archiveWithKey: "a") == Parcel("a", size: 300))
    }

    @Test func limitsHoldAfterEveryCall() throws {
        let store = try store(memory: 250, disk: 1000)

        for number in 0..<60 {
            try store.record(Parcel("\(number % 23)", size: 10 + number * 37 % 200))
            if number % 3 == 0 { _ = try store.access(archiveWithKey: "\(number * 7 % 23)") }

            let statistics = try store.statistics()
            #expect(statistics.memory.bytes <= 250)
            #expect(statistics.disk.bytes <= 1000)
        }
        #expect(try store.statistics().disk.bytes == store.accessAll().map(\.size).reduce(0, +))
    }

    @Test func trimmingMemoryLosesNothing() throws {
        let store = try store(memory: 1000, disk: 1000)
        try store.record(contentsOf: ["a", "b", "c"].map { Parcel($0) })

        store.trimMemory(to: 150)
        #expect(try store.statistics().memory.bytes == 100)

        store.trimMemory(to: .zero - 1)
        #expect(try store.statistics().memory.bytes == 0)
        #expect(try store.accessAll().count == 3)
    }
}
