import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

/// Events and statistics.
@Suite(.ownThreads)
struct ArchiveStoreEventTests {
    let temporary = TemporaryArchives()
    let store: ArchiveStore<Parcel>

    init() throws {
        store = try temporary.factory.store(memoryLimit: 200, diskLimit: 300)
    }

    /// Returns short descriptions of the events that `body` causes.
    private func events(_ body: () throws -> Void) async throws -> [String] {
        let events = store.events
        try body()
        try store.close()  // Ends the events.
        var received: [String] = []
        for await event in events {
            switch event {
            case .recorded(let key): received.append("recorded \(key)")
            case .removed(let key, let cause): received.append("\(cause) \(key)")
            case .removedAll: received.append("all")
            case .damagedEntry(let key, let error): received.append("\(error.code) \(key)")
            case .setAside: received.append("set aside")
            case .limitLowered(let change): received.append("limit lowered to \(change.to)")
            case .versionReplaced: received.append("version replaced")
            case .logHeldBack: received.append("log held back")
            case .onNetwork: received.append("on network")
            case .indexed(let progress): received.append("indexed \(progress.indexed)")
            case .imported: received.append(event.description)
            case .migrated(let progress): received.append("migrated \(progress.examined)")
            case .skippedUndecodable(let count): received.append("skipped \(count)")
            case .failure(let error): received.append("failure \(error.code)")
            }
        }
        return received
    }

    @Test func recordingAndDeletingAreReported() async throws {
        let received = try await events {
            try store.record(Parcel("a"))
            try store.record(Parcel("a"))
            try store.delete(archiveWithKey: "a")
            try store.delete(archiveWithKey: "a")
            try store.deleteAll()
        }

        #expect(received == ["recorded a", "recorded a", "explicit a", "all"])
    }

    @Test func evictionsAreReported() async throws {
        let received = try await events {
            for key in ["a", "b", "c", "d"] { try store.record(Parcel(key)) }
        }

        #expect(
            Set(received) == ["recorded a", "recorded b", "recorded c", "recorded d", "evicted a"]
        )
    }

    @Test func deletionsOfUnusedObjectsAreReported() async throws {
        let received = try await events {
            try store.record(Parcel("a"))
            temporary.clock.advance(bySeconds: 60)
            try store.deleteAll(lastUsedBefore: temporary.clock.now)
        }

        #expect(received == ["recorded a", "unused a"])
    }

    @Test func aFailedRecordIsNotReportedAsRecorded() async throws {
        let received = try await events {
            #expect(throws: VellumError.self) { try store.record(Parcel.refusing("a")) }
            #expect(throws: VellumError.self) { try store.record(Parcel("a", size: 301)) }
        }

        #expect(received.isEmpty)
    }

    @Test func everyObserverReceivesAllEvents() async throws {
        let (first, second) = (store.events, store.events)
        try store.record(Parcel("a"))
        try store.close()

        var counts = (0, 0)
        for await _ in first { counts.0 += 1 }
        for await _ in second { counts.1 += 1 }
        #expect(counts == (1, 1))
    }

    @Test func closingAnArchiveEndsItsEvents() async throws {
        try store.close()

        for await event in store.events { Issue.record("\(event)") }
    }

    @Test func statisticsCountOperations() throws {
        // Memory holds c and d, the disk b, too.
        for key in ["a", "b", "c", "d"] { try store.record(Parcel(key)) }
        _ = try store.access(archiveWithKey: "d")
        _ = try store.access(archiveWithKey: "b")
        _ = try store.access(archiveWithKey: "a")
        try store.delete(archiveWithKey: "d")

        let statistics = try store.statistics()
        #expect((statistics.memoryHits, statistics.diskHits, statistics.misses) == (1, 1, 1))
        #expect(statistics.hitRatio == 2.0 / 3)
        #expect(statistics.memoryEvictions == 3)
        #expect(statistics.removals == [.evicted: 1, .explicit: 1])
        #expect((statistics.memory.entries, statistics.disk.entries) == (1, 2))
        #expect((statistics.memory.bytes, statistics.disk.bytes) == (100, 200))
        #expect(statistics.failures == 0)
    }
}
