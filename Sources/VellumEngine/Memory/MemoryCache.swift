internal import Foundation
public import VellumCore

/// Entries in memory, bounded, in exact order of use, for any thread: the locked shell of an ``LRUList``.
///
/// ```swift
/// let tier = MemoryCache<String>(capacity: try Capacity(1.megaByte))
/// ```
///
/// With concurrent readers the order is exact to within the operations in flight. Evicted payloads are released
/// outside the lock. Nobody else knows that there is one lock: several pieces, each with its own, would fit behind the same calls.
///
/// - Complexity: O(1) for every call, but for those that say otherwise. A hit allocates nothing.
@usableFromInline package final class MemoryCache<Payload: Sendable>: Sendable {
    /// An entry in memory, and what is known of it.
    @usableFromInline package typealias Item = LRUList<EntryKey, Payload, EntryFacts>.Item

    /// Proof that nothing was written under a key since a reader missed it.
    @usableFromInline package struct FillTicket: Sendable {
        @usableFromInline let stripe: Int
        @usableFromInline let generation: UInt64
    }

    /// Payloads to be released where no lock is held, and the keys of those that no tier holds any more.
    @usableFromInline package struct DeferredEffects: Sendable {
        @usableFromInline package var payloads: [Payload] = []
        @usableFromInline package var lostKeys: [EntryKey] = []
        @usableFromInline package var evictions = 0
        /// Whether the disk should hear of uses soon.
        @usableFromInline package var notifiesDisk = false
        /// Whether so many uses wait that whoever adds one should write some down.
        @usableFromInline package var isUrgent = false

        @inlinable
        init() {}
    }

    @usableFromInline let state: Locked<State>
    /// Held while the tier carries out a transaction, where it is a tier of entries: taken before the shelf's. The number of the
    /// last entry that was stored so.
    let revisions = Locked<UInt32>(0)
    /// Where changes by others are told of, if there can be any.
    let feed: ArchiveChanges?
    @usableFromInline let generation: Generation?

    @usableFromInline package init(capacity: Capacity, following feed: ArchiveChanges? = nil) {
        self.feed = feed
        generation = feed?.generation
        state = Locked(State(capacity: capacity, lastSeenGeneration: feed?.generation.value ?? 0))
    }

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var list = EntryList<Payload>()
        @usableFromInline var lastStamp = UseStamp.never
        @usableFromInline var hits = 0
        // A write moves the generation of its key's stripe, so that an older read is not put over it. Two keys of one
        // stripe only cost each other a promotion.
        @usableFromInline var generations = ContiguousArray<UInt64>(repeating: 0, count: 64)
        // Last uses that the disk may not have written down, of rows that are not in the list.
        @usableFromInline var recency = RecencyBuffer()

        // Keys whose writes and removals someone wants to know of. Almost always none.
        @usableFromInline var watches = WatchedKeys()

        // The generation up to which changes by others were heard of, and what is needed to follow them, once there was one.
        @usableFromInline var lastSeenGeneration: UInt64
        @usableFromInline var keysByHash: KeysByHash?

        // Three or four megabytes: more is not worth its memory.
        @inlinable static var mostUntaken: Int { 65_536 }
        @usableFromInline var capacity: Capacity

        init(capacity: Capacity, lastSeenGeneration: UInt64) {
            self.capacity = capacity
            self.lastSeenGeneration = lastSeenGeneration
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
    ///   - notifiesDisk: Set if it is the first use for a while that the disk must be told of.
    @inlinable
    package func use(_ key: EntryKey, at now: WallInstant, under expiration: Expiration = .never, notifiesDisk: inout Bool) -> Payload? {
        var isBehind = false
        let found = state.withLock { state -> Payload? in
            guard isFresh(state) else {
                isBehind = true
                return nil
            }
            return use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk, in: &state)
        }
        return isBehind ? useAfterCatchingUp(key, at: now, under: expiration, notifiesDisk: &notifiesDisk) : found
    }

    @inlinable
    func use(
        _ key: EntryKey, at now: WallInstant, under expiration: Expiration, notifiesDisk: inout Bool, in state: inout State
    ) -> Payload? {
        guard let slot = state.list.slot(of: key), state.list.isValid(slot, at: now, key, under: expiration) else { return nil }
        state.hits &+= 1
        notifiesDisk = state.list.touch(slot, stamp: state.nextStamp(at: now))
        return state.list.list.payload(slot)
    }

    /// A ticket for whoever missed the key and now looks elsewhere.
    @usableFromInline package func ticket(forMissed key: EntryKey) -> FillTicket {
        withFreshShelf { state in
            let stripe = Self.stripe(of: key)
            // While another process writes under the key, nobody knows which value will be found.
            if let feed, feed.isChanging(key.sharedHash) { return FillTicket(stripe: stripe, generation: .max) }
            return FillTicket(stripe: stripe, generation: state.generations[stripe])
        }
    }

    /// The entry under the key, valid or not. Not a use.
    @usableFromInline package func peek(_ key: EntryKey) -> Item? {
        withFreshShelf { $0.list.peek(key) }
    }

    /// The most recently used entries, newest first. Not a use. O(limit).
    @usableFromInline package func newest(_ limit: Int) -> [(key: EntryKey, item: Item)] {
        withFreshShelf { $0.list.newest(limit) }
    }

    @usableFromInline package func totals() -> StorageUsage {
        state.withLock { StorageUsage(entries: $0.list.count, bytes: $0.list.bytes) }
    }

    /// How many entries no other tier holds.
    @usableFromInline package var memoryOnlyCount: Int { withFreshShelf { $0.list.memoryOnlyCount } }

    /// How many reads were answered here.
    @usableFromInline package var hits: Int { state.withLock { $0.hits } }

    // MARK: Writing

    /// A stamp for a use that happens now.
    @inlinable
    package func stamp(at now: WallInstant) -> UseStamp {
        state.withLock { $0.nextStamp(at: now) }
    }

    /// Takes a value that was just written under the key, or forgets the old one where the new one is too large, or others may have
    /// written a newer one already.
    ///
    /// - Parameter change: The commit that wrote it, where others can know of it.
    @inlinable
    package func store(
        _ payload: Payload, forKey key: EntryKey, cost: Int, stamp: UseStamp, row: Int64, validity: Validity, wasPresent: Bool,
        change: OwnChange? = nil
    ) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            state.generations[Self.stripe(of: key)] &+= 1
            if !state.watches.isEmpty { state.watches.didWrite(key) }
            if !isFresh(state), change?.previous != state.lastSeenGeneration { catchUp(&state, &effects.payloads) }
            guard take(change, in: &state) else {
                effects.payloads.append(payload)
                if row == 0 { effects.lostKeys.append(key) }
                if let old = state.list.remove(key) { effects.payloads.append(old.payload) }
                return effects
            }
            // The first stamp of a new row is in the row itself; of an old row the disk must be told.
            let isDirty = wasPresent && row != 0
            let item = Item(
                payload: payload, cost: cost, stamp: stamp, row: row, validity: validity, isDirty: isDirty)
            if isDirty { state.recency.remove(row: row) }
            put(item, key, in: &state, &effects)
            return effects
        }
    }

    /// Takes a value that was just read from the disk, unless something was written under the key meanwhile. A use.
    @inlinable
    package func fill(
        _ payload: Payload, forKey key: EntryKey, cost: Int, row: Int64, validity: Validity, ticket: FillTicket, at now: WallInstant
    ) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            let stamp = state.nextStamp(at: now)
            guard state.generations[ticket.stripe] == ticket.generation, cost <= state.capacity.bytes else {
                effects.notifiesDisk = !state.recency.hasWaiting
                state.recency.add(row: row, stamp: stamp)
                effects.payloads.append(payload)
                return effects
            }
            state.recency.remove(row: row)
            let item = Item(
                payload: payload, cost: cost, stamp: stamp, row: row, validity: validity, isDirty: true)
            put(item, key, in: &state, &effects)
            effects.isUrgent = state.recency.count > State.mostUntaken
            return effects
        }
    }

    /// Puts another payload for the same value in the place of what is under the key. Not a use.
    ///
    /// - Parameter replacement: Says what for, or `nil` to leave it. Runs inside the lock.
    @usableFromInline
    func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) {
        state.withLock { $0.list.exchange(key, replacement) }
    }

    /// Forgets what is under the key.
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it, who would not see it come back. That an entry expired or was not used is no such
    ///     thing: whoever is loading a new value under the key may go on.
    ///   - change: The commit that removed it, where others can know of it.
    @usableFromInline package func remove(_ key: EntryKey, isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            _ = take(change, in: &state)
            state.generations[Self.stripe(of: key)] &+= 1
            if isWrite, !state.watches.isEmpty { state.watches.didWrite(key) }
            if let item = state.list.remove(key) { effects.payloads.append(item.payload) }
            return effects
        }
    }

    /// Forgets these entries, where they are still what is under their keys. O(entries).
    func remove(_ entries: [RemovedEntry]) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            for entry in entries {
                state.generations[Self.stripe(of: entry.key)] &+= 1  // A reader may be on its way up with what just left.
                guard state.list.peek(entry.key)?.row == entry.row, let item = state.list.remove(entry.key) else { continue }
                effects.payloads.append(item.payload)
            }
            return effects
        }
    }

    /// Forgets everything. O(n).
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it all.
    ///   - change: The commit that removed it all, where others can know of it.
    @usableFromInline package func removeAll(isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        state.withLock { state in
            _ = take(change, in: &state)
            if isWrite { state.watches.didWriteAll() }
            for stripe in state.generations.indices { state.generations[stripe] &+= 1 }
            state.recency.removeAll()
            var effects = DeferredEffects()
            effects.payloads = state.list.removeAll()
            return effects
        }
    }

    /// Notes that the disk no longer holds these entries, and returns the keys that are not here either.
    @inlinable
    package func markMemoryOnly(_ keys: [EntryKey]) -> [EntryKey] {
        guard !keys.isEmpty else { return [] }
        return state.withLock { state in
            keys.filter { key in
                state.generations[Self.stripe(of: key)] &+= 1  // A reader may be on its way up with what just left.
                return !state.list.markMemoryOnly(key)
            }
        }
    }

    /// The same, for entries that left the disk by no write of this store: what is under a key now may be a later one.
    func markMemoryOnly(_ entries: [RemovedEntry]) -> [EntryKey] {
        state.withLock { state in
            entries.compactMap { entry in
                state.generations[Self.stripe(of: entry.key)] &+= 1
                guard let present = state.list.peek(entry.key) else { return entry.key }
                if present.row == entry.row { _ = state.list.markMemoryOnly(entry.key) }
                return nil
            }
        }
    }

    /// Evicts until at most so many bytes are held. Entries that the disk holds are still found there. O(evicted).
    @usableFromInline package func trim(toBytes bytes: Int) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            while state.list.bytes > max(0, bytes), evictOldest(in: &state, &effects) {}
            return effects
        }
    }

    /// How much the tier may hold.
    @usableFromInline package var capacity: Capacity { state.withLock { $0.capacity } }

    /// Changes how much the tier may hold, and evicts what is over it. O(evicted).
    @usableFromInline package func setCapacity(_ capacity: Capacity, onlyRaising: Bool = false) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            if !onlyRaising || capacity.isAtLeast(state.capacity) { state.capacity = capacity }
            keepLimits(of: &state, &effects)
            return effects
        }
    }

    // MARK: The order of use

    /// The last use of an entry, if it is known here.
    @usableFromInline package func latestUse(ofKey key: EntryKey, row: Int64) -> UseStamp? {
        state.withLock { state in
            if let item = state.list.peek(key), item.row == row { return item.stamp }
            return state.recency.stamp(row: row)
        }
    }

    /// Makes every later stamp greater than this one.
    @usableFromInline package func raiseStamp(to stamp: UseStamp) {
        state.withLock { $0.lastStamp = max($0.lastStamp, stamp) }
    }

    /// Uses that the disk has not been told of, at most `limit`, until ``finishTouches(written:)``. O(limit), and O(n log n) once for n that wait.
    @usableFromInline package func takeTouches(limit: Int) -> [Touch] {
        var (uses, isMore) = ([Touch](), true)
        while uses.count < limit, isMore {
            let left = limit - uses.count
            let sorted = state.withLock { $0.recency.leave() }.sorted { $0.row > $1.row }
            let taken: [Touch]
            (taken, isMore) = state.withLock { state in
                if !sorted.isEmpty { state.recency.line(up: sorted) }
                let present = state.list.takeDirty(left)
                state.recency.take(present)
                return (present + state.recency.take(left - present.count), state.recency.hasWaiting)
            }
            uses += taken
        }
        return uses
    }

    /// The uses that were taken are written down, or must be told again. O(uses taken).
    @usableFromInline package func finishTouches(written: Bool) {
        state.withLock { $0.recency.finish(written: written) }
    }

    /// All the uses that may not be written down yet, without taking them. O(uses).
    @usableFromInline package func pendingTouches() -> [Touch] {
        let (present, others) = state.withLock { ($0.list.pendingDirty(), $0.recency) }
        return present + others.all.map { Touch(row: $0.key, stamp: $0.value) }
    }

    /// How many uses are to be taken, or a few more.
    @usableFromInline package var pendingTouchCount: Int { state.withLock { $0.list.dirtyCount + $0.recency.count } }

    // MARK: Inside the lock

    @inlinable
    func put(_ item: Item, _ key: EntryKey, in state: inout State, _ effects: inout DeferredEffects) {
        let hadUses = state.list.hasDirty || state.recency.hasWaiting
        guard item.cost <= state.capacity.bytes else {
            if let old = state.list.remove(key) { effects.payloads.append(old.payload) }
            if item.isDirty {
                state.recency.add(row: item.row, stamp: item.stamp)
                effects.notifiesDisk = !hadUses
            }
            return
        }
        if let old = state.list.insert(item, forKey: key) { effects.payloads.append(old.payload) }
        follow(key, in: &state)
        keepLimits(of: &state, &effects)
        effects.notifiesDisk = item.isDirty && !hadUses
    }

    @inlinable
    func keepLimits(of state: inout State, _ effects: inout DeferredEffects) {
        while state.capacity.isExceeded(byBytes: state.list.bytes, entries: state.list.count) {
            guard evictOldest(in: &state, &effects) else { break }
        }
    }

    @inlinable
    func evictOldest(in state: inout State, _ effects: inout DeferredEffects) -> Bool {
        guard let key = state.list.oldestKey, let item = state.list.remove(key) else { return false }
        effects.payloads.append(item.payload)
        effects.evictions += 1
        if item.row == 0 {
            effects.lostKeys.append(key)
        } else if item.isDirty {
            state.recency.add(row: item.row, stamp: item.stamp)
        }
        return true
    }

    @inlinable
    static func stripe(of key: EntryKey) -> Int { stripe(of: key.sharedHash) }

    @inlinable
    static func stripe(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & 63) }

    /// Stops if the list is not whole: for tests. O(n).
    @usableFromInline package func checkInvariants() {
        state.withLock { $0.list.checkInvariants() }
    }
}
