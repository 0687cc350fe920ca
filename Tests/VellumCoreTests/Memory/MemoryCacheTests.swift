import Synchronization
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@Suite(.ownThreads)
struct MemoryCacheTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    private func put<Payload>(
        _ payload: Payload,
        _ key: EntryKey,
        cost: Int = 1,
        in cache: MemoryCache<Payload>
    ) -> MemoryCache<Payload>.DeferredEffects {
        cache.store(
            .init(payload: payload, cost: cost, stamp: cache.stamp(at: now), entryID: 1),
            forKey: key
        )
    }

    private func isHit<Payload>(
        _ key: EntryKey,
        in cache: MemoryCache<Payload>,
        at instant: WallInstant? = nil
    ) -> Bool {
        var notifiesDisk = false
        return cache.use(key, at: instant ?? now, notifiesDisk: &notifiesDisk) != nil
    }

    @Test func accessingAnEntryMovesItToTheFront() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(2))
        _ = put(1, "a", in: cache)
        _ = put(2, "b", in: cache)
        #expect(isHit("a", in: cache))
        _ = put(3, "c", in: cache)
        #expect(cache.newest().map(\.key) == ["c", "a"])
    }

    /// P15: reading metadata does not affect the eviction order.
    @Test func readingMetadataDoesNotMoveEntries() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(2))
        _ = put(1, "a", in: cache)
        _ = put(2, "b", in: cache)
        _ = cache.peek("a")
        _ = cache.newest()
        _ = cache.totals()
        _ = put(3, "c", in: cache)
        #expect(cache.newest().map(\.key) == ["c", "b"])
    }

    /// P9: entries that cost zero bytes, or the whole limit.
    @Test func extremeCostsKeepTheLimit() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(10))
        for number in 0..<100 { _ = put(number, EntryKey("\(number)"), cost: 0, in: cache) }
        #expect(cache.totals() == StorageUsage(entries: 100, bytes: 0))
        _ = put(1, "huge", cost: .max, in: cache)
        #expect(cache.peek("huge") == nil)
        #expect(cache.totals().entries == 100)
        _ = put(2, "full", cost: 10, in: cache)
        #expect(cache.totals().bytes == 10)
    }

    /// P17: a payload's `deinit` may call the cache, because it runs outside the lock.
    @Test func evictedPayloadsAreReleasedOutsideTheLock() throws {
        final class Payload: Sendable {
            let cache: MemoryCache<Payload>
            let released: Locked<Int>
            init(_ cache: MemoryCache<Payload>, _ released: @escaping @Sendable () -> Void) {
                self.cache = cache
                self.released = Locked(0)
                callback = released
            }
            let callback: @Sendable () -> Void
            deinit {
                _ = cache.totals()
                callback()
            }
        }
        let cache = MemoryCache<Payload>(capacity: try Capacity(1))
        let releases = Locked(0)
        for number in 0..<10 {
            _ = put(
                Payload(cache) { releases.withLock { $0 += 1 } },
                EntryKey("\(number)"),
                in: cache
            )
        }
        #expect(releases.withLock { $0 } == 9)
        _ = cache.trim(toBytes: 0)
        #expect(releases.withLock { $0 } == 10)
    }

    /// P18: a fill does not replace a value that was written after the reader missed it.
    @Test func aFillDoesNotReplaceALaterWrite() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        #expect(!isHit("a", in: cache))
        let ticket = cache.ticket(forMissed: "a")
        _ = put(2, "a", in: cache)
        _ = cache.remove("a")
        _ = cache.fill(.init(payload: 1, cost: 1, entryID: 1), forKey: "a", ticket: ticket, at: now)
        #expect(cache.peek("a") == nil)

        let later = cache.ticket(forMissed: "a")
        _ = cache.fill(.init(payload: 3, cost: 1, entryID: 1), forKey: "a", ticket: later, at: now)
        #expect(cache.peek("a")?.payload == 3)
    }

    @Test func expiredEntriesAreMisses() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        let validity = Validity(written: now, expires: now.advanced(byMilliseconds: 10))
        _ = cache.store(
            .init(payload: 1, cost: 5, stamp: cache.stamp(at: now), entryID: 1, validity: validity),
            forKey: "a"
        )
        #expect(isHit("a", in: cache))
        let end = now.advanced(byMilliseconds: 10)
        #expect(!isHit("a", in: cache, at: end))
    }

    @Test func touchesAreTakenOnceAndKnownUntilThen() throws {
        let cache = MemoryCache<Int>(capacity: try Capacity(1))
        _ = put(1, "a", in: cache)
        #expect(cache.takeTouches(limit: 10) == [])
        #expect(isHit("a", in: cache))
        #expect(cache.pendingTouches().count == 1)
        // An evicted entry keeps its touch.
        _ = cache.store(
            .init(payload: 2, cost: 1, stamp: cache.stamp(at: now), entryID: 2),
            forKey: "b"
        )
        #expect(cache.lastUse(ofKey: "a", entryID: 1) != nil)
        #expect(cache.takeTouches(limit: 10).map(\.entryID) == [1])
        #expect(cache.takeTouches(limit: 10) == [])
    }

    @Test func trimmingEvictsTheOldestUntilTheSizeFits() throws {
        let cache = MemoryCache<Int>(capacity: .unlimited)
        for number in 0..<10 { _ = put(number, EntryKey("\(number)"), cost: 10, in: cache) }
        _ = cache.trim(toBytes: 35)
        #expect(cache.newest().map(\.item.payload) == [9, 8, 7])
        _ = cache.trim(toBytes: -5)
        #expect(cache.totals() == StorageUsage())
    }
}
