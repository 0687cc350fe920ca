internal import VellumCore

/// Reads and decodes the entries of a query in batches (decision 16).
///
/// Each batch is read from one snapshot. Nothing is locked between two batches, so writers and
/// checkpoints do not wait.
final class EntryReader<Value> {
    private let store: Store<Value>
    private let options: QueryOptions
    private let batchSize: Int

    // One thread at a time uses it.

    /// How many objects were decoded so far.
    @exclusivity(unchecked) private(set) var decoded = 0
    /// How many objects could not be decoded so far.
    @exclusivity(unchecked) private(set) var skipped = 0
    /// Whether the entries that are read now are known to have no row in the index.
    @exclusivity(unchecked) var isOutsideIndex = false
    /// Expired entries of which it is unknown whether they match.
    private(set) var unjudged: [StoredEntry] = []
    let reads: QueryReads

    init(_ store: Store<Value>, _ options: QueryOptions, batchSize: Int) {
        self.store = store
        self.options = options
        reads = QueryReads(isCancelled: options.isCancelled)
        self.batchSize = batchSize
    }

    var limit: ReadLimit { ReadLimit(entries: batchSize) }

    /// Returns the value of an entry, or `nil` if it has expired, is to be skipped, or was dropped
    /// by its migration. A damaged entry is reported.
    func value(of stored: StoredEntry) throws(VellumError) -> Value? {
        if let isCancelled = reads.isCancelled, isCancelled() { throw .cancelled }
        // Not the time at which the query began: entries expire, and are recorded, during a long
        // query.
        guard
            try store.isValid(
                stored.entry,
                of: stored.key,
                at: store.clock.now()
            )
        else {
            return options.withExpired ? expiredValue(of: stored) : nil
        }
        guard stored.isIntact else {
            store.reportCorrupt(stored.key)
            if !isOutsideIndex { store.metUndecodable(stored.entry) }
            return nil
        }
        let isCurrent = stored.entry.typeVersion == store.version
        if options.undecodable == .skip, store.state.isKnownUndecodable(stored.entry) {
            skipped += 1
            return nil
        }
        return try decoded(stored.entry) { () throws(VellumError) in
            guard let value = try store.decode(stored.entry, of: stored.key) else { return nil }
            guard !isCurrent, try store.isReplaced(stored.entry, of: stored.key, by: value) else {
                return value
            }
            return nil
        }
    }

    /// Appends the value of an entry, if it has one. That of an entry which is as most are is
    /// decoded without an optional, whose types take as long to look up as the bytes of a small
    /// entry to decode.
    func append(_ stored: StoredEntry, to values: inout [Value]) throws(VellumError) {
        if let isCancelled = reads.isCancelled, isCancelled() { throw .cancelled }
        if stored.isIntact, stored.entry.typeVersion == store.version, !stored.entry.validity.isOwn,
            store.state.undecodable.isEmpty
        {
            do {
                values.append(try store.codec.decode(stored.entry.bytes))
                decoded += 1
                return
            } catch {}  // Decoded again, and reported.
        }
        if let value = try value(of: stored) { values.append(value) }
    }

    /// An expired entry is not migrated.
    private func expiredValue(of stored: StoredEntry) -> Value? {
        if stored.isIntact, stored.entry.typeVersion == store.version {
            do {
                return try store.codec.decode(stored.entry.bytes)
            } catch {}  // It is of no use to anyone, so that nobody is told.
        }
        unjudged.append(stored)
        return nil
    }

    /// - Parameter entry: What is decoded; `nil` if it is not on disk.
    private func decoded(
        _ entry: Entry?,
        _ decode: () throws(VellumError) -> Value?
    ) throws(VellumError) -> Value? {
        do throws(VellumError) {
            decoded += 1
            let value = try decode()
            if let entry { store.state.undecodable.remove(entry) }
            return value
        } catch {
            // `decode` has reported it.
            guard error.isOfDecoding else { throw error }
            if let entry, !isOutsideIndex { store.metUndecodable(entry) }
            guard options.undecodable == .skip else { throw try store.inQuery(error) }
            skipped += 1
            return nil
        }
    }

