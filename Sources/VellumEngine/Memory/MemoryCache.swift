internal import Foundation
public import VellumCore

/// A bounded cache of entries in memory, in exact order of use, safe on any thread: the locked wrapper of an ``LRUList``.
///
/// ```swift
/// let cache = MemoryCache<String>(capacity: try Capacity(1.megaByte))
/// ```
///
/// With concurrent readers the order is exact except for operations in progress. Evicted payloads are released outside the lock. The single
/// lock is an implementation detail: the interface allows several parts with a lock each.
///
/// - Complexity: O(1) for every call unless stated otherwise. A hit does not allocate.
@usableFromInline package final class MemoryCache<Payload: Sendable>: Sendable {
    /// An entry in memory with its metadata.
    @usableFromInline package typealias Item = LRUList<EntryKey, Payload, EntryFacts>.Item

    /// Shows that no write of a key has happened since a reader missed it; `nil` while another process writes the key.
    @usableFromInline package typealias FillTicket = WriteVersions<EntryKey>.Ticket?

    /// Work to do outside the lock: payloads to release, and keys of entries that are now neither in memory nor on disk.
    @usableFromInline package struct DeferredEffects: Sendable {
        @usableFromInline package var payloads: [Payload] = []
        @usableFromInline package var lostKeys: [EntryKey] = []
        @usableFromInline package var evictions = 0
        /// Whether touches are pending for the disk that were not before.
        @usableFromInline package var notifiesDisk = false
        /// Whether so many touches are pending that the caller should write some to the disk.
        @usableFromInline package var isUrgent = false

        @inlinable
        init() {}
    }

    @usableFromInline let state: Locked<State>
    /// The changes by other processes; `nil` if there can be none.
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
        @usableFromInline var versions = WriteVersions<EntryKey>()
        // Touches of entries that are not in the list and may not be on disk yet.
        @usableFromInline var recency = RecencyBuffer()

        // The generation up to which changes by other processes were followed, and the table needed for that after the first change.
        @usableFromInline var lastSeenGeneration: UInt64
        @usableFromInline var keysByHash: KeysByHash?

        // About four megabytes of pending touches.
        @inlinable static var mostPending: Int { 65_536 }
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

    /// Returns the payload under the key if it is valid, and moves it to the front.
    ///
    /// - Parameters:
    ///   - expiration: The reader's expiration, for entries that have none of their own.
    ///   - notifiesDisk: Set if touches are pending for the disk that were not before.
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

    /// Returns a ticket for a reader that missed the key and is about to read the disk.
    @usableFromInline package func ticket(forMissed key: EntryKey) -> FillTicket {
        withFreshState { state in
            // While another process writes the key, the disk may return either value.
            if let feed, feed.isChanging(key.sharedHash) { return nil }
            return state.versions.ticket(Self.stripe(of: key))
        }
    }

    /// Returns the entry under the key, valid or not. Does not affect the eviction order.
    @usableFromInline package func peek(_ key: EntryKey) -> Item? {
        withFreshState { $0.list.peek(key) }
    }

    /// Returns the most recently used entries, newest first. Does not affect the eviction order. O(limit).
    @usableFromInline package func newest(_ limit: Int) -> [(key: EntryKey, item: Item)] {
        withFreshState { $0.list.newest(limit) }
    }

    @usableFromInline package func totals() -> StorageUsage {
        state.withLock { StorageUsage(entries: $0.list.count, bytes: $0.list.bytes) }
    }

    /// The number of entries that are not on disk.
    @usableFromInline package var memoryOnlyCount: Int { withFreshState { $0.list.memoryOnlyCount } }

    /// The number of reads that memory answered.
    @usableFromInline package var hits: Int { state.withLock { $0.hits } }

    // MARK: Writing

    /// Returns a stamp for an access that happens now.
    @inlinable
    package func stamp(at now: WallInstant) -> UseStamp {
        state.withLock { $0.nextStamp(at: now) }
    }

    /// Stores an entry that was just written to the disk. Drops the old entry instead if the new one is too large, or another process may
    /// already have overwritten it.
    ///
    /// - Parameter change: The commit of the write, if other processes can see it.
    @inlinable
    package func store(_ item: Item, forKey key: EntryKey, change: OwnChange? = nil) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            state.versions.recordWrite(of: key, Self.stripe(of: key))
            if !isFresh(state), change?.previous != state.lastSeenGeneration { catchUp(&state, &effects.payloads) }
            guard take(change, in: &state) else {
                effects.payloads.append(item.payload)
                if item.entryID == 0 { effects.lostKeys.append(key) }
                if let old = state.list.remove(key) { effects.payloads.append(old.payload) }
                return effects
            }
            if item.isDirty { state.recency.remove(entryID: item.entryID) }
            put(item, key, in: &state, &effects)
            return effects
        }
    }

    /// Stores an entry that was just read from the disk, as used now, unless the key was written in the meantime. Affects the eviction order.
    @inlinable
    package func fill(_ entry: Item, forKey key: EntryKey, ticket: FillTicket, at now: WallInstant) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            let item = entry.used(state.nextStamp(at: now))
            guard let ticket, state.versions.isCurrent(ticket), item.cost <= state.capacity.bytes else {
                effects.notifiesDisk = !state.recency.hasWaiting
                state.recency.add(entryID: item.entryID, stamp: item.stamp)
                effects.payloads.append(item.payload)
                return effects
            }
            state.recency.remove(entryID: item.entryID)
            put(item, key, in: &state, &effects)
            effects.isUrgent = state.recency.count > State.mostPending
            return effects
        }
    }

    /// Replaces the payload under the key with another payload of the same value. Does not affect the eviction order.
    ///
    /// - Parameter replacement: Returns the replacement, or `nil` to keep the payload. Runs inside the lock.
    @usableFromInline
    func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) {
        state.withLock { $0.list.exchange(key, replacement) }
    }

    /// Removes the entry under the key from memory.
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it, so that no running load of the key may restore it. Expiry does not count as a write: a
    ///     load that is running then may store its result.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func remove(_ key: EntryKey, isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            _ = take(change, in: &state)
            if isWrite {
                state.versions.recordWrite(of: key, Self.stripe(of: key))
            } else {
                state.versions.invalidateTickets(Self.stripe(of: key))
            }
            if let item = state.list.remove(key) { effects.payloads.append(item.payload) }
            return effects
        }
    }

    /// Removes these entries from memory, unless other entries have replaced them. O(entries).
    ///
    /// - Parameter keepingUses: Whether their uses are still to be written: an entry that has another key now.
    func remove(_ entries: [RemovedEntry], keepingUses: Bool = false) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            for entry in entries {
                state.versions.invalidateTickets(Self.stripe(of: entry.key))
                guard state.list.peek(entry.key)?.entryID == entry.id, let item = state.list.remove(entry.key) else { continue }
                if keepingUses, item.isDirty { state.recency.add(entryID: item.entryID, stamp: item.stamp) }
                effects.payloads.append(item.payload)
            }
            return effects
        }
    }

    /// Removes every entry from memory. O(n).
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes everything.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func removeAll(isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        state.withLock { state in
            _ = take(change, in: &state)
            if isWrite { state.versions.recordWriteOfAll() } else { state.versions.invalidateTickets() }
            state.recency.removeAll()
            var effects = DeferredEffects()
            effects.payloads = state.list.removeAll()
            return effects
        }
    }

    /// Marks these entries as no longer on disk, and returns the keys of those that are not in memory either.
    @inlinable
    package func markMemoryOnly(_ keys: [EntryKey]) -> [EntryKey] {
        guard !keys.isEmpty else { return [] }
        return state.withLock { state in
            keys.filter { key in
                state.versions.invalidateTickets(Self.stripe(of: key))
                return !state.list.markMemoryOnly(key)
            }
        }
    }

    /// Does the same for entries that were not removed by a write of this store: later entries may have replaced them.
    func markMemoryOnly(_ entries: [RemovedEntry]) -> [EntryKey] {
        state.withLock { state in
            entries.compactMap { entry in
                state.versions.invalidateTickets(Self.stripe(of: entry.key))
                guard let present = state.list.peek(entry.key) else { return entry.key }
                if present.entryID == entry.id { _ = state.list.markMemoryOnly(entry.key) }
                return nil
            }
        }
    }

    /// Evicts entries until memory holds at most so many bytes. Entries on disk stay there. O(evicted).
    @usableFromInline package func trim(toBytes bytes: Int) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            while state.list.bytes > max(0, bytes), evictOldest(in: &state, &effects) {}
            return effects
        }
    }

    /// The limit of memory.
    @usableFromInline package var capacity: Capacity { state.withLock { $0.capacity } }

    /// Changes the limit of memory, and evicts what exceeds it. O(evicted).
    @usableFromInline package func setCapacity(_ capacity: Capacity, onlyRaising: Bool = false) -> DeferredEffects {
        state.withLock { state in
            var effects = DeferredEffects()
            if !onlyRaising || capacity.isAtLeast(state.capacity) { state.capacity = capacity }
            keepLimits(of: &state, &effects)
            return effects
        }
    }

    // MARK: Inside the lock

    @inlinable
    func put(_ item: Item, _ key: EntryKey, in state: inout State, _ effects: inout DeferredEffects) {
        let hadUses = state.list.hasDirty || state.recency.hasWaiting
        guard item.cost <= state.capacity.bytes else {
            if let old = state.list.remove(key) { effects.payloads.append(old.payload) }
            if item.isDirty {
                state.recency.add(entryID: item.entryID, stamp: item.stamp)
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
        if item.entryID == 0 {
            effects.lostKeys.append(key)
        } else if item.isDirty {
            state.recency.add(entryID: item.entryID, stamp: item.stamp)
        }
        return true
    }

    @inlinable
    static func stripe(of key: EntryKey) -> Int { stripe(of: key.sharedHash) }

    @inlinable
    static func stripe(of hash: UInt64) -> Int { WriteVersions<EntryKey>.stripe(ofHash: Int(truncatingIfNeeded: hash)) }

    /// Stops the process if the list is inconsistent. For tests. O(n).
    @usableFromInline package func checkInvariants() {
        state.withLock { $0.list.checkInvariants() }
    }
}
