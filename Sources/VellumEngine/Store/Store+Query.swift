package import VellumCore

// Queries: what an index answers, and what is asked of every value. None of them is a use.

extension Store {
    /// The values that the query asks for. Not a use.
    ///
    /// Sees everything that ``value(forKey:)`` would find, each value once. Without a sort values come in the order in which
    /// their keys were first recorded. A value that cannot be decoded is reported and hides no other.
    ///
    /// Up to 4096 objects or 4 MB are of one instant; in a larger query what others change meanwhile is met before or after the
    /// change.
    ///
    /// - Complexity: O(log n + r) for r candidates of an index, O(n) without one; one decode for each candidate.
    /// - Throws: ``VellumError`` if the disk fails, or a condition throws.
    package func fetch(_ query: QueryDescription<Value>) throws(VellumError) -> [Value] {
        try QueryExecution(query, in: self, isLazy: query.hasLimit).all()
    }

    /// The first value that the query asks for. Not a use.
    package func first(_ query: QueryDescription<Value>) throws(VellumError) -> Value? {
        try QueryExecution(QueryDescription(query.steps + [.limit(1)]), in: self, isLazy: true).next()?.value
    }

    /// Returns how many valid values the query asks for. Counting does not affect the eviction order.
    ///
    /// Values that cannot be decoded are not counted. If an index answers the whole query, nothing is decoded, and they are counted.
    package func count(_ query: QueryDescription<Value>) throws(VellumError) -> Int {
        let execution = QueryExecution(query, in: self, isLazy: false)
        if let count = try execution.countWithoutDecoding() { return count }
        var count = 0
        while try execution.next() != nil { count += 1 }
        return count
    }

    /// Whether the query asks for any value. Not a use.
    package func exists(_ query: QueryDescription<Value>) throws(VellumError) -> Bool {
        let execution = QueryExecution(QueryDescription(query.steps + [.limit(1)]), in: self, isLazy: true)
        if let count = try execution.countWithoutDecoding() { return count > 0 }
        return try execution.next() != nil
    }

    /// Removes the values that the query asks for, in one transaction.
    ///
    /// A value that someone changes between the finding and the removing stays.
    ///
    /// - Returns: How many values were removed.
    @discardableResult
    package func removeAll(_ query: QueryDescription<Value>) throws(VellumError) -> Int {
        let execution = QueryExecution(query, in: self, isLazy: false)
        var transaction = StoreTransaction()
        while let item = try execution.next() { transaction.remove(item.origin, in: self) }
        return try transaction.commit().count { $0 }
    }

    /// Carries the query out, and tells how.
    package func explain(_ query: QueryDescription<Value>) throws(VellumError) -> QueryExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        let execution = QueryExecution(query, in: self, isLazy: query.hasLimit)
        var explanation = QueryExplanation()
        while try execution.next() != nil { explanation.results += 1 }
        explanation.duration = clock.now - start
        explanation.decodedObjects = execution.decoded
        explanation.unindexedObjects = execution.uncovered
        explanation.remaining = execution.remaining.map(\.description)
        if let query = execution.indexQuery, let description = try disk.describe(query) {
            (explanation.statement, explanation.access) = description
            explanation.pushedDown = query.descriptions(for: catalog?.shape ?? IndexShape())
        }
        return explanation
    }

    /// How far the index is built.
    package func indexProgress() throws(VellumError) -> IndexProgress {
        guard catalog != nil else {
            let count = try count()
            return IndexProgress(indexed: count, total: count, isComplete: true)
        }
        return try disk.indexProgress()
    }

    // MARK: Steps

    /// What lives in memory alone, as it was used, the least recent first.
    func valuesInMemoryAlone(at now: WallInstant) -> [(key: EntryKey, payload: CachedForm<Value>)] {
        guard memory.memoryOnlyCount > 0 else { return [] }
        return memory.newest(.max).reversed().filter { $0.item.row == 0 && $0.item.isValid(at: now, $0.key) }.map {
            ($0.key, $0.item.payload)
        }
    }

    func reportUnsound(_ key: EntryKey) {
        owner.archiveDidReport(.damagedEntry(key: key.normalized, .corruptEntry))
    }
}

extension QueryDescription {
    fileprivate var hasLimit: Bool {
        steps.contains { step in if case .limit = step { true } else { false } }
    }
}

/// A query whose values are asked for some at a time.
///
/// Holds as many objects as are asked for at once, however many there are; nothing is locked in between, and no writer or
/// checkpoint waits. What others change meanwhile is met before or after the change.
package final class QueryCursor<Value> {
    private let execution: QueryExecution<Value>
    private let count: Int

    /// - Parameter count: How many values to hold at most.
    package init(_ query: QueryDescription<Value>, in store: Store<Value>, atOnce count: Int) {
        execution = QueryExecution(query, in: store, isLazy: true, batchSize: count)
        self.count = count
    }

    /// The next few values; none at the end.
    ///
    /// - Parameter isCancelled: Asked for every object that is looked at.
    /// - Throws: ``VellumError``, with the code ``VellumError/Code/cancelled`` if `isCancelled` says so.
    package func next(isCancelled: @escaping () -> Bool = { false }) throws(VellumError) -> [Value] {
        execution.source.reader.isCancelled = isCancelled
        var values: [Value] = []
        while values.count < count, let item = try execution.next() { values.append(item.value) }
        return values
    }
}
