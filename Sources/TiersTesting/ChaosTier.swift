public import Tiers

/// A tier in front of another that fails at random. The same seed and the same calls give the same failures.
///
/// ```swift
/// let tier = ChaosTier(base, seed: 7, failing: 0.1)   // one call in ten
/// // … random work, and the seed in what the test says when it fails
/// tier.rest()                                          // from now on nothing fails
/// ```
///
/// A call that fails was not carried out. Calls of several threads share one row of random numbers: which of them fails then depends on who
/// comes first.
public final class ChaosTier: Tier {
    /// What the random numbers begin with.
    public let seed: UInt64

    private struct State {
        var random: SeededGenerator
        var rate: Double
        var failures = 0
    }

    private let base: any Tier
    private let error: StoreError
    private let state: Locked<State>

    /// - Parameters:
    ///   - base: The tier that does the work.
    ///   - seed: What the random numbers begin with.
    ///   - rate: How many of the calls fail: 0 for none, 1 for all.
    ///   - error: What they fail with.
    public init(
        _ base: any Tier, seed: UInt64, failing rate: Double, with error: StoreError = StoreError(.inputOutput, "A fault of a test.")
    ) {
        self.base = base
        self.seed = seed
        self.error = error
        state = Locked(State(random: SeededGenerator(seed: seed), rate: rate))
    }

    /// How many calls have failed.
    public var failures: Int { state.withLock { $0.failures } }

    /// Makes everything work from now on.
    public func rest() { state.withLock { $0.rate = 0 } }

    private func attempt() throws(StoreError) {
        let fails = state.withLock { state in
            let fails = Double.random(in: 0..<1, using: &state.random) < state.rate
            if fails { state.failures += 1 }
            return fails
        }
        if fails { throw error }
    }

    // MARK: Tier

    public var capacity: Capacity { base.capacity }
    public var underlying: any Tier { base.underlying }

    public func entry(forKey key: EntryKey) throws(StoreError) -> Lookup<Entry> {
        try attempt()
        return try base.entry(forKey: key)
    }

    public func lastUse(ofKey key: EntryKey) throws(StoreError) -> UseStamp? {
        try attempt()
        return try base.lastUse(ofKey: key)
    }

    public func totals() throws(StoreError) -> TierTotals {
        try attempt()
        return try base.totals()
    }

    public func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(StoreError) -> [KeyUse] {
        try attempt()
        return try base.keysByUse(limit: limit, validAt: now, under: expiration)
    }

    public func commit(_ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) throws(StoreError) {
        try attempt()
        try base.commit(writes, durability: durability, committed: committed)
    }

    public func removeUnused(before stamp: UseStamp, limit: Int) throws(StoreError) -> [EntryKey] {
        try attempt()
        return try base.removeUnused(before: stamp, limit: limit)
    }

    public func resize(to capacity: Capacity) throws(StoreError) -> [EntryKey] {
        try attempt()
        return try base.resize(to: capacity)
    }

    public func claim(_ expiration: Expiration, grace: Int64) throws(StoreError) { try base.claim(expiration, grace: grace) }

    public func attach(to owner: any TierOwner) { base.attach(to: owner) }
    public func usesAreWaiting(isPressing: Bool) { base.usesAreWaiting(isPressing: isPressing) }
    public func record(uses: [Use]) { base.record(uses: uses) }

    public func flush() throws(StoreError) {
        try attempt()
        try base.flush()
    }

    public func close() throws(StoreError) { try base.close() }
}