    private func item(_ stored: StoredEntry) throws(VellumError) -> QueryItem<Value>? {
        guard let value = try value(of: stored) else { return nil }
        let origin = QueryOrigin(
            key: stored.key,
            entryID: stored.entry.id,
            revision: stored.entry.revision
        )
        var item = QueryItem(value: value, origin: origin)
        if stored.entry.validity.isOwn {
            item.end = try store.end(of: stored.entry, stored.key)
        }
        if options.isObserved { item.digest = store.digest(of: stored.entry) }
        return item
    }

    /// Returns the values of entries, then of those with the ids.
    ///
    /// - Parameters:
    ///   - entries: The first entries, from the snapshot in which the ids were found.
    ///   - entryIDs: The ids of the others, which are read later.
    ///   - matches: Tests the values that are read later, because they may have changed.
    func values(
        _ entries: [StoredEntry],
        then entryIDs: ArraySlice<Int64>,
        matching matches: @escaping (Value) throws -> Bool
    ) -> QueryPipeline<Value> {
        var entries = entries[...]
        var entryIDs = entryIDs
        var isLater = false
        return QueryPipeline { () throws(VellumError) in
            while true {
                while let entry = entries.popFirst() {
                    guard let item = try self.item(entry) else { continue }
                    if isLater, try !Self.satisfies(item.value, matches) { continue }
                    return item
                }
                guard !entryIDs.isEmpty else { return nil }
                let (read, looked) = try self.store.disk.entries(
                    of: entryIDs,
                    self.limit,
                    self.reads
                )
                entries = read[...]
                entryIDs = entryIDs.dropFirst(looked)
                isLater = true
            }
        }
    }

    /// Returns the values of a range of entries, or of all that exist now, in batches. The batches
    /// grow if the caller may stop early.
    func scan(_ range: EntryScan = EntryScan()) -> QueryPipeline<Value> {
        // In one value: each access of a captured one is checked.
        var state = (
            scan: range, entries: ArraySlice<StoredEntry>(),
            batch: options.isLazy ? min(32, batchSize) : batchSize
        )
        return QueryPipeline { () throws(VellumError) in
            while true {
                while let entry = state.entries.popFirst() {
                    if let item = try self.item(entry) { return item }
                }
                guard state.scan.hasMore else { return nil }
                let limit = ReadLimit(entries: state.batch)
                state.entries = try self.store.disk.entries(
                    of: &state.scan,
                    limit,
                    self.reads
                )[...]
                state.batch = min(state.batch * 4, self.batchSize)
            }
        }
    }

    /// Appends every value that satisfies the condition to the array. Faster than a pipeline, which
    /// makes several calls per value; cannot be cancelled.
    func scan(
        into values: inout [Value],
        matching matches: (Value) throws -> Bool
    ) throws(VellumError) {
        var scan = EntryScan()
        while scan.hasMore {
            for entry in try store.disk.entries(of: &scan, limit, reads) {
                if let value = try value(of: entry), try Self.satisfies(value, matches) {
                    values.append(value)
                }
            }
        }
    }

    private static func satisfies(
        _ value: Value,
        _ matches: (Value) throws -> Bool
    ) throws(VellumError) -> Bool {
        do {
            return try matches(value)
        } catch {
            throw .failedQuery(error)
        }
    }

    private func value(
        of payload: MemoryPayload<Value>,
        _ key: EntryKey
    ) throws(VellumError) -> Value? {
        switch payload {
        case .value(let value): value
        case .bytes(let bytes):
            try decoded(nil) { () throws(VellumError) in try store.decode(bytes, of: key) }
        }
    }

    /// Returns the values of entries that are only in memory.
    func values(_ memoryOnly: [MemoryOnlyValue<Value>]) -> QueryPipeline<Value> {
        var left = memoryOnly[...]
        return QueryPipeline { () throws(VellumError) in
            while let found = left.popFirst() {
                if let isCancelled = self.reads.isCancelled, isCancelled() { throw .cancelled }
                if let value = try self.value(of: found.payload, found.key) {
                    let origin = QueryOrigin(key: found.key, entryID: .max, revision: 0)
                    let digest =
                        self.options.isObserved
                        ? try self.store.digest(of: found.payload, value) : 0
                    return QueryItem(value: value, origin: origin, end: found.end, digest: digest)
                }
            }
            return nil
        }
    }
}

extension VellumError {
    static var cancelled: VellumError { VellumError(.cancelled, "The query was cancelled.") }
}
