import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumEngine

/// A simulated process that shares the file, and announces changes on the change page.
private final class OtherProcess: Sendable {
    private let folder: TemporaryDirectory
    private let own: ChangesFile
    private let other: ChangesFile
    let changes: ArchiveChanges
    private let hash = SeededHash.random()

    init() throws {
        folder = try TemporaryDirectory()
        own = try ChangesFile(besides: folder.file("Archives.sqlite").path)
        other = try ChangesFile(besides: folder.file("Archives.sqlite").path)
        changes = ArchiveChanges(own, archive: 1, hash: hash)
    }

    /// Announces an uncommitted change of these keys, or of everything.
    func announce(_ keys: [EntryKey]?) -> UInt64 {
        other.page.announce(
            [.init(archive: 1, keys: .keys(keys?.map { hash.of($0) }, orAll: .written))],
            by: other.author,
            of: 1
        ).last
    }

    func finish(_ number: UInt64) { other.page.finish(number) }

    func change(_ keys: [EntryKey]?) { finish(announce(keys)) }

    /// A change by this process, which the cache records.
    func changeHere(_ key: EntryKey = "own") throws -> OwnChange {
        let (last, changes) = own.page.announce(
            [.init(archive: 1, keys: .keys([hash.of(key)]))],
            by: own.author,
            of: own.process
        )
        own.page.finish(last)
        return try #require(changes.first)
    }
}

@Suite(.ownThreads)
struct InvalidationTests {
    private let others: OtherProcess
    private let cache: MemoryCache<Int>
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    init() throws {
        others = try OtherProcess()
        cache = MemoryCache(capacity: try Capacity(1000), following: others.changes)
    }

    private func put(_ payload: Int, _ key: EntryKey, change: OwnChange? = nil) {
        _ = cache.store(
            .init(payload: payload, cost: 1, stamp: cache.stamp(at: now), entryID: Int64(payload)),
            forKey: key,
            change: change
        )
    }

    private func value(_ key: EntryKey) -> Int? {
        var notifiesDisk = false
        return cache.use(key, at: now, notifiesDisk: &notifiesDisk)
    }

    @Test func onlyEntriesThatAnotherProcessChangedAreDropped() {
        for (number, key) in ["a", "b", "c"].enumerated() { put(number + 1, EntryKey(key)) }
        others.change(["b"])
        #expect(value("b") == nil)
        #expect(value("a") == 1)
        #expect(value("c") == 3)
        others.change(["c", "unknown"])
        #expect(cache.peek("c") == nil)
        #expect(cache.newest().map(\.key) == ["a"])
    }

    /// P48: if changes were missed, the cache drops everything.
    @Test func moreChangesThanThePageHoldsEmptyTheCache() {
        put(1, "a")
        others.change(nil)
        #expect(value("a") == nil)
        #expect(cache.totals() == StorageUsage())
        put(2, "a")
        #expect(value("a") == 2)
    }

    @Test func entriesAddedAfterTheFirstChangeAreFollowed() {
        put(1, "a")
        others.change(["unknown"])
        #expect(value("a") == 1)
        put(2, "later")
        others.change(["later"])
        #expect(value("later") == nil)
    }

    @Test func aTouchOfAnEntryThatAnotherProcessOverwroteIsStillWritten() {
        put(5, "a")
        #expect(value("a") == 5)
        others.change(["a"])
        #expect(value("a") == nil)
        #expect(cache.pendingTouches().map(\.entryID) == [5])
    }

    /// P18: a value read before another process's change is not cached after it.
    @Test func aValueReadBeforeAForeignChangeIsNotCached() {
        let ticket = cache.ticket(forMissed: "a")
        others.change(["a"])
        #expect(value("b") == nil)  // Another reader sees the change first.
        _ = cache.fill(.init(payload: 1, cost: 1, entryID: 1), forKey: "a", ticket: ticket, at: now)
        #expect(value("a") == nil)
    }

    @Test func aValueCachedBeforeAForeignChangeIsDropped() {
        let ticket = cache.ticket(forMissed: "a")
        others.change(["a"])
        _ = cache.fill(.init(payload: 1, cost: 1, entryID: 1), forKey: "a", ticket: ticket, at: now)
        #expect(value("a") == nil)
    }

    /// The change is announced but not committed: the disk may return either value.
    @Test func aValueReadDuringAForeignChangeIsNotCached() {
        let announced = others.announce(["a"])
        let ticket = cache.ticket(forMissed: "a")
        let other = cache.ticket(forMissed: "b")
        others.finish(announced)
        _ = cache.fill(.init(payload: 1, cost: 1, entryID: 1), forKey: "a", ticket: ticket, at: now)
        _ = cache.fill(.init(payload: 2, cost: 1, entryID: 2), forKey: "b", ticket: other, at: now)
        #expect(value("a") == nil)
        #expect(value("b") == 2)
    }

    /// The write was committed, then overwritten by another process before memory stored it.
    @Test func aWriteThatAnotherProcessHasOverwrittenIsNotCached() throws {
        let own = try others.changeHere()
        others.change(["a"])
        #expect(value("b") == nil)
        put(1, "a", change: own)
        #expect(value("a") == nil)
    }

    @Test func ownChangesDropNothing() throws {
        put(1, "a", change: try others.changeHere())
        put(2, "b", change: try others.changeHere())
        #expect(value("a") == 1)
        #expect(value("b") == 2)
    }

    @Test func aCacheWithoutAChangePageIsAlwaysFresh() throws {
        let memoryOnly = MemoryCache<Int>(capacity: try Capacity(10))
        _ = memoryOnly.store(
            .init(payload: 1, cost: 1, stamp: memoryOnly.stamp(at: now), entryID: 1),
            forKey: "a"
        )
        #expect(memoryOnly.peek("a")?.payload == 1)
    }
}
