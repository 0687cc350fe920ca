public import Synchronization

/// A bounded cache of entries in memory, in order of use, safe on any thread.
///
/// ```swift
/// let cache = MemoryCache<String>(capacity: try Capacity(1.megaByte))
/// ```
///
/// A hit takes one of several locks, by its thread, and writes no line of memory that hits of other
/// threads write, unless they use the same entry: see ``ReadMostly``. Everything else takes all of
/// them. The order of use is exact for the uses of one thread, and for uses between which something
/// was stored or removed; other uses of different threads may stand in either order if they overlap
/// or begin in the same tick of the coarse clock. Evicted payloads are released outside the locks.
///
/// - Complexity: O(1) for every call unless stated otherwise. A hit does not allocate.
@usableFromInline package final class MemoryCache<Payload: Sendable>: Sendable {
    /// An entry in memory with its metadata.
    @usableFromInline package typealias Item = LRUList<EntryKey, Payload, EntryFacts>.Item

    /// Shows that no write of a key has happened since a reader missed it; `nil` while another
    /// process writes the key.
    @usableFromInline package typealias FillTicket = WriteVersions.Ticket?

    /// Work to do outside the lock: payloads to release, and keys of entries that are now neither
    /// in memory nor on disk.
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

    @usableFromInline let contents: ReadMostly<Contents, Notes>
    /// The changes by other processes; `nil` if there can be none.
    @usableFromInline let feed: (any ChangeFeed)?
    @usableFromInline let generation: Generation?
    /// The hash that finds keys: that by which other processes announce them.
    @usableFromInline let hash: SeededHash
    /// Whether there ever was an entry that is not on disk. Most archives have none, so that
    /// queries need not ask.
    @usableFromInline package let mayHaveMemoryOnly = Atomic(false)

    @usableFromInline package init(capacity: Capacity, following feed: (any ChangeFeed)? = nil) {
        self.feed = feed
        generation = feed?.generation
        hash = feed?.hash ?? .random()
        contents = ReadMostly(
            Contents(capacity: capacity, lastSeenGeneration: feed?.generation.value ?? 0)
        ) { number, count in
            Notes(stamps: UseStamps(number: number, count: count))
        }
    }

    /// What all threads share.
    @usableFromInline
    struct Contents: ~Copyable, Sendable {
        @usableFromInline var entries = EntryList<Payload>()
        @usableFromInline var versions = WriteVersions()
        @usableFromInline var watched = WatchedKeys()
        // Touches of entries that are not in memory and may not be on disk yet.
        @usableFromInline var recency = RecencyBuffer()
        @usableFromInline var capacity: Capacity
        // The generation up to which changes by other processes were followed.
        @usableFromInline var lastSeenGeneration: UInt64
        @usableFromInline var sample = UseSample()
        // How many entries were stored by writes.
        @usableFromInline var stores = 0

        // About four megabytes of pending touches.
        @inlinable static var mostPending: Int { 65_536 }

        init(capacity: Capacity, lastSeenGeneration: UInt64) {
            self.capacity = capacity
            self.lastSeenGeneration = lastSeenGeneration
        }

        @inlinable var isOverCapacity: Bool {
            capacity.isExceeded(byBytes: entries.list.totalCost, entries: entries.list.count)
        }
    }

    @usableFromInline typealias Notes = ReaderNotes

    // MARK: Reading

    /// Returns the payload under the key if it is valid. Affects the eviction order.
    @inlinable
    package func use(
        _ key: EntryKey,
        at now: WallInstant,
        under expiration: Expiration = .never,
        notifiesDisk: inout Bool
    ) -> Payload? {
        use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk) { copy $0 }
    }

    /// Returns what `take` takes out of the payload under the key if it is valid. Affects the
    /// eviction order.
    ///
    /// - Parameters:
    ///   - expiration: The reader's expiration, for entries that have none of their own.
    ///   - notifiesDisk: Set if touches are pending for the disk that were not before.
    ///   - ahead: What to ask of the validity of the entry. Not a closure, which hits without one
    ///     would pay for.
    ///   - take: Runs inside the lock.
    @inlinable
    package func use<Result>(
        _ key: EntryKey,
        at now: WallInstant,
        under expiration: Expiration = .never,
        notifiesDisk: inout Bool,
        ahead: RefreshAhead? = nil,
        _ take: (borrowing Payload) -> Result?
    ) -> Result? {
        let hash = hash.of(key)
        var needs = Needs.nothing
        let found = contents.read { contents, notes -> Result? in
            guard isFresh(contents.pointee) else {
                needs = .catchingUp
                return nil
            }
            guard let slot = contents.pointee.entries.list.slot(of: key, hash: hash),
                contents.pointee.entries.isValid(slot, at: now, key, under: expiration)
            else { return nil }
            notes.hits &+= 1
            if contents.pointee.sample.mayTake(hash),
                contents.pointee.note(slot, hash, at: now, &notes)
            {
                needs = .collecting
            }
            if contents.pointee.entries.touch(slot, notes.stamps.next(at: now)) {
                notes.dirty.append(slot)
                if notes.dirty.count == 1 { notifiesDisk = true }
                if notes.dirty.count >= Notes.mostDirty { needs = .collecting }
            }
            if let ahead,
                contents.pointee.entries.list[metadataOf: slot].validity.isPast(
                    ahead.part,
                    of: key,
                    at: now,
                    under: expiration
                )
            {
                ahead.isDue.pointee = true
            }
            return contents.pointee.entries.list.payload(slot, take)
        }
        if needs == .catchingUp {
            catchUp()
            return use(
                key,
                at: now,
                under: expiration,
                notifiesDisk: &notifiesDisk,
                ahead: ahead,
                take
            )
        }
        if needs == .collecting { collectDirty() }
        return found
    }

    /// What a hit asks for that needs all locks.
    @usableFromInline
    enum Needs { case nothing, collecting, catchingUp }

    /// Returns a ticket for a reader that missed the key and is about to read the disk.
    @inlinable
    package func ticket(forMissed key: EntryKey) -> FillTicket {
        let stripe = stripe(of: hash.of(key))
        return readFresh { contents in
            // While another process writes the key, the disk may return either value.
            if let feed, feed.isChanging(key) { return nil }
            return contents.pointee.versions.ticket(stripe)
        }
    }

    /// Returns the entry under the key, valid or not. Does not affect the eviction order.
    // Specialized where an update calls it, and inlined nowhere.
    @inlinable
    @inline(never)
    package func peek(_ key: EntryKey) -> Item? {
        let hash = hash.of(key)
        return readFresh { $0.pointee.entries.peek(key, hash: hash) }
    }

    /// Returns the id and the cost of the entry on disk under the key; `nil` if memory knows none.
    /// May be outdated.
    @inlinable
    package func known(_ key: EntryKey) -> (entryID: Int64, cost: Int)? {
        let hash = hash.of(key)
        return contents.read { contents, _ in
            guard let slot = contents.pointee.entries.list.slot(of: key, hash: hash) else {
                return nil
            }
            let id = contents.pointee.entries.list[metadataOf: slot].entryID
            return id == 0 ? nil : (id, contents.pointee.entries.list.cost(slot))
        }
    }

    /// Returns all entries, most recently used first. Does not affect the eviction order. O(n log
    /// n).
    @usableFromInline package func newest() -> [(key: EntryKey, item: Item)] {
        readFresh { $0.pointee.entries.list.newest() }
    }

    /// Returns the entries that are not on disk, most recently used first. Does not affect the
    /// eviction order. O(n log n).
    @usableFromInline package func newestMemoryOnly() -> [(key: EntryKey, item: Item)] {
        readFresh {
            $0.pointee.entries.memoryOnlyCount > 0
                ? $0.pointee.entries.list.newest { $0.entryID == 0 } : []
        }
    }

    @usableFromInline package func totals() -> StorageUsage {
        contents.read { contents, _ in contents.pointee.entries.usage }
    }

    /// The number of entries that are not on disk.
    @usableFromInline package var memoryOnlyCount: Int {
        mayHaveMemoryOnly.load(ordering: .relaxed)
            ? readFresh { $0.pointee.entries.memoryOnlyCount } : 0
    }

    /// The number of reads that memory answered.
    @usableFromInline package var hits: Int {
        contents.write { _, notes in
            var hits = 0
            notes.forEach { hits &+= $0.hits }
            return hits
        }
    }

    /// The number of writes that stored an entry.
    package var stores: Int { contents.read { contents, _ in contents.pointee.stores } }

    /// The limit of memory.
    @inlinable package var capacity: Capacity {
        contents.read { contents, _ in contents.pointee.capacity }
    }

    // MARK: Writing

    /// Returns a stamp for an access that happens now.
    @inlinable
    package func stamp(at now: WallInstant) -> UseStamp {
        contents.read { _, notes in notes.stamps.next(at: now) }
    }

    /// Stores an entry that was just written to the disk. Drops the old entry instead if the new
    /// one is too large, or another process may already have overwritten it.
    ///
    /// - Parameter change: The commit of the write, if other processes can see it.
    @inlinable
    package func store(
        _ item: Item,
        forKey key: EntryKey,
        change: OwnChange? = nil
    ) -> DeferredEffects {
        let hash = hash.of(key)
        if item.entryID == 0 { mayHaveMemoryOnly.store(true, ordering: .relaxed) }
        return changing { contents, notes, effects in
            recordWrite(hash, &contents)
            contents.stores &+= 1
            contents.sample(.write, item, hash, at: item.stamp.instant, notes)
            if !isFresh(contents), change?.previous != contents.lastSeenGeneration {
                catchUp(&contents, &effects.payloads)
            }
            guard contents.take(change) else {
                effects.payloads.append(item.payload)
                if item.entryID == 0 { effects.lostKeys.append(key) }
                if let old = contents.entries.remove(key, hash: hash) {
                    effects.payloads.append(old.payload)
                }
                return
            }
            if item.isDirty { contents.recency.remove(entryID: item.entryID) }
            contents.put(item, key, hash: hash, &effects)
        }
    }

    /// Stores an entry that was just read, as used now, unless the key was written in the meantime.
    /// Affects the eviction order.
    @inlinable
    package func fill(
        _ entry: Item,
        forKey key: EntryKey,
        ticket: FillTicket,
        at now: WallInstant
    ) -> DeferredEffects {
        let hash = hash.of(key)
        if entry.entryID == 0 { mayHaveMemoryOnly.store(true, ordering: .relaxed) }
        return changing { contents, notes, effects in
            contents.sample(.read, entry, hash, at: now, notes)
            contents.fill(
                entry.used(notes.next(at: now)),
                key,
                hash: hash,
                ticket,
                &effects
            )
        }
    }

    /// Replaces the payload under the key with another payload of the same value. Does not affect
    /// the eviction order.
    ///
    /// - Parameter replacement: Returns the replacement, or `nil` to keep the payload. Runs inside
    ///   the lock.
    @inlinable
    package func exchange(_ key: EntryKey, _ replacement: (Payload) -> Payload?) {
        let hash = hash.of(key)
        guard
            contents.read({ contents, _ in
                contents.pointee.entries.list.slot(of: key, hash: hash) != nil
            })
        else { return }
        contents.write { contents, _ in
            if let slot = contents.entries.list.slot(of: key, hash: hash) {
                contents.entries.list.exchange(slot, replacement)
            }
        }
    }

    /// Removes the entry under the key from memory.
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes it, so that no running load of the key may restore it.
    ///     Expiry does not count as a write: a load that is running then may store its result.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func remove(
        _ key: EntryKey,
        isWrite: Bool = false,
        change: OwnChange? = nil
    ) -> DeferredEffects {
        let hash = hash.of(key)
        return changing { contents, notes, effects in
            _ = contents.take(change)
            contents.sample.remove(hash, after: notes)
            if isWrite {
                recordWrite(hash, &contents)
            } else {
                contents.versions.invalidateTickets(stripe(of: hash))
            }
            if let item = contents.entries.remove(key, hash: hash) {
                effects.payloads.append(item.payload)
            }
        }
    }

    /// Removes an entry from memory, unless another entry has replaced it.
    ///
    /// - Parameters:
    ///   - id: The entry's id on disk.
    ///   - keepingUse: Whether its last use is still to be written: an entry that has another key
    ///     now.
    ///   - isEvicted: Whether it goes because of the limit.
    package func remove(
        _ key: EntryKey,
        entryID id: Int64,
        keepingUse: Bool,
        isEvicted: Bool = false,
        _ effects: inout DeferredEffects
    ) {
        let hash = hash.of(key)
        contents.write { contents, notes in
            contents.versions.invalidateTickets(stripe(of: hash))
            // Another limit would have kept it.
            if !isEvicted { contents.sample.remove(hash, after: notes) }
            guard contents.entries.peek(key, hash: hash)?.entryID == id,
                let item = contents.entries.remove(key, hash: hash)
            else { return }
            if keepingUse { contents.keepUse(of: item) }
            effects.payloads.append(item.payload)
        }
    }

    /// Removes every entry from memory. O(n).
    ///
    /// - Parameters:
    ///   - isWrite: Whether a caller removes everything.
    ///   - change: The commit of the removal, if other processes can see it.
    @usableFromInline package func removeAll(
        isWrite: Bool = false,
        change: OwnChange? = nil
    ) -> DeferredEffects {
        changing { contents, _, effects in
            contents.versions.invalidateTickets()
            if isWrite { contents.watched.recordChangeOfAll() }
            contents.recency.removeAll()
            contents.sample.removeAll()
            _ = contents.take(change)
            effects.payloads += contents.entries.removeAll()
        }
    }

    /// Marks these entries as no longer on disk, and returns the keys of those that are not in
    /// memory either.
    @inlinable
    package func markMemoryOnly(_ keys: [EntryKey]) -> [EntryKey] {
        // Usually nothing was evicted.
        keys.isEmpty ? [] : keys.filter { !markMemoryOnly($0, entryID: nil) }
    }

    /// Marks an entry as no longer on disk, unless another entry than that with the id has replaced
    /// it. Returns whether the key is in memory.
    @usableFromInline
    package func markMemoryOnly(_ key: EntryKey, entryID id: Int64?) -> Bool {
        let hash = hash.of(key)
        mayHaveMemoryOnly.store(true, ordering: .relaxed)
        return contents.write { contents, _ in
            contents.versions.invalidateTickets(stripe(of: hash))
            guard let present = contents.entries.peek(key, hash: hash) else { return false }
            if id == nil || present.entryID == id {
                _ = contents.entries.markMemoryOnly(key, hash: hash)
            }
            return true
        }
    }

    /// Changes the limit of memory, and evicts what exceeds it. O(evicted).
    @usableFromInline package func setCapacity(
        _ capacity: Capacity,
        onlyRaising: Bool = false
    ) -> DeferredEffects {
        changing { contents, _, _ in
            if !onlyRaising || capacity.isAtLeast(contents.capacity) {
                contents.capacity = capacity
            }
        }
    }

    /// Makes tickets and loads of the key outdated.
    @inlinable
    func recordWrite(_ hash: UInt64, _ contents: inout Contents) {
        contents.versions.invalidateTickets(stripe(of: hash))
        if !contents.watched.isEmpty { contents.watched.recordChange(hash) }
    }

    /// A caller removed every key that begins with the prefix. The entries are removed one by one.
    package func recordRemoval(ofPrefix prefix: EntryKey) {
        contents.write { contents, _ in
            contents.watched.recordRemoval(ofPrefix: hash.of(prefix), hash)
        }
    }

    /// A caller removed every entry of the group, some of them from memory: ``recordRemoval(of:)``.
    package func recordRemoval(ofGroup group: EntryKey) {
        contents.write { contents, _ in contents.watched.recordRemoval(ofGroup: hash.of(group)) }
    }

    /// Others may have changed the keys of which this is true, and groups. O(watched keys).
    package func recordChange(where isChanged: (EntryKey) -> Bool) {
        contents.write { contents, _ in contents.watched.recordChange(where: isChanged) }
    }

    /// A caller removed these keys.
    package func recordRemoval(of keys: some Sequence<EntryKey>) {
        contents.write { contents, _ in
            for key in keys { recordWrite(hash.of(key), &contents) }
        }
    }

    @inlinable
    func stripe(of hash: UInt64) -> Int {
        WriteVersions.stripe(ofHash: Int(truncatingIfNeeded: hash))
    }

    /// Stops the process if the entries are inconsistent. For tests. O(n).
    @usableFromInline package func checkInvariants() {
        contents.write { contents, _ in contents.entries.checkInvariants() }
    }
}

/// Asks whether a part of the age of an entry is over.
@frozen
@usableFromInline package struct RefreshAhead {
    @usableFromInline package let part: Double
    /// Set if it is. Valid during the call.
    @usableFromInline package let isDue: UnsafeMutablePointer<Bool>

    @inlinable
    package init?(_ part: Double?, isDue: UnsafeMutablePointer<Bool>?) {
        guard let part, let isDue else { return nil }
        self.part = part
        self.isDue = isDue
    }
}
