public import VellumCore

// Many keys at once.

extension Store {
    /// Returns the values under the keys, in their order; `nil` where there is no valid one.
    /// Affects the eviction order.
    ///
    /// All are of one moment. Visits memory once, and reads what it does not have from one snapshot
    /// of the disk, for which it blocks; again if a commit falls in between, and at last while no
    /// thread of this process commits.
    ///
    /// - Parameter undecodable: Whether to throw for a value that cannot be decoded, or to leave it
    ///   out.
    /// - Complexity: O(m log n) for m keys. The bytes of all that are read from the disk are in
    ///   memory at once.
    @inlinable
    package func values(
        forKeys keys: [EntryKey],
        under expiration: Expiration = .never,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> [Value?] {
        guard forkGuard.isThisProcess else { throw .forked }
        let now = clock.now()
        for _ in 0..<3 {
            let moment = disk.archive.present
            let visit = memory.use(all: keys, at: now, under: expiration)
            if visit.notifiesDisk { disk.touchesArePending(isUrgent: false) }
            let missed = keys.indices.filter { visit.payloads[$0] == nil }
            let entries = missed.isEmpty ? [] : try entriesOnDisk(forKeys: missed.map { keys[$0] })
            guard let moment, moment == disk.archive.present,
                missed.isEmpty || memory.isCurrent(visit, keys)
            else { continue }
            return try values(of: keys, visit, missed, entries, (now, expiration), undecodable)
        }
        return try valuesInCommitOrder(keys, (now, expiration), undecodable)
    }

    /// Reads the values while no thread of this process commits.
    @usableFromInline
    func valuesInCommitOrder(
        _ keys: [EntryKey],
        _ moment: (now: WallInstant, expiration: Expiration),
        _ undecodable: UndecodableObjects
    ) throws(VellumError) -> [Value?] {
        var memoryOnly: (payloads: [MemoryPayload<Value>?], forgotten: [MemoryPayload<Value>])?
        let entries = try entriesOnDisk(forKeys: keys) { [memory] in
            memoryOnly = memory.memoryOnly(of: keys, at: moment.now, under: moment.expiration)
        }
        let visit = MemoryCache<MemoryPayload<Value>>.Visit(
            payloads: memoryOnly?.payloads ?? []
        )
        let missed = keys.indices.filter { visit.payloads[$0] == nil }
        return try values(
            of: keys,
            visit,
            missed,
            missed.map { entries[$0] },
            moment,
            undecodable
        )
    }

    /// - Parameters:
    ///   - missed: The indices of the keys that the visit did not find.
    ///   - entries: What the disk has under these.
    @inlinable
    func values(
        of keys: [EntryKey],
        _ visit: MemoryCache<MemoryPayload<Value>>.Visit,
        _ missed: [Int],
        _ entries: [Entry?],
        _ moment: (now: WallInstant, expiration: Expiration),
        _ undecodable: UndecodableObjects
    ) throws(VellumError) -> [Value?] {
        var values: [Value?] = []
        values.reserveCapacity(keys.count)
        var skipped = 0
        for (index, payload) in visit.payloads.enumerated() {
            switch payload {
            case .value(let value): values.append(value)
            case .bytes(let bytes):
                do throws(VellumError) {
                    values.append(try self.value(decoding: bytes, of: keys[index]))
                } catch {
                    guard undecodable == .skip, error.isOfDecoding else { throw error }
                    skipped += 1
                    values.append(nil)
                }
            case nil: values.append(nil)
            }
        }
        guard !missed.isEmpty else {
            if skipped > 0 { count(diskHits: 0, of: 0, skipped: skipped) }
            return values
        }

        var fills: [(key: EntryKey, item: MemoryCache<MemoryPayload<Value>>.Item)?] = []
        fills.reserveCapacity(missed.count)
        for (index, entry) in zip(missed, entries) {
            do throws(VellumError) {
                guard let entry,
                    try isValid(entry, of: keys[index], at: moment.now, moment.expiration),
                    let value = try decode(entry, of: keys[index])
                else {
                    memory.noteMiss(keys[index], at: moment.now, under: moment.expiration)
                    fills.append(nil)
                    continue
                }
                values[index] = value
                fills.append((keys[index], try memoryItem(of: value, entry)))
            } catch {
                guard undecodable == .skip, error.isOfDecoding else { throw error }
                skipped += 1
                fills.append(nil)
            }
        }
        release(memory.fill(fills, visit, at: moment.now))
        count(diskHits: fills.count { $0 != nil }, of: missed.count, skipped: skipped)
        return values
    }

    @usableFromInline
    func count(diskHits hits: Int, of asked: Int, skipped: Int) {
        state.counters.withLock {
            $0.diskHits += hits
            $0.misses += asked - hits
        }
        state.report(skipped: skipped, located)
    }

    /// Reads entries from one snapshot, and reports the first that is damaged.
    ///
    /// - Parameter inCommitOrder: Runs when they are read, under the writer's lock; `nil` to read
    ///   without it.
    @usableFromInline
    func entriesOnDisk(
        forKeys keys: [EntryKey],
        inCommitOrder body: (() -> Void)? = nil
    ) throws(VellumError) -> [Entry?] {
        let (entries, damaged) = try disk.entries(forKeys: keys, inCommitOrder: body)
        guard let damaged else { return entries }
        state.archiveDidReport(.damagedEntry(key: damaged.normalized, .corruptEntry))
        throw .corruptEntry
    }

    /// Returns at most `limit` keys of valid entries that begin with the prefix
    /// (``EntryKey/begins(with:)``), most recently used first. Does not affect the eviction order.
    ///
    /// - Complexity: O(n log n): nothing orders keys.
    package func keys(
        prefix: String,
        limit: Int = .max,
        under expiration: Expiration = .never
    ) throws(VellumError) -> [EntryKey] {
        guard limit > 0 else { return [] }
        let prefix = EntryKey(prefix)
        return Array(
            try keys(under: expiration).lazy.filter {
                $0.begins(with: prefix)
            }.prefix(limit)
        )
    }

    /// Returns the valid entries of a group, most recently used first. Does not affect the eviction
    /// order.
    ///
    /// - Complexity: O(m log n) for m entries of the group.
    package func keysByUse(
        group: EntryKey,
        under expiration: Expiration = .never
    ) throws(VellumError) -> [ListedKey] {
        let now = clock.now()
        let found = try disk.members(of: group).compactMap { entry -> ListedKey? in
            let lastUse = max(
                entry.stamp,
                memory.lastUse(ofKey: entry.key, entryID: entry.id) ?? .never
            )
            guard entry.validity.contains(now, entry.key, lastUse: lastUse, under: expiration)
            else { return nil }
            return ListedKey(key: entry.key, lastUse: lastUse, bytes: entry.size, isValid: true)
        }
        return found.sorted { $0.lastUse > $1.lastUse }
    }

    /// Removes the entries of a group, also expired ones, in one transaction. Loads of values of
    /// the group that run store nothing, and what is remembered of them ends.
    ///
    /// - Returns: How many there were.
    /// - Complexity: O(m log n) for m entries of the group.
    package func removeAll(group: EntryKey) throws(VellumError) -> Int {
        var transaction = StoreTransaction()
        var count = 0
        transaction.removeAll(ofGroup: group, in: self) { count = $0 }
        try transaction.commit()
        return count
    }

    /// Removes the entries whose keys begin with the prefix, also expired ones, in transactions of
    /// at most 256. Loads of such keys that run store nothing, and what is remembered of them ends.
    ///
    /// - Parameter counts: Whether an entry counts as a value; `nil` if it is no match.
    /// - Returns: How many valid ones were removed that count.
    package func removeAll(
        prefix: EntryKey,
        under expiration: Expiration = .never,
        counting counts: (ListedKey) throws(VellumError) -> Bool? = { _ in true }
    ) throws(VellumError) -> Int {
        // Announced first, so that no load that has begun records its result after the entries were
        // listed, and again at the end.
        var transaction = StoreTransaction()
        transaction.announceRemoval(ofPrefix: prefix, in: self)
        try transaction.commit()
        var removed = 0
        var found = [(key: EntryKey, counts: Bool)]()
        for entry in try keysByUse(under: expiration, withExpired: true)
        where entry.key.begins(with: prefix) {
            if let counts = try counts(entry) {
                found.append((entry.key, counts && entry.isValid))
            }
        }
        var rest = found[...]
        while !rest.isEmpty {
            var transaction = StoreTransaction()
            for entry in rest.prefix(256) { transaction.remove(entry.key, in: self) }
            if rest.count <= 256 { transaction.announceRemoval(ofPrefix: prefix, in: self) }
            removed += zip(rest, try transaction.commit()).count { entry, wasThere in
                wasThere && entry.counts
            }
            rest = rest.dropFirst(256)
        }
        return removed
    }
}
