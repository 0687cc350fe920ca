internal import Foundation

/// Entries in memory, bounded, in exact order of use, for any thread: the locked shell of an ``LRUList``.
///
/// ```swift
/// let tier = MemoryTier<String>(capacity: try Capacity(1.megaByte))
/// ```
///
/// With concurrent readers the order is exact to within the operations in flight. Evicted payloads are released
/// outside the lock. Nobody else knows that there is one lock: several pieces, each with its own, would fit behind the same calls.
///
/// - Complexity: O(1) for every call, but for those that say otherwise. A hit allocates nothing.
public final class MemoryTier<Payload: Sendable>: Sendable {
    /// Proof that nothing was written under a key since a reader missed it.
    public struct FillTicket: Sendable {
        @usableFromInline let stripe: Int
        @usableFromInline let generation: UInt64
    }

    /// Payloads to be released where no lock is held, and the keys of those that no tier holds any more.
    public struct Leftovers: Sendable {
        public var payloads: [Payload] = []
        public var lostKeys: [EntryKey] = []
        public var evictions = 0
        /// Whether the disk should hear of uses soon.
        public var wakesDisk = false
        /// Whether so many uses wait that whoever adds one should write some down.
        public var isPressing = false

        @inlinable
        init() {}
    }

    @usableFromInline let shelf: Locked<Shelf>
    /// Held while the tier carries out a transaction, where it is a tier of entries: taken before the shelf's. The number of the
    /// last entry that was stored so.
    let revisions = Locked<UInt32>(0)
    /// Where changes by others are told of, if there can be any.
    let feed: (any ChangeFeed)?
    @usableFromInline let generation: Generation?

    public init(capacity: Capacity, following feed: (any ChangeFeed)? = nil) {
        self.feed = feed
        generation = feed?.generation
        shelf = Locked(Shelf(capacity: capacity, heard: feed?.generation.value ?? 0))
    }

    @usableFromInline
    struct Shelf: Sendable {
        @usableFromInline var list = LRUList<EntryKey, Payload>()
        @usableFromInline var lastStamp = UseStamp.never
        @usableFromInline var hits = 0
        // A write moves the generation of its key's stripe, so that an older read is not put over it. Two keys of one
        // stripe only cost each other a promotion.
        @usableFromInline var generations = ContiguousArray<UInt64>(repeating: 0, count: 64)
        // Last uses that the disk may not have written down, of rows that are not in the list.
        @usableFromInline var backlog = UseBacklog()

        // Keys whose writes and removals someone wants to know of. Almost always none.
        @usableFromInline var watches = WatchedKeys()

        // The generation up to which changes by others were heard of, and what is needed to follow them, once there was one.
        @usableFromInline var heard: UInt64
        @usableFromInline var keysByHash: KeysByHash?

        // Three or four megabytes: more is not worth its memory.
        @inlinable static var mostUntaken: Int { 65_536 }
        @usableFromInline var capacity: Capacity

        init(capacity: Capacity, heard: UInt64) {
            self.capacity = capacity
            self.heard = heard
        }

        @inlinable
        mutating func nextStamp(at now: WallInstant) -> UseStamp {
            lastStamp = UseStamp(after: lastStamp, at: now)
            return lastStamp
        }
    }

    // MARK: Reading

    /// The payload under the key if it is valid, and a use of it.
    ///
    /// - Parameters:
    ///   - expiration: For how long the reader takes entries that have no age of their own.
    ///   - wakesDisk: Set if it is the first use for a while that the disk must be told of.
    @inlinable
    public func use(_ key: EntryKey, at now: WallInstant, under expiration: Expiration = .never, wakesDisk: inout Bool) -> Payload? {
        var isBehind = false
        let found = shelf.withLock { shelf -> Payload? in
            guard isFresh(shelf) else {
                isBehind = true
                return nil
            }
            return use(key, at: now, under: expiration, wakesDisk: &wakesDisk, in: &shelf)
        }
        return isBehind ? useAfterCatchingUp(key, at: now, under: expiration, wakesDisk: &wakesDisk) : found
    }

