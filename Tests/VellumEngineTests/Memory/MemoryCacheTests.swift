import Synchronization
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@Suite(.timeLimit(.minutes(60)))
struct MemoryCacheTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    private func put<Payload>(_ payload: Payload, _ key: EntryKey, cost: Int = 1, in tier: MemoryCache<Payload>)
        -> MemoryCache<Payload>.DeferredEffects
    {
        tier.store(
            payload, forKey: key, cost: cost, stamp: tier.stamp(at: now), row: 1, validity: .forever, wasPresent: false)
    }

    private func isHit<Payload>(_ key: EntryKey, in tier: MemoryCache<Payload>, at instant: WallInstant? = nil) -> Bool {
        var notifiesDisk = false
        return tier.use(key, at: instant ?? now, notifiesDisk: &notifiesDisk) != nil
    }

    @Test func aUseMovesTheEntryToTheFront() throws {
        let tier = MemoryCache<Int>(capacity: try Capacity(2))
        _ = put(1, "a", in: tier)
        _ = put(2, "b", in: tier)
        #expect(isHit("a", in: tier))
        _ = put(3, "c", in: tier)
        #expect(tier.newest(.max).map(\.key) == ["c", "a"])
    }

    /// P15: looking is not using.
    @Test func lookingAtEntriesDoesNotMoveThem() throws {
        let tier = MemoryCache<Int>(capacity: try Capacity(2))
        _ = put(1, "a", in: tier)
        _ = put(2, "b", in: tier)
        _ = tier.peek("a")
        _ = tier.newest(.max)
        _ = tier.totals()
        _ = put(3, "c", in: tier)
        #expect(tier.newest(.max).map(\.key) == ["c", "b"])
    }

    /// P9: costs of nothing, and of everything.
    @Test func extremeCostsKeepTheLimit() throws {
        let tier = MemoryCache<Int>(capacity: try Capacity(10))
        for number in 0..<100 { _ = put(number, EntryKey("\(number)"), cost: 0, in: tier) }
        #expect(tier.totals() == StorageUsage(entries: 100, bytes: 0))
        _ = put(1, "huge", cost: .max, in: tier)
        #expect(tier.peek("huge") == nil)
        #expect(tier.totals().entries == 100)
        _ = put(2, "full", cost: 10, in: tier)
        #expect(tier.totals().bytes == 10)
    }

    /// P17: a payload's `deinit` may come back to the tier, because it runs outside the lock.
    @Test func evictedPayloadsAreReleasedOutsideTheLock() throws {
        final class Payload: Sendable {
            let tier: MemoryCache<Payload>
            let released: Locked<Int>
            init(_ tier: MemoryCache<Payload>, _ released: @escaping @Sendable () -> Void) {
                self.tier = tier
                self.released = Locked(0)
                callback = released
            }
            let callback: @Sendable () -> Void
            deinit {
                _ = tier.totals()
                callback()
            }
        }
        let tier = MemoryCache<Payload>(capacity: try Capacity(1))
        let releases = Locked(0)
        for number in 0..<10 { _ = put(Payload(tier) { releases.withLock { $0 += 1 } }, EntryKey("\(number)"), in: tier) }
        #expect(releases.withLock { $0 } == 9)
        _ = tier.trim(toBytes: 0)
        #expect(releases.withLock { $0 } == 10)
    }

    /// P18: what was written after a reader missed is not put over by what it read.
    @Test func aFillDoesNotReplaceWhatWasWrittenMeanwhile() throws {
        let tier = MemoryCache<Int>(capacity: .unlimited)
        #expect(!isHit("a", in: tier))
        let ticket = tier.ticket(forMissed: "a")
        _ = put(2, "a", in: tier)
        _ = tier.remove("a")
        _ = tier.fill(1, forKey: "a", cost: 1, row: 1, validity: .forever, ticket: ticket, at: now)
        #expect(tier.peek("a") == nil)

        let later = tier.ticket(forMissed: "a")
        _ = tier.fill(3, forKey: "a", cost: 1, row: 1, validity: .forever, ticket: later, at: now)
        #expect(tier.peek("a")?.payload == 3)
    }

    @Test func expiredEntriesAreMisses() throws {
        let tier = MemoryCache<Int>(capacity: .unlimited)
        let validity = Validity(written: now, expires: now.advanced(byMilliseconds: 10))
        _ = tier.store(1, forKey: "a", cost: 5, stamp: tier.stamp(at: now), row: 1, validity: validity, wasPresent: false)
        #expect(isHit("a", in: tier))
        let end = now.advanced(byMilliseconds: 10)
        #expect(!isHit("a", in: tier, at: end))
    }

    @Test func usesAreHandedOutOnceAndKnownUntilThen() throws {
        let tier = MemoryCache<Int>(capacity: try Capacity(1))
        _ = put(1, "a", in: tier)
        #expect(tier.takeTouches(limit: 10) == [])
        #expect(isHit("a", in: tier))
        #expect(tier.pendingTouches().count == 1)
        // What leaves memory carries its use along.
        _ = tier.store(2, forKey: "b", cost: 1, stamp: tier.stamp(at: now), row: 2, validity: .forever, wasPresent: false)
        #expect(tier.latestUse(ofKey: "a", row: 1) != nil)
        #expect(tier.takeTouches(limit: 10).map(\.row) == [1])
        #expect(tier.takeTouches(limit: 10) == [])
    }

    @Test func trimmingEvictsTheOldestUntilTheSizeIsKept() throws {
        let tier = MemoryCache<Int>(capacity: .unlimited)
        for number in 0..<10 { _ = put(number, EntryKey("\(number)"), cost: 10, in: tier) }
        _ = tier.trim(toBytes: 35)
        #expect(tier.newest(.max).map(\.item.payload) == [9, 8, 7])
        _ = tier.trim(toBytes: -5)
        #expect(tier.totals() == StorageUsage())
    }
}
