internal import VellumCore

/// A query under way: values one after the other, each read and decoded when it is asked for.
///
/// Used by one thread at a time. No caller's code runs under a lock.
final class QueryExecution<Value> {
    let source: QuerySource<Value>
    private let query: QueryDescription<Value>
    // Holds the source, and is not held by it.
    private var pipeline: QueryPipeline<Value>?

    /// - Parameters:
    ///   - isLazy: Whether the asker may stop early.
    ///   - largestBite: How many objects to read at once at most.
    init(_ query: QueryDescription<Value>, in store: Store<Value>, isLazy: Bool, largestBite: Int = 4096) {
        self.query = query
        source = QuerySource(query, in: store, isLazy: isLazy, largestBite: largestBite)
    }

    func next() throws(StoreError) -> QueryItem<Value>? {
        if let pipeline { return try pipeline.next() }
        let pipeline = try source.begin()
        self.pipeline = pipeline
        return try pipeline.next()
    }

    /// All values.
    func all() throws(StoreError) -> [Value] {
        var values: [Value] = []
        if try source.readAll(into: &values) { return values }
        while let item = try next() { values.append(item.value) }
        return values
    }

    /// How many values there are, if the disk alone can tell.
    func countWithoutDecoding() throws(StoreError) -> Int? { try source.countWithoutDecoding() }

    // MARK: How it was done

    /// How many objects were decoded so far.
    var decoded: Int { source.reader.decoded }
    /// How many objects no index covered.
    var uncovered: Int { source.uncovered }
    /// What the disk was asked; nothing if the objects were read one after the other.
    var asked: ColumnQuery? { source.asked }
    /// What is left to do on decoded values.
    var remaining: [QueryDescription<Value>.Step] { source.asked == nil ? query.steps : source.plan.residual }
}