    @inlinable
    func use(
        _ key: EntryKey, at now: WallInstant, under expiration: Expiration, wakesDisk: inout Bool, in shelf: inout Shelf
    ) -> Payload? {
        guard let slot = shelf.list.slot(of: key), shelf.list.isValid(slot, at: now, key, under: expiration) else { return nil }
        shelf.hits &+= 1
        wakesDisk = shelf.list.touch(slot, stamp: shelf.nextStamp(at: now))
        return shelf.list.payloads[Int(slot)]
    }

    /// A ticket for whoever missed the key and now looks elsewhere.
    public func ticket(forMissed key: EntryKey) -> FillTicket {
        withFreshShelf { shelf in
            let stripe = Self.stripe(of: key)
            // While another process writes under the key, nobody knows which value will be found.
            if let feed, feed.isChanging(key.sharedHash) { return FillTicket(stripe: stripe, generation: .max) }
            return FillTicket(stripe: stripe, generation: shelf.generations[stripe])
        }
    }

    /// The entry under the key, valid or not. Not a use.
    public func peek(_ key: EntryKey) -> LRUList<EntryKey, Payload>.Item? {
        withFreshShelf { $0.list.peek(key) }
    }

    /// The most recently used entries, newest first. Not a use. O(limit).
    public func newest(_ limit: Int) -> [(key: EntryKey, item: LRUList<EntryKey, Payload>.Item)] {
        withFreshShelf { $0.list.newest(limit) }
    }

    public func totals() -> TierTotals {
        shelf.withLock { TierTotals(entries: $0.list.count, bytes: $0.list.bytes) }
    }

    /// How many entries no other tier holds.
    public var aloneCount: Int { withFreshShelf { $0.list.aloneCount } }

    /// How many reads were answered here.
    public var hits: Int { shelf.withLock { $0.hits } }

    // MARK: Writing

    /// A stamp for a use that happens now.
    @inlinable
    public func stamp(at now: WallInstant) -> UseStamp {
        shelf.withLock { $0.nextStamp(at: now) }
    }

