public import Synchronization

/// A bounded cache of entries in memory, in exact order of use, safe on any thread.
///
/// ```swift
/// let cache = MemoryCache<String>(capacity: try Capacity(1.megaByte))
/// ```
///
/// Its entries are in parts with a lock each, by the hash of their keys: see ``Parts``. A hit takes the lock of its part and a stamp, so the
/// order of two hits is that of their stamps, whichever parts they are in. Evicted payloads are released outside the locks.
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
        package init() {}
    }

    @usableFromInline let parts: Parts<Part>
    /// What writes and misses need. Its lock is taken inside those of the parts.
    @usableFromInline let shared: Locked<Shared>
    /// The changes by other processes; `nil` if there can be none.
    @usableFromInline let feed: (any ChangeFeed)?
    @usableFromInline let generation: Generation?
    /// What selects the part of a key: that by which other processes announce it.
    @usableFromInline let hash: SeededHash
    /// Whether there ever was an entry that is not on disk. Most archives have none, so queries need not ask each part.
    @usableFromInline let mayHaveMemoryOnly = Atomic(false)

    @usableFromInline package init(capacity: Capacity, following feed: (any ChangeFeed)? = nil) {
        self.feed = feed
        generation = feed?.generation
        hash = feed?.hash ?? .random()
        let seen = feed?.generation.value ?? 0
        parts = Parts { Part(lastSeenGeneration: seen) }
        shared = Locked(Shared(capacity: capacity))
    }

    /// The entries whose keys have some of the hashes.
    @usableFromInline
    struct Part: CachePart {
        @usableFromInline var list = EntryList<Payload>()
        // The generation up to which changes by other processes were followed, and the table needed for that after the first change.
        @usableFromInline var lastSeenGeneration: UInt64
        @usableFromInline var keysByHash: KeysByHash?

        init(lastSeenGeneration: UInt64) { self.lastSeenGeneration = lastSeenGeneration }

        @inlinable var usage: StorageUsage { StorageUsage(entries: list.count, bytes: list.bytes) }

        @inlinable
        mutating func oldestUse() -> UseStamp? { list.list.oldest()?.stamp }
    }

    @usableFromInline
    struct Shared: Sendable {
        @usableFromInline var versions = WriteVersions<EntryKey>()
        // Touches of entries that are not in memory and may not be on disk yet.
        @usableFromInline var recency = RecencyBuffer()
        /// Where the next touches are taken.
        var nextPart = 0
        @usableFromInline var capacity: Capacity

        // About four megabytes of pending touches.
        @inlinable static var mostPending: Int { 65_536 }

        init(capacity: Capacity) { self.capacity = capacity }
    }

    // MARK: Reading

    /// Returns the payload under the key if it is valid. Affects the eviction order.
    ///
    /// - Parameters:
    ///   - expiration: The reader's expiration, for entries that have none of their own.
    ///   - notifiesDisk: Set if touches are pending for the disk that were not before.
    @inlinable
    package func use(_ key: EntryKey, at now: WallInstant, under expiration: Expiration = .never, notifiesDisk: inout Bool) -> Payload? {
        var isBehind = false
        let index = index(of: key)
        let found = parts.withLock(index) { part -> Payload? in
            guard isFresh(part) else {
                isBehind = true
                return nil
            }
            return use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk, in: &part, index)
        }
        return isBehind ? useAfterCatchingUp(key, at: now, under: expiration, notifiesDisk: &notifiesDisk) : found
    }

    @inlinable
    func use(
        _ key: EntryKey, at now: WallInstant, under expiration: Expiration, notifiesDisk: inout Bool, in part: inout Part, _ index: Int
    ) -> Payload? {
        guard let slot = part.list.slot(of: key), part.list.isValid(slot, at: now, key, under: expiration) else { return nil }
        parts.countHit(index)
        notifiesDisk = part.list.touch(slot, stamp: parts.clock.stamp(at: now))
        return part.list.list.payload(slot)
    }

    /// Returns a ticket for a reader that missed the key and is about to read the disk.
    @inlinable
    package func ticket(forMissed key: EntryKey) -> FillTicket {
        withFreshPart(of: key) { _ in
            // While another process writes the key, the disk may return either value.
            if let feed, feed.isChanging(key) { return nil }
            return shared.withLock { $0.versions.ticket(stripe(of: key)) }
        }
    }

    /// Returns the entry under the key, valid or not. Does not affect the eviction order.
    @usableFromInline package func peek(_ key: EntryKey) -> Item? {
        withFreshPart(of: key) { $0.list.peek(key) }
    }

    /// Returns all entries, most recently used first. Does not affect the eviction order. O(n log n).
    @usableFromInline package func newest() -> [(key: EntryKey, item: Item)] {
        newest { part in part.list.list.newest { _ in true } }
    }

    /// Returns the entries that are not on disk, most recently used first. Does not affect the eviction order. O(n log n).
    @usableFromInline package func newestMemoryOnly() -> [(key: EntryKey, item: Item)] {
        newest { part in part.list.memoryOnlyCount > 0 ? part.list.list.newest { $0.entryID == 0 } : [] }
    }

    private func newest(_ entries: (Part) -> [(key: EntryKey, item: Item)]) -> [(key: EntryKey, item: Item)] {
        var found: [(key: EntryKey, item: Item)] = []
        withFreshParts { found += entries($0) }
        return found.sorted { $0.item.stamp > $1.item.stamp }
    }

    @usableFromInline package func totals() -> StorageUsage { parts.usage }

    /// The number of entries that are not on disk.
    @usableFromInline package var memoryOnlyCount: Int {
        guard mayHaveMemoryOnly.load(ordering: .relaxed) else { return 0 }
        var count = 0
        withFreshParts { count += $0.list.memoryOnlyCount }
        return count
    }

    /// The number of reads that memory answered. Takes no lock.
    @usableFromInline package var hits: Int { parts.hitCount }

    // MARK: Writing

    /// Returns a stamp for an access that happens now.
    @inlinable
    package func stamp(at now: WallInstant) -> UseStamp { parts.clock.stamp(at: now) }

    /// Stores an entry that was just written to the disk. Drops the old entry instead if the new one is too large, or another process may
    /// already have overwritten it.
    ///
    /// - Parameter change: The commit of the write, if other processes can see it.
    @inlinable
    package func store(_ item: Item, forKey key: EntryKey, change: OwnChange? = nil) -> DeferredEffects {
        var effects = DeferredEffects()
        parts.update(index(of: key)) { part in
            shared.withLock { $0.versions.recordWrite(of: key, stripe(of: key)) }
            if !isFresh(part), change?.previous != part.lastSeenGeneration { catchUp(&part, &effects.payloads) }
            guard take(change, in: &part) else {
                effects.payloads.append(item.payload)
                if item.entryID == 0 { effects.lostKeys.append(key) }
                if let old = part.list.remove(key) { effects.payloads.append(old.payload) }
                return
            }
            if item.isDirty { shared.withLock { $0.recency.remove(entryID: item.entryID) } }
            put(item, key, in: &part, &effects)
        }
        takeEverywhere(change)
        keepLimits(&effects)
        return effects
    }

    /// Stores an entry that was just read, as used now, unless the key was written in the meantime. Affects the eviction order.
    @inlinable
    package func fill(_ entry: Item, forKey key: EntryKey, ticket: FillTicket, at now: WallInstant) -> DeferredEffects {
        var effects = DeferredEffects()
        parts.update(index(of: key)) { part in
            let item = entry.used(parts.clock.stamp(at: now))
            let isKept = shared.withLock { shared in
                guard let ticket, shared.versions.isCurrent(ticket), item.cost <= shared.capacity.bytes else {
                    guard item.isDirty else { return false }
                    effects.notifiesDisk = !shared.recency.hasWaiting
                    shared.recency.add(entryID: item.entryID, stamp: item.stamp)
                    return false
                }
                shared.recency.remove(entryID: item.entryID)
                return true
            }
            guard isKept else { return effects.payloads.append(item.payload) }
            put(item, key, in: &part, &effects)
        }
        keepLimits(&effects)
        effects.isUrgent = effects.evictions > 0 && shared.withLock { $0.recency.count > Shared.mostPending }
        return effects
    }

    /// Replaces the payload under the key with another payload of the same value. Does not affect the eviction order.
    ///
    /// - Parameter replacement: Returns the replacement, or `nil` to keep the payload. Runs inside the lock.
    package func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) {
        parts.withLock(index(of: key)) { $0.list.exchange(key, replacement) }
    }

    /// Removes the entry under the key from memory.
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it, so that no running load of the key may restore it. Expiry does not count as a write: a
    ///     load that is running then may store its result.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func remove(_ key: EntryKey, isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        var effects = DeferredEffects()
        parts.update(index(of: key)) { part in
            _ = take(change, in: &part)
            shared.withLock { shared in
                if isWrite {
                    shared.versions.recordWrite(of: key, stripe(of: key))
                } else {
                    shared.versions.invalidateTickets(stripe(of: key))
                }
            }
            if let item = part.list.remove(key) { effects.payloads.append(item.payload) }
        }
        takeEverywhere(change)
        return effects
    }

    /// Removes an entry from memory, unless another entry has replaced it.
    ///
    /// - Parameters:
    ///   - id: The entry's id on disk.
    ///   - keepingUse: Whether its last use is still to be written: an entry that has another key now.
    package func remove(_ key: EntryKey, entryID id: Int64, keepingUse: Bool, _ effects: inout DeferredEffects) {
        parts.update(index(of: key)) { part in
            shared.withLock { $0.versions.invalidateTickets(stripe(of: key)) }
            guard part.list.peek(key)?.entryID == id, let item = part.list.remove(key) else { return }
            if keepingUse, item.isDirty { shared.withLock { $0.recency.add(entryID: item.entryID, stamp: item.stamp) } }
            effects.payloads.append(item.payload)
        }
    }

    /// Removes every entry from memory. O(n).
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes everything.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func removeAll(isWrite: Bool = false, change: OwnChange? = nil) -> DeferredEffects {
        var effects = DeferredEffects()
        var isFirst = true
        parts.updateAll { part in
            // All parts are locked when the first is visited.
            if isFirst {
                isFirst = false
                shared.withLock { shared in
                    if isWrite { shared.versions.recordWriteOfAll() } else { shared.versions.invalidateTickets() }
                    shared.recency.removeAll()
                }
            }
            _ = take(change, in: &part)
            effects.payloads += part.list.removeAll()
        }
        return effects
    }

    /// Marks these entries as no longer on disk, and returns the keys of those that are not in memory either.
    @inlinable
    package func markMemoryOnly(_ keys: [EntryKey]) -> [EntryKey] {
        keys.filter { key in
            parts.withLock(index(of: key)) { part in
                shared.withLock { $0.versions.invalidateTickets(stripe(of: key)) }
                guard part.list.markMemoryOnly(key) else { return true }
                mayHaveMemoryOnly.store(true, ordering: .relaxed)
                return false
            }
        }
    }

    /// Marks an entry as no longer on disk, unless another entry has replaced it. Returns whether the key is in memory.
    package func markMemoryOnly(_ key: EntryKey, entryID id: Int64) -> Bool {
        parts.withLock(index(of: key)) { part in
            shared.withLock { $0.versions.invalidateTickets(stripe(of: key)) }
            guard let present = part.list.peek(key) else { return false }
            if present.entryID == id, part.list.markMemoryOnly(key) { mayHaveMemoryOnly.store(true, ordering: .relaxed) }
            return true
        }
    }

    /// Evicts entries until memory holds at most so many bytes. Entries on disk stay there. O(evicted).
    @usableFromInline package func trim(toBytes bytes: Int) -> DeferredEffects {
        var effects = DeferredEffects()
        parts.evict {
            parts.usage.bytes > max(0, bytes)
        } _: {
            evictOldest(in: &$0, &effects)
        }
        return effects
    }

    /// The limit of memory.
    @inlinable package var capacity: Capacity { shared.withLock { $0.capacity } }

    /// Changes the limit of memory, and evicts what exceeds it. O(evicted).
    @usableFromInline package func setCapacity(_ capacity: Capacity, onlyRaising: Bool = false) -> DeferredEffects {
        shared.withLock { shared in
            if !onlyRaising || capacity.isAtLeast(shared.capacity) { shared.capacity = capacity }
        }
        var effects = DeferredEffects()
        keepLimits(&effects)
        return effects
    }

    /// Evicts what exceeds the limit. Called without a lock. O(evicted).
    @inlinable
    func keepLimits(_ effects: inout DeferredEffects) {
        let capacity = capacity
        parts.evict {
            let usage = parts.usage
            return capacity.isExceeded(byBytes: usage.bytes, entries: usage.entries)
        } _: {
            evictOldest(in: &$0, &effects)
        }
    }

    // MARK: Inside the lock of a part

    @inlinable
    func put(_ item: Item, _ key: EntryKey, in part: inout Part, _ effects: inout DeferredEffects) {
        let hadUses = part.list.hasDirty
        guard item.cost <= capacity.bytes else {
            if let old = part.list.remove(key) { effects.payloads.append(old.payload) }
            if item.isDirty {
                effects.notifiesDisk = shared.withLock { shared in
                    defer { shared.recency.add(entryID: item.entryID, stamp: item.stamp) }
                    return !shared.recency.hasWaiting
                }
            }
            return
        }
        if item.entryID == 0 { mayHaveMemoryOnly.store(true, ordering: .relaxed) }
        if let old = part.list.insert(item, forKey: key) { effects.payloads.append(old.payload) }
        follow(key, in: &part)
        effects.notifiesDisk = item.isDirty && !hadUses
    }

    @inlinable
    func evictOldest(in part: inout Part, _ effects: inout DeferredEffects) {
        guard let key = part.list.list.oldest()?.key, let item = part.list.remove(key) else { return }
        effects.payloads.append(item.payload)
        effects.evictions += 1
        if item.entryID == 0 {
            effects.lostKeys.append(key)
        } else if item.isDirty {
            shared.withLock { $0.recency.add(entryID: item.entryID, stamp: item.stamp) }
        }
    }

    @inlinable
    func index(of key: EntryKey) -> Int { parts.index(ofHash: hash.of(key)) }

    @inlinable
    func stripe(of key: EntryKey) -> Int { Self.stripe(of: hash.of(key)) }

    @inlinable
    static func stripe(of hash: UInt64) -> Int { WriteVersions<EntryKey>.stripe(ofHash: Int(truncatingIfNeeded: hash)) }

    /// Stops the process if the parts are inconsistent. For tests. O(n).
    @usableFromInline package func checkInvariants() {
        var usage = StorageUsage()
        parts.updateAll { part in
            part.list.checkInvariants()
            usage.entries += part.usage.entries
            usage.bytes += part.usage.bytes
        }
        precondition(usage == parts.usage, "The parts have \(usage), not \(parts.usage).")
    }
}
