public import Foundation
public import VellumCore

// Reading: from memory, or else from the disk with one decode and a fill of memory.

extension Store {
    /// Returns the value under the key. Affects the eviction order, in memory and on disk.
    ///
    /// Blocks for a read of the disk if memory does not have the value.
    ///
    /// - Parameters:
    ///   - expiration: The reader's expiration, for entries that have none of their own.
    ///   - ahead: What to ask of the value's age.
    /// - Complexity: O(1) in memory, O(log n) on disk.
    /// - Throws: ``VellumError`` if the disk cannot be read, the entry does not match its checksum,
    ///   or its bytes cannot be decoded or are of a newer version of the type. A miss does not
    ///   throw.
    @inlinable
    package func value(
        forKey key: EntryKey,
        under expiration: Expiration = .never,
        ahead: RefreshAhead? = nil
    ) throws(VellumError) -> Value? {
        let now = clock.now()
        if let value = try valueInMemory(forKey: key, now, expiration, ahead: ahead) {
            return value
        }
        return try valueOnDisk(forKey: key, now, expiration, ahead)
    }

    /// Returns the valid value under the key if memory has it. Does not block for the disk. Affects
    /// the eviction order.
    ///
    /// - Parameter ahead: What to ask of the value's age.
    @inlinable
    package func valueInMemory(
        forKey key: EntryKey,
        under expiration: Expiration,
        ahead: RefreshAhead? = nil
    ) throws(VellumError) -> Value? {
        try valueInMemory(forKey: key, clock.now(), expiration, ahead: ahead)
    }

    /// The same at a moment.
    @inlinable
    package func valueInMemory(
        forKey key: EntryKey,
        _ now: WallInstant,
        _ expiration: Expiration,
        ahead: RefreshAhead? = nil
    ) throws(VellumError) -> Value? {
        // Checked before taking a lock that another thread may have held when this process was
        // forked.
        guard forkGuard.isThisProcess else { throw .forked }
        var notifiesDisk = false
        var bytes: Data?
        let value = memory.use(
            key,
            at: now,
            under: expiration,
            notifiesDisk: &notifiesDisk,
            ahead: ahead
        ) { payload -> Value? in
            switch payload {
            case .value(let value): return copy value
            case .bytes(let present):
                bytes = copy present
                return nil
            }
        }
        if notifiesDisk { disk.touchesArePending(isUrgent: false) }
        guard let bytes else { return value }
        return try self.value(decoding: bytes, of: key)
    }

    @inlinable
    func value(decoding bytes: Data, of key: EntryKey) throws(VellumError) -> Value {
        let value = try decode(bytes, of: key)
        if keepsValues { keep(value, of: bytes, key) }
        return value
    }

    @inlinable
    func valueOnDisk(
        forKey key: EntryKey,
        _ now: WallInstant,
        _ expiration: Expiration,
        _ ahead: RefreshAhead?
    ) throws(VellumError) -> Value? {
        let (value, entry) = try lookOnDisk(forKey: key, now, expiration)
        if value == nil { countMiss(key, now, expiration) }
        if let ahead, value != nil, let entry,
            entry.validity.isPast(ahead.part, of: key, at: now, under: expiration)
        {
            ahead.isDue.pointee = true
        }
        return value
    }

    /// Reads the entry under the key. If it is valid, decodes it and stores it in memory, which
    /// affects the eviction order.
    ///
    /// - Returns: The entry, and its value; `nil` if it is not valid, or its migration drops it.
    ///   Counts no miss.
    @inlinable
    func lookOnDisk(
        forKey key: EntryKey,
        _ now: WallInstant,
        _ expiration: Expiration
    ) throws(VellumError) -> (value: Value?, entry: Entry?) {
        let ticket = memory.ticket(forMissed: key)
        let entry = try entryOnDisk(forKey: key)
        guard let entry, try isValid(entry, of: key, at: now, expiration),
            let value = try decode(entry, of: key)
        else {
            return (nil, entry)
        }
        state.counters.withLock { $0.diskHits += 1 }
        release(
            memory.fill(
                try memoryItem(of: value, entry),
                forKey: key,
                ticket: ticket,
                at: now
            )
        )
        return (value, entry)
    }