    /// Takes a value that was just written under the key, or forgets the old one where the new one is too large, or others may have
    /// written a newer one already.
    ///
    /// - Parameter change: The commit that wrote it, where others can know of it.
    @inlinable
    public func store(
        _ payload: Payload, forKey key: EntryKey, cost: Int, stamp: UseStamp, row: Int64, validity: Validity, wasPresent: Bool,
        change: OwnChange? = nil
    ) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            shelf.generations[Self.stripe(of: key)] &+= 1
            if !shelf.watches.isEmpty { shelf.watches.didWrite(key) }
            if !isFresh(shelf), change?.previous != shelf.heard { catchUp(&shelf, &leftovers.payloads) }
            guard take(change, in: &shelf) else {
                leftovers.payloads.append(payload)
                if row == 0 { leftovers.lostKeys.append(key) }
                if let old = shelf.list.remove(key) { leftovers.payloads.append(old.payload) }
                return leftovers
            }
            // The first stamp of a new row is in the row itself; of an old row the disk must be told.
            let isUntold = wasPresent && row != 0
            let item = LRUList<EntryKey, Payload>.Item(
                payload: payload, cost: cost, stamp: stamp, row: row, validity: validity, isUntold: isUntold)
            if isUntold { shelf.backlog.remove(row: row) }
            put(item, key, in: &shelf, &leftovers)
            return leftovers
        }
    }

    /// Takes a value that was just read from the disk, unless something was written under the key meanwhile. A use.
    @inlinable
    public func fill(
        _ payload: Payload, forKey key: EntryKey, cost: Int, row: Int64, validity: Validity, ticket: FillTicket, at now: WallInstant
    ) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            let stamp = shelf.nextStamp(at: now)
            guard shelf.generations[ticket.stripe] == ticket.generation, cost <= shelf.capacity.bytes else {
                leftovers.wakesDisk = !shelf.backlog.hasWaiting
                shelf.backlog.add(row: row, stamp: stamp)
                leftovers.payloads.append(payload)
                return leftovers
            }
            shelf.backlog.remove(row: row)
            let item = LRUList<EntryKey, Payload>.Item(
                payload: payload, cost: cost, stamp: stamp, row: row, validity: validity, isUntold: true)
            put(item, key, in: &shelf, &leftovers)
            leftovers.isPressing = shelf.backlog.count > Shelf.mostUntaken
            return leftovers
        }
    }

    /// Puts another payload for the same value in the place of what is under the key. Not a use.
    ///
    /// - Parameter replacement: Says what for, or `nil` to leave it. Runs inside the lock.
    @usableFromInline
    func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) {
        shelf.withLock { $0.list.exchange(key, replacement) }
    }

    /// Forgets what is under the key.
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it, who would not see it come back. That an entry expired or was not used is no such
    ///     thing: whoever is loading a new value under the key may go on.
    ///   - change: The commit that removed it, where others can know of it.
    public func remove(_ key: EntryKey, isWrite: Bool = false, change: OwnChange? = nil) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            _ = take(change, in: &shelf)
            shelf.generations[Self.stripe(of: key)] &+= 1
            if isWrite, !shelf.watches.isEmpty { shelf.watches.didWrite(key) }
            if let item = shelf.list.remove(key) { leftovers.payloads.append(item.payload) }
            return leftovers
        }
    }

    /// Forgets these entries, where they are still what is under their keys. O(entries).
    func remove(_ entries: [RemovedEntry]) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            for entry in entries {
                shelf.generations[Self.stripe(of: entry.key)] &+= 1  // A reader may be on its way up with what just left.
                guard shelf.list.peek(entry.key)?.row == entry.row, let item = shelf.list.remove(entry.key) else { continue }
                leftovers.payloads.append(item.payload)
            }
            return leftovers
        }
    }

    /// Forgets everything. O(n).
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it all.
    ///   - change: The commit that removed it all, where others can know of it.
    public func removeAll(isWrite: Bool = false, change: OwnChange? = nil) -> Leftovers {
        shelf.withLock { shelf in
            _ = take(change, in: &shelf)
            if isWrite { shelf.watches.didWriteAll() }
            for stripe in shelf.generations.indices { shelf.generations[stripe] &+= 1 }
            shelf.backlog.removeAll()
            var leftovers = Leftovers()
            leftovers.payloads = shelf.list.removeAll()
            return leftovers
        }
    }

    /// Notes that the disk no longer holds these entries, and returns the keys that are not here either.
    @inlinable
    public func markAlone(_ keys: [EntryKey]) -> [EntryKey] {
        guard !keys.isEmpty else { return [] }
        return shelf.withLock { shelf in
            keys.filter { key in
                shelf.generations[Self.stripe(of: key)] &+= 1  // A reader may be on its way up with what just left.
                return !shelf.list.markAlone(key)
            }
        }
    }

    /// The same, for entries that left the disk by no write of this store: what is under a key now may be a later one.
    func markAlone(_ entries: [RemovedEntry]) -> [EntryKey] {
        shelf.withLock { shelf in
            entries.compactMap { entry in
                shelf.generations[Self.stripe(of: entry.key)] &+= 1
                guard let present = shelf.list.peek(entry.key) else { return entry.key }
                if present.row == entry.row { _ = shelf.list.markAlone(entry.key) }
                return nil
            }
        }
    }

    /// Evicts until at most so many bytes are held. Entries that the disk holds are still found there. O(evicted).
    public func trim(toBytes bytes: Int) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            while shelf.list.bytes > max(0, bytes), evictOldest(in: &shelf, &leftovers) {}
            return leftovers
        }
    }

    /// How much the tier may hold.
    public var capacity: Capacity { shelf.withLock { $0.capacity } }

    /// Changes how much the tier may hold, and evicts what is over it. O(evicted).
    public func setCapacity(_ capacity: Capacity, onlyRaising: Bool = false) -> Leftovers {
        shelf.withLock { shelf in
            var leftovers = Leftovers()
            if !onlyRaising || capacity.isAtLeast(shelf.capacity) { shelf.capacity = capacity }
            keepLimits(of: &shelf, &leftovers)
            return leftovers
        }
    }

    // MARK: The order of use

    /// The last use of an entry, if it is known here.
    public func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp? {
        shelf.withLock { shelf in
            if let item = shelf.list.peek(key), item.row == row { return item.stamp }
            return shelf.backlog.stamp(row: row)
        }
    }

    /// Makes every later stamp greater than this one.
    public func raiseStamp(to stamp: UseStamp) {
        shelf.withLock { $0.lastStamp = max($0.lastStamp, stamp) }
    }

    /// Uses that the disk has not been told of, at most `limit`, until ``finishUses(written:)``. O(limit), and O(n log n) once for n that wait.
    public func takeUses(limit: Int) -> [Use] {
        var (uses, isMore) = ([Use](), true)
        while uses.count < limit, isMore {
            let left = limit - uses.count
            let sorted = shelf.withLock { $0.backlog.leave() }.sorted { $0.row > $1.row }
            let taken: [Use]
            (taken, isMore) = shelf.withLock { shelf in
                if !sorted.isEmpty { shelf.backlog.line(up: sorted) }
                let present = shelf.list.takeUntold(left)
                shelf.backlog.take(present)
                return (present + shelf.backlog.take(left - present.count), shelf.backlog.hasWaiting)
            }
            uses += taken
        }
        return uses
    }

    /// The uses that were taken are written down, or must be told again. O(uses taken).
    public func finishUses(written: Bool) {
        shelf.withLock { $0.backlog.finish(written: written) }
    }

    /// All the uses that may not be written down yet, without taking them. O(uses).
    public func pendingUses() -> [Use] {
        let (present, others) = shelf.withLock { ($0.list.pendingUntold(), $0.backlog) }
        return present + others.all.map { Use(row: $0.key, stamp: $0.value) }
    }

    /// How many uses are to be taken, or a few more.
    public var untakenUseCount: Int { shelf.withLock { $0.list.untoldCount + $0.backlog.count } }

    // MARK: Inside the lock

    @inlinable
    func put(_ item: LRUList<EntryKey, Payload>.Item, _ key: EntryKey, in shelf: inout Shelf, _ leftovers: inout Leftovers) {
        let hadUses = shelf.list.hasUntold || shelf.backlog.hasWaiting
        guard item.cost <= shelf.capacity.bytes else {
            if let old = shelf.list.remove(key) { leftovers.payloads.append(old.payload) }
            if item.isUntold {
                shelf.backlog.add(row: item.row, stamp: item.stamp)
                leftovers.wakesDisk = !hadUses
            }
            return
        }
        if let old = shelf.list.insert(item, forKey: key) { leftovers.payloads.append(old.payload) }
        follow(key, in: &shelf)
        keepLimits(of: &shelf, &leftovers)
        leftovers.wakesDisk = item.isUntold && !hadUses
    }

    @inlinable
    func keepLimits(of shelf: inout Shelf, _ leftovers: inout Leftovers) {
        while shelf.capacity.isExceeded(byBytes: shelf.list.bytes, entries: shelf.list.count) {
            guard evictOldest(in: &shelf, &leftovers) else { break }
        }
    }

    @inlinable
    func evictOldest(in shelf: inout Shelf, _ leftovers: inout Leftovers) -> Bool {
        guard let key = shelf.list.oldestKey, let item = shelf.list.remove(key) else { return false }
        leftovers.payloads.append(item.payload)
        leftovers.evictions += 1
        if item.row == 0 {
            leftovers.lostKeys.append(key)
        } else if item.isUntold {
            shelf.backlog.add(row: item.row, stamp: item.stamp)
        }
        return true
    }

    @inlinable
    static func stripe(of key: EntryKey) -> Int { stripe(of: key.sharedHash) }

    @inlinable
    static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & 63) }

    /// Stops if the list is not whole: for tests. O(n).
    public func checkInvariants() {
        shelf.withLock { $0.list.checkInvariants() }
    }
}
