public import Tiers

/// A tier in front of another that writes down what it is asked for, and runs a step of the test in between.
public final class RecordingTier: Tier {
    public enum Call: Hashable, Sendable {
        case entry(EntryKey)
        case lastUse(EntryKey)
        case totals
        case keysByUse
        case commit(writes: Int, Durability)
        case removeUnused
        case usesAreWaiting
        case recordUses(Int)
        case flush
        case close
    }

    private let base: any Tier
    private let recorded = Locked<[Call]>([])
    private let interruption = Locked<(@Sendable (Call) -> Void)?>(nil)

    public init(_ base: any Tier) {
        self.base = base
    }

    /// What was asked for so far, in order.
    public var calls: [Call] { recorded.withLock { $0 } }

    public func reset() { recorded.withLock { $0 = [] } }

    /// Runs a step after each call has been carried out and before its answer goes up: the place where a race is lost.
    public func interrupt(_ step: (@Sendable (Call) -> Void)?) { interruption.withLock { $0 = step } }

    private func record(_ call: Call) { recorded.withLock { $0.append(call) } }

    private func after(_ call: Call) { interruption.withLock { $0 }?(call) }

    // MARK: Tier

    public var capacity: Capacity { base.capacity }
    public var underlying: any Tier { base.underlying }

    public func entry(forKey key: EntryKey) throws(StoreError) -> Lookup<Entry> {
        record(.entry(key))
        let answer = try base.entry(forKey: key)
        after(.entry(key))
        return answer
    }

    public func lastUse(ofKey key: EntryKey) throws(StoreError) -> UseStamp? {
        record(.lastUse(key))
        return try base.lastUse(ofKey: key)
    }

    public func totals() throws(StoreError) -> TierTotals {
        record(.totals)
        return try base.totals()
    }

    public func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(StoreError) -> [KeyUse] {
        record(.keysByUse)
        return try base.keysByUse(limit: limit, validAt: now, under: expiration)
    }

    public func commit(_ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void) throws(StoreError) {
        let call = Call.commit(writes: writes.count, durability)
        record(call)
        try base.commit(writes, durability: durability, committed: committed)
        after(call)
    }

    public func removeUnused(before stamp: UseStamp, limit: Int) throws(StoreError) -> [EntryKey] {
        record(.removeUnused)
        return try base.removeUnused(before: stamp, limit: limit)
    }

    public func resize(to capacity: Capacity) throws(StoreError) -> [EntryKey] { try base.resize(to: capacity) }

    public func claim(_ expiration: Expiration, grace: Int64) throws(StoreError) { try base.claim(expiration, grace: grace) }

    public func attach(to owner: any TierOwner) { base.attach(to: owner) }

    public func usesAreWaiting(isPressing: Bool) {
        record(.usesAreWaiting)
        base.usesAreWaiting(isPressing: isPressing)
    }

    public func record(uses: [Use]) {
        record(.recordUses(uses.count))
        base.record(uses: uses)
    }

    public func flush() throws(StoreError) {
        record(.flush)
        try base.flush()
    }

    public func close() throws(StoreError) {
        record(.close)
        try base.close()
    }
}
