public import Tiers

/// A tier in front of another that fails when told to.
///
/// ```swift
/// let tier = FaultyTier(base)
/// tier.fail(.commit, with: StoreError(.diskFull, "No space."), after: 2)   // the third commit fails, and all later ones
/// tier.heal()
/// ```
public final class FaultyTier: Tier {
    /// What can fail.
    public enum Operation: Hashable, Sendable, CaseIterable {
        case read, commit, list, maintain
    }

    private struct Fault {
        var error: StoreError
        var remaining: Int
    }

    private let base: any Tier
    private let faults = Locked<[Operation: Fault]>([:])

    public init(_ base: any Tier) {
        self.base = base
    }

    /// Makes an operation fail after it has worked so many times more.
    public func fail(_ operation: Operation, with error: StoreError, after successes: Int = 0) {
        faults.withLock { $0[operation] = Fault(error: error, remaining: successes) }
    }

    /// Makes everything work again.
    public func heal() { faults.withLock { $0 = [:] } }

    private func attempt(_ operation: Operation) throws(StoreError) {
        let error = faults.withLock { faults -> StoreError? in
            guard let fault = faults[operation] else { return nil }
            faults[operation]?.remaining -= 1
            return fault.remaining <= 0 ? fault.error : nil
        }
        if let error { throw error }
    }

    // MARK: Tier

    public var capacity: Capacity { base.capacity }
    public var underlying: any Tier { base.underlying }

    public func entry(forKey key: EntryKey) throws(StoreError) -> Lookup<Entry> {
        try attempt(.read)
        return try base.entry(forKey: key)
    }

    public func lastUse(ofKey key: EntryKey) throws(StoreError) -> UseStamp? {
        try attempt(.read)
        return try base.lastUse(ofKey: key)
    }

    public func totals() throws(StoreError) -> TierTotals {
        try attempt(.read)
        return try base.totals()
    }

    public func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(StoreError) -> [KeyUse] {
        try attempt(.list)
        return try base.keysByUse(limit: limit, validAt: now, under: expiration)
    }

    public func commit(_ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) throws(StoreError) {
        try attempt(.commit)
        try base.commit(writes, durability: durability, committed: committed)
    }

    public func removeUnused(before stamp: UseStamp, limit: Int) throws(StoreError) -> [EntryKey] {
        try attempt(.commit)
        return try base.removeUnused(before: stamp, limit: limit)
    }

    public func resize(to capacity: Capacity) throws(StoreError) -> [EntryKey] { try base.resize(to: capacity) }

    public func claim(_ expiration: Expiration, grace: Int64) throws(StoreError) { try base.claim(expiration, grace: grace) }

    public func attach(to owner: any TierOwner) { base.attach(to: owner) }
    public func usesAreWaiting(isPressing: Bool) { base.usesAreWaiting(isPressing: isPressing) }
    public func record(uses: [Use]) { base.record(uses: uses) }

    public func flush() throws(StoreError) {
        try attempt(.maintain)
        try base.flush()
    }

    public func close() throws(StoreError) {
        try attempt(.maintain)
        try base.close()
    }
}
