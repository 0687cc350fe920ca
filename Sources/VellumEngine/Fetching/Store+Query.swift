package import Foundation
package import VellumCore

// Queries. None of them affects the eviction order.

extension Store {
    /// Returns the values that match the query. Does not affect the eviction order.
    ///
    /// Finds everything that ``value(forKey:)`` would find, each value once. Without a sort, values
    /// are in the order in which their keys were first recorded. A damaged value is reported and
    /// skipped.
    ///
    /// Up to 4096 objects or 4 MB are a consistent snapshot. A larger query sees each concurrent
    /// change either before or after it.
    ///
    /// - Complexity: O(log n + r) for r candidates of an index, O(n) without an index; one decode
    ///   for each candidate.
    /// - Throws: ``VellumError`` if the disk fails or a condition throws.
    package func fetch(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> [Value] {
        let execution = QueryExecution(
            query,
            in: self,
            QueryOptions(isLazy: query.hasLimit, undecodable: undecodable)
        )
        defer { execution.reportSkipped() }
        return try execution.all()
    }

    /// Returns the values that match the query, if the index answers all of it; `nil` if not, or if
    /// the answer does not fit in one batch. Does not affect the eviction order.
    ///
    /// - Complexity: O(log n + r), with one decode for each of the r results.
    package func answer(
        _ query: PropertyQuery,
        undecodable: UndecodableObjects
    ) throws(VellumError) -> [Value]? {
        guard memory.memoryOnlyCount == 0, state.undecodable.isIndexTrusted,
            let whole = columns.query(query)
        else { return nil }
        let reader = EntryReader(self, QueryOptions(undecodable: undecodable), batchSize: 4096)
        let request = IndexRequest(whole: whole, partial: nil, isAtOnce: true)
        guard
            let answer = try disk.answer(
                request,
                validAt: clock.now(),
                reading: reader.limit,
                reader.reads
            ),
            answer.looked == answer.entryIDs.count,
            query.limit == nil || answer.entries.allSatisfy(\.isIntact)
        else { return nil }
        var values: [Value] = []
        values.reserveCapacity(answer.entries.count)
        for entry in answer.entries { try reader.append(entry, to: &values) }
        // If some could not be decoded, the limit allows others.
        guard values.count == answer.entryIDs.count || query.limit == nil else { return nil }
        state.report(skipped: reader.skipped, located)
        return values
    }

    /// Returns the number of values that match the query, if the index says it without decoding;
    /// `nil` if not.
    package func count(_ query: PropertyQuery) throws(VellumError) -> Int? {
        guard memory.memoryOnlyCount == 0, state.undecodable.isIndexTrusted,
            let whole = columns.query(query)
        else { return nil }
        return try disk.count(whole, validAt: clock.now(), QueryReads())
    }

    /// Returns the first value that matches the query. Does not affect the eviction order.
    package func first(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> Value? {
        let execution = QueryExecution(
            QueryDescription(query.steps + [.limit(1)]),
            in: self,
            QueryOptions(isLazy: true, undecodable: undecodable)
        )
        defer { execution.reportSkipped() }
        return try execution.next()?.value
    }

    /// Returns the number of valid values that match the query. Does not affect the eviction order.
    ///
    /// Values that cannot be decoded are not counted, once the first of them was read.
    package func count(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> Int {
        let execution = QueryExecution(query, in: self, QueryOptions(undecodable: undecodable))
        defer { execution.reportSkipped() }
        return try execution.count()
    }

    /// Returns whether any value matches the query. Does not affect the eviction order.
    package func exists(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> Bool {
        try first(query, undecodable: undecodable) != nil
    }

    /// Removes the values that match the query, in one transaction; during a migration, in several,
    /// until none is found.
    ///
    /// A value that changes between the search and the removal is kept. Expired values match, too,
    /// as they are: they are not migrated. Those that cannot be decoded by this program are removed
    /// if they have expired for every program.
    ///
    /// - Returns: The number of removed values that were valid.
    @discardableResult
    package func removeAll(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> Int {
        var removed = 0
        // During a migration an object may be migrated between the search and the removal, or hide
        // another that gets its key.
        for _ in 0..<64 {
            let execution = QueryExecution(
                query,
                in: self,
                QueryOptions(undecodable: undecodable, withExpired: true)
            )
            defer { execution.reportSkipped() }
            var transaction = StoreTransaction()
            var areValid = [Bool]()
            while let item = try execution.next() {
                transaction.remove(item.origin, in: self)
                areValid.append(item.end > clock.now())
            }
            for entry in try expired(execution.source.reader.unjudged) {
                transaction.remove(entry, in: self)
            }
            let outcomes = try transaction.commit()
            removed += zip(areValid, outcomes).count { $0 && $1 }
            guard version > 0, !outcomes.isEmpty, try !migrationProgress().isComplete else { break }
        }
        return removed
    }

    /// Those of the entries that have expired for every program.
    private func expired(_ entries: [StoredEntry]) throws(VellumError) -> [QueryOrigin] {
        guard !entries.isEmpty else { return [] }
        let retention = Retention(policies: try disk.policies())
        let now = clock.now()
        var expired: [QueryOrigin] = []
        for stored in entries
        where retention.end(
            stored.entry.validity,
            lastUse: try lastUse(of: stored.entry, stored.key),
            at: now
        )
            <= now
        {
            expired.append(
                QueryOrigin(
                    key: stored.key,
                    entryID: stored.entry.id,
                    revision: stored.entry.revision
                )
            )
        }
        return expired
    }

    /// Runs the query and explains how it was answered.
    package func explain(
        _ query: QueryDescription<Value>,
        undecodable: UndecodableObjects = .fail
    ) throws(VellumError) -> QueryExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        let execution = QueryExecution(
            query,
            in: self,
            QueryOptions(isLazy: query.hasLimit, undecodable: undecodable)
        )
        var results = 0
        while try execution.next() != nil { results += 1 }
        return try explanation(of: execution, results: results, clock.now - start)
    }

    /// Explains what an execution has done.
    func explanation(
        of execution: QueryExecution<Value>,
        results: Int,
        _ duration: Duration,
        _ purpose: QueryPrinter.Purpose = .rows
    ) throws(VellumError) -> QueryExplanation {
        var explanation = QueryExplanation()
        explanation.results = results
        explanation.duration = duration
        explanation.decodedObjects = execution.source.reader.decoded
        explanation.unindexedObjects = execution.source.readOutsideIndex
        explanation.remaining = execution.source.remaining
        if let query = execution.source.indexQuery,
            let description = try disk.describe(query, purpose)
        {
            (explanation.statement, explanation.access, explanation.usesIndex) = description
            explanation.pushedDown = query.descriptions(for: catalog?.shape ?? IndexShape())
        }
        return explanation
    }

    // MARK: Aggregates

    /// Returns an aggregate of the values that match the query. Does not affect the eviction order.
    ///
    /// - Parameters:
    ///   - fromIndex: Makes the result of what the index answers; returns `nil` if it cannot.
    ///   - fromValues: Makes the result of the values, which its argument returns one by one.
    package func aggregate<Result>(
        _ aggregate: PropertyAggregate,
        of query: QueryDescription<Value>,
        undecodable: UndecodableObjects,
        fromIndex: (AggregateAnswer) throws(VellumError) -> Result?,
        fromValues: (() throws(VellumError) -> Value?) throws(VellumError) -> Result
    ) throws(VellumError) -> Result {
        let execution = QueryExecution(query, in: self, QueryOptions(undecodable: undecodable))
        defer { execution.reportSkipped() }
        if let answer = try execution.source.answerWithoutDecoding(aggregate),
            let result = try fromIndex(answer)
        {
            return result
        }
        return try fromValues { () throws(VellumError) in try execution.next()?.value }
    }

    /// Computes an aggregate of the values that match the query, and explains how it was answered.
    package func explain(
        _ aggregate: PropertyAggregate,
        of query: QueryDescription<Value>,
        undecodable: UndecodableObjects
    ) throws(VellumError) -> QueryExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        let execution = QueryExecution(query, in: self, QueryOptions(undecodable: undecodable))
        let isAnswered = try execution.source.answerWithoutDecoding(aggregate) != nil
        if !isAnswered { while try execution.next() != nil {} }
        let purpose =
            isAnswered
            ? execution.source.column(of: aggregate).map(QueryPrinter.Purpose.aggregate) ?? .rows
            : .rows
        var explanation = try self.explanation(
            of: execution,
            results: 1,
            clock.now - start,
            purpose
        )
        if isAnswered {
            explanation.pushedDown.append(aggregate.description)
        } else {
            explanation.remaining.append(aggregate.description)
        }
        return explanation
    }

    // MARK: Indexes

    /// Returns the progress of building the index.
    package func indexProgress() throws(VellumError) -> IndexProgress {
        guard catalog != nil else {
            let count = try count()
            return IndexProgress(indexed: count, total: count, isComplete: true)
        }
        return try disk.indexProgress()
    }

    // MARK: Steps

    /// The error of a query that met an object which cannot be decoded.
    func inQuery(_ error: VellumError) throws(VellumError) -> VellumError {
        let others = max(0, try count() - 1)
        return VellumError(
            error.code,
            """
            \(error.message) Up to \(others) other objects may be affected. Pass 'undecodable: \
            .skip' to go past them.
            """,
            cause: error.cause
        )
    }

    /// The valid memory-only values, least recently used first.
    ///
    /// - Parameter moment: `nil` for expired ones, too.
    func memoryOnlyValues(validAt moment: WallInstant?) -> [MemoryOnlyValue<Value>] {
        guard memory.memoryOnlyCount > 0 else { return [] }
        let now = moment ?? clock.now()
        return memory.newestMemoryOnly().reversed().filter {
            moment == nil || $0.item.isValid(at: now, $0.key)
        }.map { key, item in
            MemoryOnlyValue(
                key: key,
                payload: item.payload,
                end: item.validity.end(
                    of: key,
                    lastUse: item.stamp,
                    at: now,
                    under: .never
                )
            )
        }
    }

    func reportCorrupt(_ key: EntryKey) {
        state.archiveDidReport(.damagedEntry(key: key.normalized, .corruptEntry))
    }
}

// By the bytes, and never by `==`: one that compares a part of a value would hide changes, and no
// value with NaN is equal to itself.

extension Store {
    /// Returns a number by which observers tell whether an entry has changed.
    func digest(of entry: Entry) -> UInt64 { digest(entry.bytes, version: entry.typeVersion) }

    /// Returns the same for a value that only memory has. Encodes it if memory keeps it decoded.
    func digest(of payload: MemoryPayload<Value>, _ value: Value) throws(VellumError) -> UInt64 {
        let bytes = if case .bytes(let bytes) = payload { bytes } else { try encode(value) }
        return digest(bytes, version: codec.version(of: value))
    }

    private func digest(_ bytes: Data, version: Int64) -> UInt64 {
        bytes.withUnsafeBytes(disk.changes.hash.of) ^ UInt64(bitPattern: version)
    }
}

/// A value that only memory has, and when it expires.
struct MemoryOnlyValue<Value> {
    var key: EntryKey
    var payload: MemoryPayload<Value>
    var end: WallInstant
}

extension QueryDescription {
    fileprivate var hasLimit: Bool {
        // By number, because an iterator of values of a generic type takes longer.
        (0..<steps.count).contains {
            if case .limit = steps[$0] { true } else { false }
        }
    }
}

/// A query that returns its values in batches.
///
/// Holds at most one batch of objects. Nothing is locked between batches, so writers and
/// checkpoints do not wait. Each concurrent change is seen either before or after it.
package final class QueryCursor<Value> {
    private let execution: QueryExecution<Value>
    private let batchSize: Int

    /// - Parameter batchSize: The largest number of values in a batch.
    package init(
        _ query: QueryDescription<Value>,
        in store: Store<Value>,
        batchSize: Int,
        undecodable: UndecodableObjects = .fail
    ) {
        execution = QueryExecution(
            query,
            in: store,
            QueryOptions(isLazy: true, undecodable: undecodable),
            batchSize: batchSize
        )
        self.batchSize = batchSize
    }

    /// Returns the next batch of values; empty at the end.
    ///
    /// - Parameter isCancelled: Called for every object that is examined, and every 1,000
    ///   instructions of SQLite.
    /// - Throws: ``VellumError``, with the code ``VellumError/Code/cancelled`` if `isCancelled`
    ///   returns `true`.
    package func next(isCancelled: @escaping () -> Bool = { false }) throws(VellumError) -> [Value]
    {
        execution.reads.isCancelled = isCancelled
        defer { execution.reportSkipped() }
        var values: [Value] = []
        while values.count < batchSize, let item = try execution.next() {
            values.append(item.value)
        }
        return values
    }

    /// Returns the next value with its origin; `nil` at the end.
    package func nextItem() throws(VellumError) -> QueryItem<Value>? { try execution.next() }
}

extension StoreTransaction {
    /// Adds a removal of a query's result, if it is unchanged at the commit.
    mutating func remove<Value>(_ origin: QueryOrigin, in store: Store<Value>) {
        let isOnDisk = origin.entryID > 0 && origin.entryID < .max
        remove(
            origin.key,
            isOnDisk
                ? .removeUnchanged(entryID: origin.entryID, revision: origin.revision) : .remove,
            in: store
        )
    }
}

// Access to objects that cannot be decoded.

extension Store {
    /// Returns the keys of valid entries that cannot be decoded. Entries of a newer version are not
    /// among them, and neither are damaged ones.
    ///
    /// - Complexity: O(n), with one decode for each entry.
    package func undecodableKeys() throws(VellumError) -> [EntryKey] {
        try undecodableEntries().map(\.key)
    }

    /// Removes these entries, in one transaction.
    ///
    /// - Returns: How many were removed.
    package func removeUndecodable() throws(VellumError) -> Int {
        var transaction = StoreTransaction()
        for entry in try undecodableEntries() { transaction.remove(entry, in: self) }
        return try transaction.commit().count { $0 }
    }

    private func undecodableEntries() throws(VellumError) -> [QueryOrigin] {
        var found: [QueryOrigin] = []
        var scan = EntryScan()
        while scan.hasMore {
            for entry in try disk.entries(of: &scan, ReadLimit(entries: 4096), QueryReads())
            where entry.isIntact {
                guard try isValid(entry.entry, of: entry.key, at: clock.now()),
                    !isDecodable(entry)
                else { continue }
                found.append(
                    QueryOrigin(
                        key: entry.key,
                        entryID: entry.entry.id,
                        revision: entry.entry.revision
                    )
                )
            }
        }
        return found
    }

    /// Whether an entry can be decoded, by this program or a newer one.
    private func isDecodable(_ stored: StoredEntry) -> Bool {
        let entry = stored.entry
        if state.isKnownUndecodable(entry), entry.typeVersion <= version { return false }
        do throws(VellumError) {
            _ = try state.value(of: entry, stored.key)
            return true
        } catch {
            guard error.code != .newerVersion else { return true }
            metUndecodable(entry)
            return false
        }
    }

    /// Remembers an entry that cannot be decoded or is damaged, and has the builder take it out of
    /// the index.
    func metUndecodable(_ entry: Entry) {
        guard state.rememberUndecodable(entry), catalog != nil else { return }
        state.undecodable.doubt(entry)
        disk.file.scheduleBuilding()
    }

    /// Returns the encoded bytes of the valid entry under the key, and the version that they were
    /// recorded with. Decodes nothing, and does not affect the eviction order.
    package func encodedBytes(
        forKey key: EntryKey
    ) throws(VellumError) -> (bytes: Data, version: Int64)? {
        if let item = memory.peek(key), item.entryID == 0 {
            guard item.isValid(at: clock.now(), key) else { return nil }
            switch item.payload {
            case .bytes(let bytes): return (bytes, version)
            case .value(let value): return (try encode(value), codec.version(of: value))
            }
        }
        guard let entry = try entryOnDisk(forKey: key),
            try isValid(entry, of: key, at: clock.now())
        else { return nil }
        return (entry.bytes, entry.typeVersion)
    }

    /// Returns how far the entries were migrated to the version of the codec.
    package func migrationProgress() throws(VellumError) -> MigrationProgress {
        guard version > 0 else {
            let count = try count()
            return MigrationProgress(examined: count, total: count)
        }
        // Nothing is examined before the pass begins.
        guard disk.archive.shape?.rewrites ?? true else {
            return MigrationProgress(examined: 0, total: try disk.totals().entries)
        }
        return MigrationProgress(try disk.indexProgress())
    }
}
