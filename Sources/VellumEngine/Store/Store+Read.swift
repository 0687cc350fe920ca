public import Foundation
public import VellumCore

// The way of a read: memory, else the disk, one decode, and a place in memory.

extension Store {
    /// The value under the key. A use of it, in memory and for the disk.
    ///
    /// Blocks for a read of the disk if memory has nothing.
    ///
    /// - Parameter expiration: For how long the caller takes entries that have no age of their own.
    /// - Complexity: O(1) in memory, O(log n) on disk.
    /// - Throws: ``VellumError`` if the disk cannot be read, the entry does not match its checksum, or its bytes cannot be
    ///   decoded. A miss is no error.
    @inlinable
    package func value(forKey key: EntryKey, under expiration: Expiration = .never) throws(VellumError) -> Value? {
        let now = clock.now()
        if let value = try valueInMemory(forKey: key, now, expiration) { return value }
        return try valueOnDisk(forKey: key, now, expiration)
    }

    /// The valid value under the key. One that cannot be read is as good as none to whoever can load it: it was reported.
    @inlinable
    func valueIgnoringCorruption(_ key: EntryKey, under expiration: Expiration) throws(VellumError) -> Value? {
        do throws(VellumError) {
            return try value(forKey: key, under: expiration)
        } catch {
            if error.concernsOneEntry { return nil }
            throw error
        }
    }

