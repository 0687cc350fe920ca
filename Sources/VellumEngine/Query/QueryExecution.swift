internal import VellumCore

/// An execution of a query, which reads and decodes each value when it is requested.
///
/// One thread at a time may use it. User-supplied code does not run under a lock.
final class QueryExecution<Value> {
    let source: QuerySource<Value>
    private let query: QueryDescription<Value>
    // Retains the source, and the source does not retain it.
    private var pipeline: QueryPipeline<Value>?

    private let store: Store<Value>
    private var reported = 0

    /// - Parameter batchSize: The maximum number of objects to read at a time.
    init(_ query: QueryDescription<Value>, in store: Store<Value>, _ options: QueryOptions, batchSize: Int = 4096) {
        self.query = query
        self.store = store
        source = QuerySource(query, in: store, options, batchSize: batchSize)
    }

    /// Reports how many objects were skipped since the last call.
    func reportSkipped() {
        store.state.report(skipped: source.reader.skipped - reported, store.located)
        reported = source.reader.skipped
    }

    func next() throws(VellumError) -> QueryItem<Value>? {
        if let pipeline { return try pipeline.next() }
        let pipeline = try source.begin()
        self.pipeline = pipeline
        return try pipeline.next()
    }

    /// Returns all values.
    func all() throws(VellumError) -> [Value] {
        var values: [Value] = []
        if try source.readAll(into: &values) { return values }
        while let item = try next() { values.append(item.value) }
        return values
    }

    /// Returns the number of values, or `nil` if it cannot be determined without decoding.
    func countWithoutDecoding() throws(VellumError) -> Int? { try source.countWithoutDecoding() }

    // MARK: Explaining

    /// How many objects were decoded so far.
    var decoded: Int { source.reader.decoded }
    /// How many objects were read that the index does not cover.
    var readOutsideIndex: Int { source.readOutsideIndex }
    /// The query of the index; `nil` if the archive was scanned.
    var indexQuery: ColumnQuery? { source.indexQuery }
    /// The steps that were executed on decoded values.
    var remaining: [QueryDescription<Value>.Step] { source.indexQuery == nil ? query.steps : source.plan.residual }
}
