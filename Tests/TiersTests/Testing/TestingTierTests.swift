import Testing
import Tiers
import TiersTesting

@Suite(.timeLimit(.minutes(60)))
struct TestingTierTests {
    @Test(arguments: TierLaw.all)
    func aTierWithoutFaultsKeeps(_ law: TierLaw) throws {
        try law.check { capacity in FaultyTier(MemoryTier<Entry>(capacity: capacity)) }
    }

    @Test(arguments: TierLaw.all)
    func aRecordingTierKeeps(_ law: TierLaw) throws {
        try law.check { capacity in RecordingTier(MemoryTier<Entry>(capacity: capacity)) }
    }

    @Test(arguments: TierLaw.all)
    func aTierWithoutChaosKeeps(_ law: TierLaw) throws {
        try law.check { capacity in ChaosTier(MemoryTier<Entry>(capacity: capacity), seed: 1, failing: 0) }
    }

    @Test func aSeedFailsTheSameCallsAgain() throws {
        func failures(_ seed: UInt64) -> [Bool] {
            let tier = ChaosTier(MemoryTier<Entry>(capacity: .unlimited), seed: seed, failing: 0.4)
            return (0..<100).map { _ in
                do throws(StoreError) {
                    _ = try tier.totals()
                    return false
                } catch {
                    return true
                }
            }
        }
        #expect(failures(7) == failures(7))
        #expect(failures(7) != failures(8))
        #expect((20..<60).contains(failures(7).count { $0 }))
        let tier = ChaosTier(MemoryTier<Entry>(capacity: .unlimited), seed: 7, failing: 1)
        #expect(throws: StoreError.self) { try tier.flush() }
        #expect(tier.failures == 1)
        tier.rest()
        try tier.flush()
    }

    /// A law that no tier can break is no law: most find something wrong with one that forgets half of what it is told.
    @Test func theLawsAreBrokenByATierThatForgets() throws {
        var broken = 0
        for law in TierLaw.all {
            do {
                try law.check { capacity in ForgetfulTier(MemoryTier<Entry>(capacity: capacity)) }
            } catch {
                broken += 1
            }
        }
        #expect(broken * 4 >= TierLaw.all.count * 3)
    }

    @Test func aFaultComesWhenItShouldAndGoesWhenItIsHealed() throws {
        let tier = FaultyTier(MemoryTier<Entry>(capacity: .unlimited))
        let driver = TierDriver(tier)
        tier.fail(.commit, with: StoreError(.diskFull, "No space."), after: 1)
        try driver.store([1], "a")
        #expect(throws: StoreError.self) { try driver.store([2], "a") }
        #expect(throws: StoreError.self) { try driver.store([3], "a") }
        #expect(try driver.bytes("a") == [1])
        tier.heal()
        try driver.store([4], "a")
        #expect(try driver.bytes("a") == [4])
    }
}

/// Drops every second write.
private final class ForgetfulTier: Tier {
    private let base: MemoryTier<Entry>
    private let writes = Locked(0)

    init(_ base: MemoryTier<Entry>) { self.base = base }

    var capacity: Capacity { base.capacity }
    var underlying: any Tier { base }
    func entry(forKey key: EntryKey) -> Lookup<Entry> { base.entry(forKey: key) }
    func lastUse(ofKey key: EntryKey) -> UseStamp? { base.lastUse(ofKey: key) }
    func totals() -> TierTotals { base.totals() }
    func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) -> [KeyUse] {
        base.keysByUse(limit: limit, validAt: now, under: expiration)
    }

    func commit(_ all: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) throws(StoreError) {
        var kept: [TierWrite] = []
        for write in all {
            let number = writes.withLock { count in
                count += 1
                return count
            }
            if number % 2 == 0 { kept.append(write) }
        }
        try base.commit(kept, durability: durability) { _ in }
        committed(all.map { _ in WriteOutcome() })
    }

    func removeUnused(before stamp: UseStamp, limit: Int) -> [EntryKey] { [] }
    func resize(to capacity: Capacity) -> [EntryKey] { base.resize(to: capacity) }
    func attach(to owner: any TierOwner) {}
    func usesAreWaiting(isPressing: Bool) {}
    func record(uses: [Use]) {}
    func flush() {}
    func close() {}
}