    /// The valid value under the key, where memory has it: nothing here waits for a disk. A use of it.
    @inlinable
    package func valueInMemory(forKey key: EntryKey, _ now: WallInstant, _ expiration: Expiration) throws(VellumError) -> Value? {
        // Before a lock that another thread may have held when this process was copied.
        guard forkGuard.isThisProcess else { throw .forked }
        var notifiesDisk = false
        switch memory.use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk) {
        case .value(let value):
            if notifiesDisk { disk.touchesArePending(isUrgent: false) }
            return value
        case .bytes(let bytes):
            if notifiesDisk { disk.touchesArePending(isUrgent: false) }
            return try value(decoding: bytes, of: key)
        case nil:
            return nil
        }
    }

    @inlinable
    func value(decoding bytes: Data, of key: EntryKey) throws(VellumError) -> Value {
        let value = try decode(bytes, of: key)
        if keepsValues { keep(value, of: bytes, key) }
        return value
    }

    @inlinable
    func valueOnDisk(forKey key: EntryKey, _ now: WallInstant, _ expiration: Expiration) throws(VellumError) -> Value? {
        let ticket = memory.ticket(forMissed: key)
        guard let entry = try entryOnDisk(forKey: key), try isValid(entry, of: key, at: now, expiration) else {
            countMiss()
            return nil
        }
        return try take(entry, forKey: key, ticket, at: now)
    }

    /// Decodes what was read from the disk and gives it a place in memory. A use.
    @inlinable
    func take(
        _ entry: Entry, forKey key: EntryKey, _ ticket: MemoryCache<CachedForm<Value>>.FillTicket, at now: WallInstant
    ) throws(VellumError) -> Value {
        let value = try decode(entry.bytes, of: key)
        owner.counters.withLock { $0.diskHits += 1 }
        release(
            memory.fill(
                cachedForm(value, entry.bytes), forKey: key, cost: entry.bytes.count, row: entry.row, validity: entry.validity,
                ticket: ticket, at: now))
        return value
    }

    /// Whether something valid is recorded under the key. Not a use, and decodes nothing.
    @usableFromInline package func contains(_ key: EntryKey, under expiration: Expiration = .never) throws(VellumError) -> Bool {
        try metadata(forKey: key, under: expiration) != nil
    }

    /// What is known of the entry under the key. Not a use, and decodes nothing.
    ///
    /// - Complexity: O(log n), and reads the entry's bytes to check them.
    @usableFromInline package func metadata(forKey key: EntryKey, under expiration: Expiration = .never) throws(VellumError)
        -> EntryMetadata?
    {
        let now = clock.now()
        let inMemory = memory.peek(key)
        if let inMemory, inMemory.row == 0 {
            guard inMemory.isValid(at: now, key, under: expiration) else { return nil }
            return EntryMetadata(
                size: DataSize(bytes: inMemory.cost), written: inMemory.validity.written, lastUse: inMemory.stamp,
                expires: inMemory.validity.end(of: key, lastUse: inMemory.stamp, at: now, under: expiration))
        }
        guard let entry = try entryOnDisk(forKey: key), try isValid(entry, of: key, at: now, expiration) else { return nil }
        let onDisk = try disk.lastUse(ofKey: key)
        let lastUse = inMemory?.stamp ?? onDisk ?? UseStamp(startOf: entry.written)
        return EntryMetadata(
            size: entry.bytes.dataSize, written: entry.written, lastUse: lastUse,
            expires: entry.validity.end(of: key, lastUse: lastUse, at: now, under: expiration))
    }

    /// Whether a reader may have what was read from the disk. Memory may know of later uses.
    @inlinable
    func isValid(_ entry: Entry, of key: EntryKey, at now: WallInstant, _ expiration: Expiration = .never) throws(VellumError) -> Bool {
        let validity = entry.validity
        if validity.isOwn ? validity.idle == .max : expiration.idle == .max {
            return validity.contains(now, key, lastUse: .never, under: expiration)
        }
        return validity.contains(now, key, lastUse: try lastUse(of: entry, key), under: expiration)
    }

    /// The last use of an entry whose validity hangs on it. The disk tells it with an entry whose own age slides, and is asked where the
    /// reader's does.
    @usableFromInline
    func lastUse(of entry: Entry, _ key: EntryKey) throws(VellumError) -> UseStamp {
        if entry.validity.isOwn { return max(entry.lastUse, memory.latestUse(ofKey: key, row: entry.row) ?? .never) }
        return try disk.lastUse(ofKey: key) ?? .never
    }

    /// The keys of everything valid, most recently used first; at most `limit` of them. Not a use.
    ///
    /// - Complexity: O(limit × log n), and O(p log p) for p uses that the disk was not told of yet.
    @usableFromInline package func keys(limit: Int = .max, under expiration: Expiration = .never) throws(VellumError) -> [EntryKey] {
        try keysByUse(limit: limit, under: expiration).map(\.key)
    }

    /// The same, with the last use and the size of each.
    @usableFromInline package func keysByUse(limit: Int = .max, under expiration: Expiration = .never) throws(VellumError) -> [ListedKey] {
        guard limit > 0 else { return [] }
        let now = clock.now()
        let onDisk = try disk.keysByUse(limit: limit, validAt: now, under: expiration)
        guard memory.memoryOnlyCount > 0 else { return onDisk }
        let memoryOnly = memory.newest(.max).filter { $0.item.row == 0 && $0.item.isValid(at: now, $0.key, under: expiration) }
        let all = onDisk + memoryOnly.map { ListedKey(key: $0.key, lastUse: $0.item.stamp, bytes: $0.item.cost) }
        return Array(all.sorted { $0.lastUse > $1.lastUse }.prefix(limit))
    }

    /// Every valid value, most recently used first; at most `limit` of them. Not a use.
    ///
    /// A value that cannot be read or decoded is reported and hides no other. The values are of different instants if
    /// others write meanwhile.
    ///
    /// - Complexity: O(limit × log n), with one decode for each value that memory does not keep as such.
    @usableFromInline package func values(limit: Int = .max, under expiration: Expiration = .never) throws(VellumError) -> [Value] {
        guard limit > 0 else { return [] }
        var values: [Value] = []
        for key in try keys(limit: limit, under: expiration) {
            do throws(VellumError) {
                if let value = try peekValue(forKey: key) { values.append(value) }
            } catch  where error.concernsOneEntry {
                continue  // Reported where it was found.
            }
        }
        return values
    }

    /// The value under the key, valid or not. Not a use.
    @usableFromInline package func peek(_ key: EntryKey) throws(VellumError) -> Value? { try peekValue(forKey: key) }

    func peekValue(forKey key: EntryKey) throws(VellumError) -> Value? {
        switch memory.peek(key)?.payload {
        case .value(let value): return value
        case .bytes(let bytes): return try decode(bytes, of: key)
        case nil: break
        }
        guard let entry = try entryOnDisk(forKey: key) else { return nil }
        return try decode(entry.bytes, of: key)
    }

    /// Returns how many entries are stored, including expired entries that were not removed yet and entries that cannot be decoded.
    ///
    /// - Complexity: O(1).
    @usableFromInline package func count() throws(VellumError) -> Int {
        try disk.totals().entries + memory.memoryOnlyCount
    }

    // MARK: Steps

    @usableFromInline
    func countMiss() { owner.counters.withLock { $0.misses += 1 } }

    /// Remembers a value where its bytes were remembered before the store was told to keep values.
    @usableFromInline
    func keep(_ value: Value, of bytes: Data, _ key: EntryKey) {
        memory.exchange(key) { present in
            if case .bytes(bytes) = present { .value(value) } else { nil }
        }
    }

    @inlinable
    func decode(_ bytes: Data, of key: EntryKey) throws(VellumError) -> Value {
        do {
            return try codec.decode(bytes)
        } catch {
            throw undecodable(key, error)
        }
    }

    @usableFromInline
    func undecodable(_ key: EntryKey, _ cause: any Error) -> VellumError {
        let error = VellumError.undecodable(Value.self, cause)
        owner.archiveDidReport(.damagedEntry(key: key.normalized, error))
        return error
    }

    @inlinable
    func cachedForm(_ value: Value, _ bytes: Data) -> CachedForm<Value> {
        keepsValues ? .value(value) : .bytes(bytes)
    }

    /// Reads the disk, and tells observers of a damaged entry: a reader that goes on without it must not be the only one to know.
    @usableFromInline
    func entryOnDisk(forKey key: EntryKey) throws(VellumError) -> Entry? {
        do throws(VellumError) {
            return try disk.entry(forKey: key)
        } catch {
            if error.code == .damagedEntry { owner.archiveDidReport(.damagedEntry(key: key.normalized, error)) }
            throw error
        }
    }
}

extension VellumError {
    static func undecodable(_ type: Any.Type, _ cause: any Error) -> VellumError {
        if let cause = cause as? VellumError, cause.code == .notDecodable { return cause }
        return VellumError(
            .notDecodable,
            "The stored bytes cannot be decoded as \(type). The type may have changed; record the object again or delete it.",
            cause: cause)
    }

    /// Whether the failure is that of one entry and says nothing of the others.
    @usableFromInline
    package var concernsOneEntry: Bool { code == .damagedEntry || code == .notDecodable }
}
