import Synchronization
import Testing
import Tiers
import TiersTesting

/// Changes that a test tells of, as another process would.
private final class ToldChanges: ChangeFeed {
    private let cell: UnsafeMutablePointer<Atomic<UInt64>>
    private let state = Locked(State())

    private struct State {
        var told: [(number: UInt64, changes: ForeignChanges)] = []
        var changing: Set<UInt64> = []
    }

    init() {
        cell = .allocate(capacity: 1)
        cell.initialize(to: Atomic(7))
    }

    deinit {
        cell.deinitialize(count: 1)
        cell.deallocate()
    }

    var generation: Generation { Generation(UnsafePointer(cell)) }

    func tell(_ changes: ForeignChanges) {
        state.withLock { $0.told.append((generation.value + 1, changes)) }
        cell.pointee.add(1, ordering: .releasing)
    }

    /// A change of this process: nobody is told.
    func move() -> OwnChange {
        tell(.keys([]))
        return OwnChange(previous: generation.value - 1, last: generation.value)
    }

    func setChanging(_ hashes: Set<UInt64>) { state.withLock { $0.changing = hashes } }

    func changes(after old: UInt64, through new: UInt64) -> ForeignChanges {
        state.withLock { state in
            var keys: [UInt64] = []
            for (number, changes) in state.told where number > old && number <= new {
                guard case .keys(let more) = changes else { return .everything }
                keys += more
            }
            return .keys(keys)
        }
    }

    func isChanging(_ hash: UInt64) -> Bool { state.withLock { $0.changing.contains(hash) } }
}

// The cell is protected by being atomic, and outlives everyone who reads it.
extension ToldChanges: @unchecked Sendable {}

@Suite(.timeLimit(.minutes(60)))
struct MemoryTierFollowingTests {
    private let feed = ToldChanges()
    private let tier: MemoryTier<Int>
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    init() throws { tier = MemoryTier(capacity: try Capacity(1000), following: feed) }

    private func put(_ payload: Int, _ key: EntryKey, change: OwnChange? = nil) {
        _ = tier.store(
            payload, forKey: key, cost: 1, stamp: tier.stamp(at: now), row: Int64(payload), validity: .forever, wasPresent: false,
            change: change)
    }

    private func value(_ key: EntryKey) -> Int? {
        var wakesDisk = false
        return tier.use(key, at: now, wakesDisk: &wakesDisk)
    }

    @Test func whatAnotherChangedIsForgottenAndNothingElse() {
        for (number, key) in ["a", "b", "c"].enumerated() { put(number + 1, EntryKey(key)) }
        feed.tell(.keys([EntryKey("b").sharedHash]))
        #expect(value("b") == nil)
        #expect(value("a") == 1)
        #expect(value("c") == 3)
        feed.tell(.keys([EntryKey("c").sharedHash, EntryKey("unknown").sharedHash]))
        #expect(tier.peek("c") == nil)
        #expect(tier.newest(.max).map(\.key) == ["a"])
    }

    /// P48: on any gap, drop everything.
    @Test func moreThanCanBeKnownEmptiesTheTier() {
        put(1, "a")
        feed.tell(.everything)
        #expect(value("a") == nil)
        #expect(tier.totals() == TierTotals())
        put(2, "a")
        #expect(value("a") == 2)
    }

    @Test func entriesThatCameAfterTheFirstChangeAreFollowed() {
        put(1, "a")
        feed.tell(.keys([]))
        #expect(value("a") == 1)
        put(2, "later")
        feed.tell(.keys([EntryKey("later").sharedHash]))
        #expect(value("later") == nil)
    }

    @Test func aUseOfWhatAnotherOverwroteIsStillTold() {
        put(5, "a")
        #expect(value("a") == 5)
        feed.tell(.keys([EntryKey("a").sharedHash]))
        #expect(value("a") == nil)
        #expect(tier.pendingUses().map(\.row) == [5])
    }

    /// P18: what was read before another's change is not put over it.
    @Test func whatWasReadBeforeAnotherChangedItIsNotRemembered() {
        let ticket = tier.ticket(forMissed: "a")
        feed.tell(.keys([EntryKey("a").sharedHash]))
        #expect(value("b") == nil)  // Someone else hears of it first.
        _ = tier.fill(1, forKey: "a", cost: 1, row: 1, validity: .forever, ticket: ticket, at: now)
        #expect(value("a") == nil)
    }

    @Test func whatWasReadBeforeIsForgottenWhenTheChangeIsHeardOf() {
        let ticket = tier.ticket(forMissed: "a")
        feed.tell(.keys([EntryKey("a").sharedHash]))
        _ = tier.fill(1, forKey: "a", cost: 1, row: 1, validity: .forever, ticket: ticket, at: now)
        #expect(value("a") == nil)
    }

    /// Announced and not committed: the disk may say either.
    @Test func whatIsReadWhileAnotherChangesItIsNotRemembered() {
        feed.tell(.keys([EntryKey("a").sharedHash]))
        feed.setChanging([EntryKey("a").sharedHash])
        let ticket = tier.ticket(forMissed: "a")
        let other = tier.ticket(forMissed: "b")
        feed.setChanging([])
        _ = tier.fill(1, forKey: "a", cost: 1, row: 1, validity: .forever, ticket: ticket, at: now)
        _ = tier.fill(2, forKey: "b", cost: 1, row: 2, validity: .forever, ticket: other, at: now)
        #expect(value("a") == nil)
        #expect(value("b") == 2)
    }

    /// Committed, then overwritten by another before memory took it.
    @Test func whatAnotherHasOverwrittenMeanwhileIsNotRemembered() {
        let own = feed.move()
        feed.tell(.keys([EntryKey("a").sharedHash]))
        #expect(value("b") == nil)
        put(1, "a", change: own)
        #expect(value("a") == nil)
    }

    @Test func changesOfItsOwnForgetNothing() {
        put(1, "a", change: feed.move())
        put(2, "b", change: feed.move())
        #expect(value("a") == 1)
        #expect(value("b") == 2)
    }

    @Test func aTierThatFollowsNobodyIsAlwaysFresh() throws {
        let alone = MemoryTier<Int>(capacity: try Capacity(10))
        _ = alone.store(1, forKey: "a", cost: 1, stamp: alone.stamp(at: now), row: 1, validity: .forever, wasPresent: false)
        #expect(alone.peek("a")?.payload == 1)
    }
}
