/// A place that keeps encoded entries by key.
///
/// A tier knows nothing of the tiers above or beside it. What it must know of the order of use it asks of its
/// ``TierOwner``, the interface it was given. The laws that every tier keeps are written down as `TierLaws` in
/// `TiersTesting`; run them on a tier of your own.
///
/// Every call works from any thread and blocks it for the tier's own work, never for a caller's code.
public protocol Tier: AnyObject, Sendable {
    /// How much the tier may hold.
    var capacity: Capacity { get }

    /// Whether it was closed, by whatever handle on what lies below it.
    var isClosed: Bool { get }

    /// The tier that does the work, where this one only stands in front of it.
    var underlying: any Tier { get }

    /// Where changes are told of that others make to what lies below; `nil` where nobody else can.
    var changes: (any ChangeFeed)? { get }

    /// What is under the key, whole and checked, whether still valid or not. Not a use.
    func entry(forKey key: EntryKey) throws(StoreError) -> Lookup<Entry>

    /// When the entry was last used, as far as the tier was told. Not a use.
    func lastUse(ofKey key: EntryKey) throws(StoreError) -> UseStamp?

    /// What the tier holds.
    ///
    /// - Complexity: O(1).
    func totals() throws(StoreError) -> TierTotals

    /// The keys of what may be had at `now` by a reader who takes entries for as long as `expiration` says, with their last
    /// uses, most recently used first; at most `limit` of them. Not a use.
    ///
    /// - Complexity: O(limit × log n), and O(p log p) for p uses that the tier was not told of yet.
    func keysByUse(limit: Int, validAt now: WallInstant, under expiration: Expiration) throws(StoreError) -> [KeyUse]

    /// Applies all the writes, or none, as durably as `durability` asks, evicting what they need room for.
    ///
    /// - Parameters:
    ///   - writes: Of this tier, and of others that share its transactions.
    ///   - committed: Called once the transaction is committed and before any later one can be, with an outcome for
    ///     each write. Must be quick, and run no code of a user's.
    func commit(
        _ writes: [TierWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(StoreError)

    /// Removes what was last used before `stamp`, at most `limit` entries, and returns the keys: the coldest first.
    func removeUnused(before stamp: UseStamp, limit: Int) throws(StoreError) -> [EntryKey]

    /// Changes how much the tier may hold, and returns the keys of what had to leave, the coldest first.
    func resize(to capacity: Capacity) throws(StoreError) -> [EntryKey]

    /// Lets the tier hold no less than that. Removes nothing, whatever the tier may hold already.
    func raise(to capacity: Capacity) throws(StoreError)

    /// How much the tier may hold, asked anew where others may have changed it.
    func currentCapacity() throws(StoreError) -> Capacity

    /// Gives the tier the owner that it asks and reports to. Held weakly.
    func attach(to owner: any TierOwner)

    /// Says that ``TierOwner/takeUses(limit:)`` has something to take. The tier takes it within a second.
    ///
    /// - Parameter isPressing: Whether so much waits that the caller should write some of it down itself.
    func usesAreWaiting(isPressing: Bool)

    /// Takes the last uses of an owner that goes away.
    func record(uses: [Use])

    /// Says for how long the store above takes entries that have no age of their own, and that it may ask for any entry for so
    /// many milliseconds beyond its end. What nobody wants any more the tier may remove by itself, and tells its owner.
    ///
    /// A tier to which nothing is said keeps what has no age of its own.
    func claim(_ expiration: Expiration, grace: Int64) throws(StoreError)

    /// Makes everything acknowledged before it survive power loss, the order of use included.
    func flush() throws(StoreError)

    /// Flushes and lets go of everything; every later call throws ``StoreError/Code/closed``. Closing twice is closing once.
    func close() throws(StoreError)
}

extension Tier {
    public var underlying: any Tier { self }
    public var isClosed: Bool { underlying === self ? false : underlying.isClosed }
    public var changes: (any ChangeFeed)? { underlying === self ? nil : underlying.changes }
    public func claim(_ expiration: Expiration, grace: Int64) throws(StoreError) {}
    public func raise(to capacity: Capacity) throws(StoreError) {
        if capacity.isAtLeast(self.capacity) { _ = try resize(to: capacity) }
    }
    public func currentCapacity() throws(StoreError) -> Capacity { capacity }
}

/// What a tier may ask of the store that owns it, and what it tells it. The tier may call from any thread, and while
/// it holds a lock of its own, but for the last; an owner answers from memory and calls no tier.
public protocol TierOwner: AnyObject, Sendable {
    /// The last use of an entry that the tier may not have been told of yet.
    func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp?

    /// Every use from now on must be stamped later than this one, which is the last that the tier knows: the clock may have gone
    /// back since.
    func uses(areLaterThan stamp: UseStamp)

    /// Uses that the tier has not been told of, at most `limit`. The tier writes them down, then calls ``finishUses(written:)``;
    /// one taker at a time.
    func takeUses(limit: Int) -> [Use]

    /// The uses that were taken are committed, or could not be and must be handed out again.
    func finishUses(written: Bool)

    /// All the uses that the tier may not have committed yet, without handing them out. O(uses).
    func pendingUses() -> [Use]

    /// How many uses ``takeUses(limit:)`` has to hand out by now, or a few more. O(1).
    var untakenUseCount: Int { get }

    /// Something happened that the owner's observers should know.
    func tierDidReport(_ event: StoreEvent)

    /// Entries left the tier by no write of the owner's: those whose time was over leave memory, too; of others memory may keep
    /// what it has.
    func tierDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause)

    /// Writes that the tier took under ``Durability/relaxed`` could not be kept: what the owner remembers may be wrong.
    func tierDidLoseWrites(_ error: StoreError)

    /// What an index is to hold of an entry. Decodes it, so a tier asks while it holds no lock.
    func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome
}

extension TierOwner {
    public func tierDidRemove(_ entries: [RemovedEntry], _ cause: RemovalCause) {}
    public func indexed(_ entry: Entry, of key: EntryKey) -> IndexedOutcome { .noPlace }
}

/// An entry that is no longer there.
public struct RemovedEntry: Hashable, Sendable {
    public var key: EntryKey
    public var row: Int64