    /// What memory keeps of an entry that was read.
    @inlinable
    func memoryItem(
        of value: Value,
        _ entry: Entry
    ) throws(VellumError) -> MemoryCache<MemoryPayload<Value>>.Item {
        // Memory has bytes of the current version only.
        let bytes = entry.typeVersion == version || keepsValues ? entry.bytes : try encode(value)
        return MemoryCache.Item(
            payload: memoryPayload(value, bytes),
            cost: bytes.count,
            entryID: entry.id,
            validity: entry.validity
        )
    }

    /// Returns whether a valid entry is under the key. Does not affect the eviction order or
    /// decode.
    @usableFromInline package func contains(
        _ key: EntryKey,
        under expiration: Expiration = .never
    ) throws(VellumError) -> Bool {
        try metadata(forKey: key, under: expiration) != nil
    }

    /// Returns the metadata of the entry under the key. Does not affect the eviction order or
    /// decode.
    ///
    /// - Complexity: O(log n), and reads the entry's bytes to check them.
    @usableFromInline package func metadata(
        forKey key: EntryKey,
        under expiration: Expiration = .never
    ) throws(VellumError) -> EntryMetadata? {
        let now = clock.now()
        if let item = memoryOnly(key) {
            guard item.isValid(at: now, key, under: expiration) else { return nil }
            return EntryMetadata(
                size: DataSize(bytes: item.cost),
                written: item.validity.written,
                lastUse: item.stamp,
                expires: item.validity.end(
                    of: key,
                    lastUse: item.stamp,
                    at: now,
                    under: expiration
                )
            )
        }
        guard let entry = try entryOnDisk(forKey: key),
            try isValid(entry, of: key, at: now, expiration)
        else { return nil }
        let onDisk = try disk.lastUse(ofKey: key)
        let lastUse = memory.peek(key)?.stamp ?? onDisk ?? UseStamp(startOf: entry.written)
        return EntryMetadata(
            size: entry.bytes.dataSize,
            written: entry.written,
            lastUse: lastUse,
            expires: entry.validity.end(of: key, lastUse: lastUse, at: now, under: expiration)
        )
    }

    /// Whether an entry read from the disk is valid. Memory may know of later accesses.
    @inlinable
    func isValid(
        _ entry: Entry,
        of key: EntryKey,
        at now: WallInstant,
        _ expiration: Expiration = .never
    ) throws(VellumError) -> Bool {
        let validity = entry.validity
        if validity.isOwn ? validity.idle == .max : expiration.idle == .max {
            return validity.contains(now, key, lastUse: .never, under: expiration)
        }
        return validity.contains(now, key, lastUse: try lastUse(of: entry, key), under: expiration)
    }

    /// Returns the last use of an entry whose validity depends on it. The entry contains it if its
    /// own age slides; otherwise it is read from the disk.
    @usableFromInline
    func lastUse(of entry: Entry, _ key: EntryKey) throws(VellumError) -> UseStamp {
        if entry.validity.isOwn {
            return max(entry.lastUse, memory.lastUse(ofKey: key, entryID: entry.id) ?? .never)
        }
        return try disk.lastUse(ofKey: key) ?? .never
    }

    /// Returns the keys of at most `limit` valid entries, most recently used first. Does not affect
    /// the eviction order.
    ///
    /// - Complexity: O(limit × log n), plus O(p log p) for p touches that are not on disk yet.
    @usableFromInline package func keys(
        limit: Int = .max,
        under expiration: Expiration = .never
    ) throws(VellumError) -> [EntryKey] {
        try keysByUse(limit: limit, under: expiration).map(\.key)
    }

