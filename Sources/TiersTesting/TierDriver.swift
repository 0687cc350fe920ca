internal import Foundation
public import Tiers

/// A store in miniature: writes to a tier one entry at a time, and answers what a tier asks its owner.
///
/// The laws go through it. Its uses are never handed out, so a tier must ask for each.
public final class TierDriver: TierOwner {
    public let tier: any Tier
    public let clock: ManualClock
    private let state = Locked(State())

    private struct State {
        var last = UseStamp.never
        var uses: [Int64: UseStamp] = [:]
    }

    public init(_ tier: any Tier, clock: ManualClock = ManualClock()) {
        self.tier = tier
        self.clock = clock
        tier.attach(to: self)
    }

    @discardableResult
    public func store(
        _ bytes: some Sequence<UInt8>, _ key: EntryKey, expires: WallInstant? = nil, idle: Int64? = nil, onlyIfAbsent: Bool = false
    ) throws(StoreError) -> WriteOutcome {
        let entry = Entry(bytes: Data(bytes), written: clock.now, expires: expires, idle: idle)
        return try write(key, onlyIfAbsent ? .storeIfAbsent(entry) : .store(entry))
    }

    /// Stores so many bytes.
    @discardableResult
    public func store(count: Int, _ key: EntryKey) throws(StoreError) -> WriteOutcome {
        try store(repeatElement(UInt8(ascii: "x"), count: count), key)
    }

    @discardableResult
    public func write(_ key: EntryKey, _ change: TierWrite.Change) throws(StoreError) -> WriteOutcome {
        try write([(key, change)])[0]
    }

    /// Applies all the changes in one transaction, if what is under the key of the first is still what it was, or is not valid.
    func write(
        _ changes: [(EntryKey, TierWrite.Change)], ifUnchangedSince version: EntryVersion?, isOvertaken: Bool = false
    ) throws(StoreError) -> [WriteOutcome] {
        let condition = WriteCondition(unchangedSince: .version(version), at: clock.now, under: .never) { isOvertaken }
        return try commit(
            changes.enumerated().map { index, change in
                let condition = index == 0 ? condition : WriteCondition(following: condition)
                return TierWrite(tier: tier, key: change.0, change: change.1, stamp: stamp(), condition: condition)
            })
    }

    /// Applies all the changes in one transaction.
    public func write(_ changes: [(EntryKey, TierWrite.Change)]) throws(StoreError) -> [WriteOutcome] {
        try commit(changes.map { TierWrite(tier: tier, key: $0.0, change: $0.1, stamp: stamp()) })
    }

    private func commit(_ writes: [TierWrite]) throws(StoreError) -> [WriteOutcome] {
        var outcomes: [WriteOutcome] = []
        try tier.commit(writes, durability: .crashSafe) { outcomes = $0 }
        state.withLock { state in
            for (write, outcome) in zip(writes, outcomes) where outcome.row != 0 { state.uses[outcome.row] = write.stamp }
        }
        return outcomes
    }

    public func bytes(_ key: EntryKey) throws(StoreError) -> [UInt8]? {
        try tier.entry(forKey: key).value.map { Array($0.bytes) }
    }

    /// The keys, most recently used first.
    public func keys() throws(StoreError) -> [String] {
        try tier.keysByUse(limit: .max, validAt: clock.now, under: .never).map(\.key.normalized)
    }

    /// A stamp for a use that happens now.
    public func stamp() -> UseStamp {
        let now = clock.now
        return state.withLock { state in
            state.last = UseStamp(after: state.last, at: now)
            return state.last
        }
    }

    // MARK: TierOwner

    public func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp? { state.withLock { $0.uses[row] } }

    public func uses(areLaterThan stamp: UseStamp) { state.withLock { $0.last = max($0.last, stamp) } }

    public func takeUses(limit: Int) -> [Use] { [] }

    public func finishUses(written: Bool) {}

    public func pendingUses() -> [Use] { state.withLock { $0.uses.map { Use(row: $0.key, stamp: $0.value) } } }

    public var untakenUseCount: Int { 0 }

    public func tierDidReport(_ event: StoreEvent) {}

    public func tierDidLoseWrites(_ error: StoreError) {}
}