    public init(key: EntryKey, row: Int64) {
        self.key = key
        self.row = row
    }
}

/// A key, and the last use and the size of its entry.
public struct KeyUse: Hashable, Sendable {
    public var key: EntryKey
    public var lastUse: UseStamp
    /// Encoded bytes.
    public var bytes: Int

    public init(key: EntryKey, lastUse: UseStamp, bytes: Int) {
        self.key = key
        self.lastUse = lastUse
        self.bytes = bytes
    }
}

/// One use of one entry.
@frozen
public struct Use: Hashable, Sendable {
    public var row: Int64
    public var stamp: UseStamp

    @inlinable
    public init(row: Int64, stamp: UseStamp) {
        self.row = row
        self.stamp = stamp
    }
}

/// One change of one tier.
public struct TierWrite: Sendable {
    public enum Change: Sendable {
        /// Store the entry under the key, whatever is there. An entry larger than the tier's bytes is not stored, evicts
        /// nothing, and what was there is removed, so that it cannot come back.
        case store(Entry)
        /// Store the entry under the key if nothing valid is there.
        case storeIfAbsent(Entry)
        /// Remove what is under the key.
        case remove
        /// Remove the entry of this row if it is still of this revision.
        case removeUnchanged(row: Int64, revision: UInt32)
        /// Remove every entry of the tier, whatever the key.
        case removeAll
    }

    public var tier: any Tier
    public var key: EntryKey
    public var change: Change
    public var stamp: UseStamp
    /// Whether memory takes what is to be stored, also where it is too large for the tier.
    public var isKeptInMemory = true
    /// What must be so, or the tier leaves everything as it is and says ``WriteOutcome/wasDeclined``.
    public var condition: WriteCondition?

    public init(tier: any Tier, key: EntryKey, change: Change, stamp: UseStamp, condition: WriteCondition? = nil) {
        self.tier = tier
        self.key = key
        self.change = change
        self.stamp = stamp
        self.condition = condition
    }
}

/// What became of a ``TierWrite``.
public struct WriteOutcome: Sendable {
    /// Where the entry is now; 0 if this tier does not hold what was to be stored.
    public var row: Int64 = 0
    /// Whether the key was there before.
    public var wasPresent = false
    /// Whether a ``TierWrite/Change/storeIfAbsent(_:)`` found the key taken, a
    /// ``TierWrite/Change/removeUnchanged(row:revision:)`` found another entry, or the write's condition was not met, and it did
    /// nothing.
    public var wasDeclined = false
    /// What had to leave for it.
    public var evicted: [EntryKey] = []
    /// The place of the commit among the changes that others hear of, where they can.
    public var change: OwnChange?

    public init() {}
}