    /// Returns the same keys, with the last use and size of each entry.
    ///
    /// - Parameter withExpired: Whether to return expired entries, too.
    @usableFromInline package func keysByUse(
        limit: Int = .max,
        under expiration: Expiration = .never,
        withExpired: Bool = false
    ) throws(VellumError) -> [ListedKey] {
        guard limit > 0 else { return [] }
        let now = clock.now()
        let onDisk = try disk.keysByUse(
            limit: limit,
            validAt: now,
            under: expiration,
            withExpired: withExpired
        )
        guard memory.memoryOnlyCount > 0 else { return onDisk }
        let memoryOnly = memory.newestMemoryOnly().map { key, item in
            ListedKey(
                key: key,
                lastUse: item.stamp,
                bytes: item.cost,
                isValid: item.isValid(at: now, key, under: expiration)
            )
        }
        let all = onDisk + memoryOnly.filter { $0.isValid || withExpired }
        return Array(all.sorted { $0.lastUse > $1.lastUse }.prefix(limit))
    }

    /// Returns at most `limit` valid values, most recently used first. Does not affect the eviction
    /// order.
    ///
    /// A damaged value is reported and skipped. The result is not a consistent snapshot if others
    /// write at the same time.
    ///
    /// - Complexity: O(limit × log n), with one decode for each value that memory does not hold
    ///   decoded.
    @usableFromInline package func values(
        limit: Int = .max,
        under expiration: Expiration = .never,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> [Value] {
        guard limit > 0 else { return [] }
        var values = [Value]()
        var skipped = 0
        var keys = try self.keys(limit: limit, under: expiration)[...]
        var hasMore = keys.count == limit
        let isCancelled = Lane.cancellation
        while values.count < limit {
            if let isCancelled, isCancelled() { throw .cancelled }
            guard let key = keys.popFirst() else {
                // What was left out does not count toward the limit.
                guard hasMore else { break }
                hasMore = false
                keys = try self.keys(under: expiration).dropFirst(limit)
                continue
            }
            var entry: Entry?
            do throws(VellumError) {
                if let item = memory.peek(key) {
                    values.append(try value(of: item, key))
                    continue
                }
                entry = try entryOnDisk(forKey: key)
                guard let entry else { continue }
                if undecodable == .skip, state.isKnownUndecodable(entry) {
                    skipped += 1
                } else if let value = try decode(entry, of: key),
                    try !isReplaced(entry, of: key, by: value)
                {
                    values.append(value)
                }
            } catch {
                if error.isOfDecoding {
                    if let entry { metUndecodable(entry) }
                    guard undecodable == .skip else { throw try inQuery(error) }
                    skipped += 1
                } else if error.code != .damagedEntry {
                    throw error
                }
            }
        }
        state.report(skipped: skipped, located)
        return values
    }

    /// Returns the value under the key, valid or not. Does not affect the eviction order.
    @usableFromInline package func peek(_ key: EntryKey) throws(VellumError) -> Value? {
        if let item = memory.peek(key) { return try value(of: item, key) }
        guard let entry = try entryOnDisk(forKey: key) else { return nil }
        return try decode(entry, of: key)
    }

    /// What memory has under the key, if it is not on disk. Does not affect the eviction order.
    @usableFromInline
    func memoryOnly(_ key: EntryKey) -> MemoryCache<MemoryPayload<Value>>.Item? {
        guard let item = memory.peek(key), item.entryID == 0 else { return nil }
        return item
    }

    /// Returns the value of what memory has.
    func value(
        of item: MemoryCache<MemoryPayload<Value>>.Item,
        _ key: EntryKey
    ) throws(VellumError) -> Value {
        switch item.payload {
        case .value(let value): value
        case .bytes(let bytes): try decode(bytes, of: key)
        }
    }

    /// Whether another object has the key that the migration of an older one gives it, and was
    /// written later: then that one stays.
    func isReplaced(_ old: Entry, of oldKey: EntryKey, by value: Value) throws(VellumError) -> Bool
    {
        guard old.typeVersion != version, let key = codec.key(of: value), key != oldKey else {
            return false
        }
        if let item = memoryOnly(key) { return item.validity.written >= old.written }
        do throws(VellumError) {
            guard let other = try disk.entry(forKey: key) else { return false }
            return other.id != old.id && other.written >= old.written
        } catch {
            // A damaged object hides no other.
            guard error.code == .damagedEntry else { throw error }
            return false
        }
    }

    /// Returns how many entries are stored, including expired entries that were not removed yet and
    /// entries that cannot be decoded.
    ///
    /// - Complexity: O(1).
    @usableFromInline package func count() throws(VellumError) -> Int {
        try disk.totals().entries + memory.memoryOnlyCount
    }

    // MARK: Steps

    @usableFromInline
    func countMiss(_ key: EntryKey, _ now: WallInstant, _ expiration: Expiration) {
        state.counters.withLock { $0.misses += 1 }
        memory.noteMiss(key, at: now, under: expiration)
    }

    /// Replaces bytes in memory with the decoded value, after the caching policy was changed to
    /// keep values.
    @usableFromInline
    func keep(_ value: Value, of bytes: Data, _ key: EntryKey) {
        memory.exchange(key) { present in
            if case .bytes(bytes) = present { .value(value) } else { nil }
        }
    }

    /// Decodes an entry that was read from the disk, of any version.
    ///
    /// - Returns: `nil` if its migration drops it.
    @inlinable
    func decode(_ entry: Entry, of key: EntryKey) throws(VellumError) -> Value? {
        guard entry.typeVersion == version else { return try migrate(entry, of: key) }
        return try decode(entry.bytes, of: key)
    }

    @usableFromInline
    func migrate(_ entry: Entry, of key: EntryKey) throws(VellumError) -> Value? {
        do throws(VellumError) {
            switch try state.migration(of: entry, key) {
            case .value(let value): return value
            case .removed: return nil
            }
        } catch {
            throw undecodable(key, error)
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
        let error = VellumError.undecodable(Value.self, version: version, cause)
        state.archiveDidReport(.damagedEntry(key: key.normalized, error))
        return error
    }

    @inlinable
    func memoryPayload(_ value: Value, _ bytes: Data) -> MemoryPayload<Value> {
        keepsValues ? .value(value) : .bytes(bytes)
    }

    /// Reads the disk, and reports a damaged entry to observers, because the caller may ignore the
    /// error.
    @usableFromInline
    func entryOnDisk(forKey key: EntryKey) throws(VellumError) -> Entry? {
        do throws(VellumError) {
            return try disk.found(
                try disk.file.reading(disk.archive) { tables throws(SQLiteError) in
                    try tables.entry(forKey: key)
                }
            )
        } catch {
            if error.code == .damagedEntry {
                state.archiveDidReport(.damagedEntry(key: key.normalized, error))
            }
            throw error
        }
    }
}

extension VellumError {
    /// An object that was recorded by a program with a newer version of the type.
    @usableFromInline package static func newerVersion(
        _ version: Int64,
        than known: Int64
    ) -> VellumError {
        VellumError(
            .newerVersion,
            """
            An object is of version \(version) of its type, and this program knows versions up to \
            \(known). Update the program.
            """
        )
    }

    static func undecodable(_ type: Any.Type, version: Int64 = 0, _ cause: any Error) -> VellumError
    {
        if let cause = cause as? VellumError, cause.isOfDecoding { return cause }
        return VellumError(
            .notDecodable,
            """
            A stored object of version \(version) cannot be decoded as \(type): \
            \(codingReason(cause)). If the type has changed, conform it to VersionedArchive and \
            migrate the object; or record it again, or delete it.
            """,
            cause: cause
        )
    }

    /// Whether the failure concerns only one entry, which may be replaced.
    @usableFromInline
    package var concernsOneEntry: Bool { code == .damagedEntry || code == .notDecodable }

    /// Whether an object is whole but cannot be decoded by this program.
    @usableFromInline
    package var isOfDecoding: Bool { code == .notDecodable || code == .newerVersion }
}
