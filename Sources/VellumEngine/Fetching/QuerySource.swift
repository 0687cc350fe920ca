internal import VellumCore

/// The values of one query: those that the index finds, then those that it does not cover.
///
/// A query that fits in one batch (up to 4096 objects, or 4 MB) sees one snapshot. In a larger
/// query, each unchanged object is returned once. An object that changes during the query is seen
/// before or after the change, or not at all if it is removed or no longer matches.
final class QuerySource<Value> {
    private let store: Store<Value>
    private let query: QueryDescription<Value>
    private let isLazy: Bool
    private let withExpired: Bool
    /// The filters before the first offset or limit, as a closure of values.
    private lazy var matches: (Value) throws -> Bool = plan.condition.evaluation()

    /// Whether the index may answer. The same for the whole query, which may meet the first entry
    /// that cannot be decoded.
    private let isIndexTrusted: Bool
    let plan: QueryPlan<Value>
    let reader: EntryReader<Value>
    /// How many objects were read that the index does not cover.
    private(set) var readOutsideIndex = 0
    /// The query of the index; `nil` if the archive was scanned.
    private(set) var indexQuery: ColumnQuery?

    init(
        _ query: QueryDescription<Value>,
        in store: Store<Value>,
        _ options: QueryOptions,
        batchSize: Int
    ) {
        self.query = query
        self.store = store
        isLazy = options.isLazy
        withExpired = options.withExpired
        isIndexTrusted = store.state.undecodable.isIndexTrusted
        plan = QueryPlan(query, store.columns)
        reader = EntryReader(store, options, batchSize: batchSize)
        guard !plan.isFullyPushed, !store.columns.isEmpty else { return }
        for property in plan.unansweredProperties
        where store.state.isFirstWarning(of: property) && store.columns.mayHave(property) {
            Log.doubtfulProperty(store.disk.name, type(of: property).valueType)
        }
    }

    /// The steps that were executed on decoded values, in words; and the properties that no index
    /// answers, although one may have them by another key path.
    var remaining: [String] {
        let doubtful = plan.unansweredProperties.filter(store.columns.mayHave).map {
            """
            which an index may have by another key path: a property of type \
            \(type(of: $0).valueType)
            """
        }
        return (indexQuery == nil ? query.steps : plan.residual).map(\.description) + doubtful
    }

    private var now: WallInstant { store.clock.now() }
    /// When the index finds only valid entries.
    private var moment: WallInstant? { withExpired ? nil : now }

    // MARK: Without a pipeline

    /// Returns the number of values, or `nil` if the index does not determine it.
    func countWithoutDecoding() throws(VellumError) -> Int? {
        guard plan.isFullyPushed, !plan.pushed.isScan, isIndexTrusted,
            store.memory.memoryOnlyCount == 0
        else { return nil }
        guard let count = try store.disk.count(plan.pushed, validAt: moment, reader.reads) else {
            return nil
        }
        indexQuery = plan.pushed
        return count
    }

    /// Returns the aggregate of the values, or `nil` if the index does not determine it.
    func answerWithoutDecoding(
        _ aggregate: PropertyAggregate
    ) throws(VellumError) -> AggregateAnswer? {
        guard plan.isFullyPushed, isIndexTrusted, store.memory.memoryOnlyCount == 0,
            let aggregate = column(of: aggregate),
            let answer = try store.disk.aggregate(
                aggregate,
                of: plan.pushed,
                validAt: moment,
                reader.reads
            )
        else { return nil }
        indexQuery = plan.pushed
        return answer
    }

    /// The aggregate of the column that has the property; `nil` if there is none.
    func column(of aggregate: PropertyAggregate) -> ColumnAggregate? {
        store.catalog.flatMap { ColumnAggregate(aggregate, store.columns, $0.shape) }
    }

    /// Appends all values to the array, if they only have to be read, decoded and filtered.
    ///
    /// - Returns: Whether that was the case. If not, the array is unchanged.
    func readAll(into values: inout [Value]) throws(VellumError) -> Bool {
        guard store.memory.memoryOnlyCount == 0 else { return false }
        if plan.pushed.isScan {
            guard query.steps.allSatisfy({ if case .filter = $0 { true } else { false } }) else {
                return false
            }
            try reader.scan(into: &values, matching: matches)
            return true
        }
        guard plan.isFullyPushed, isIndexTrusted else { return false }
        let request = IndexRequest(whole: plan.pushed, partial: nil)
        guard
            let answer = try store.disk.answer(
                request,
                validAt: moment,
                reading: reader.limit,
                reader.reads
            )
        else { return false }
        indexQuery = plan.pushed
        values.reserveCapacity(answer.entryIDs.count)
        for entry in answer.entries { try reader.append(entry, to: &values) }
        if answer.looked < answer.entryIDs.count {
            let rest = reader.values(
                [],
                then: answer.entryIDs.dropFirst(answer.looked),
                matching: matches
            )
            while let item = try rest.next() { values.append(item.value) }
        }
        // If some could not be decoded, the limit allows others.
        guard values.count == answer.entryIDs.count || plan.pushed.limit == nil else {
            values.removeAll()
            return false
        }
        return true
    }

    // MARK: The pipeline

    func begin() throws(VellumError) -> QueryPipeline<Value> {
        let memoryOnly = store.memoryOnlyValues(validAt: moment)
        guard !plan.pushed.isScan, isIndexTrusted,
            let rows = try indexedRows(isWhole: memoryOnly.isEmpty)
        else {
            return reader.scan().followed(by: reader.values(memoryOnly)).executing(query.steps)
        }
        guard let others = rows.others else { return rows.pipeline.executing(plan.residual) }

        // The index covers a part. The other values are filtered and merged.
        let rest = others.followed(by: reader.values(memoryOnly)).filtered(matches)
        return rows.pipeline.followed(by: rest)
            .sorted(by: plan.orderings, keeping: plan.pushed.end, breaksTiesByEntryID: true)
            .window(skip: plan.pushed.offset, limit: plan.pushed.limit)
            .executing(plan.residual)
    }

    /// Returns the values that the index finds and those that it does not cover, or `nil` without
    /// an index.
    ///
    /// - Returns: `others` is `nil` if the index covers all.
    private func indexedRows(
        isWhole: Bool
    ) throws(VellumError) -> (pipeline: QueryPipeline<Value>, others: QueryPipeline<Value>?)? {
        var whole = plan.pushed
        var partial = plan.pushed
        // Rows that the index does not cover may come before those that it covers.
        partial.limit = plan.pushed.end
        partial.offset = 0
        if isLazy, !plan.isFullyPushed, whole.limit == nil { whole.limit = Self.firstRowCount }
        let request = IndexRequest(whole: isWhole ? whole : partial, partial: partial)
        guard
            let answer = try store.disk.answer(
                request,
                validAt: moment,
                reading: reader.limit,
                reader.reads
            )
        else { return nil }
        let query = answer.isWhole ? request.whole : partial
        let isEverything = answer.isWhole && isWhole
        indexQuery = query

        var pipeline = reader.values(
            answer.entries,
            then: answer.entryIDs.dropFirst(answer.looked),
            matching: matches
        )
        if answer.entryIDs.count == query.limit {
            // There may be more rows. They are needed if the limit was not the caller's, or if some
            // entries cannot be decoded.
            pipeline = pipeline.followed(
                by: later { () throws(VellumError) in
                    try self.allRows(but: answer.entryIDs, offset: query.offset)
                }
            )
            pipeline = pipeline.window(
                skip: 0,
                limit: isEverything ? plan.pushed.limit : query.limit
            )
        }
        return (pipeline, isEverything ? nil : others(answer))
    }

    /// How many rows to find first if the caller may stop early.
    private static var firstRowCount: Int { 256 }

    /// Returns the values that the index does not cover.
    private func others(_ answer: QueryAnswer) -> QueryPipeline<Value> {
        let undecodable = Set(answer.undecodable)
        var decodable: [Int64] = []
        var isReindexed = false
        let unindexedRows = reader.values([], then: answer.unindexed[...], matching: matches)
        let rest =
            answer.unbuilt.map { unindexedRows.followed(by: reader.scan($0)) } ?? unindexedRows
        return QueryPipeline { () throws(VellumError) in
            self.reader.isOutsideIndex = true
            defer { self.reader.isOutsideIndex = false }
            if let item = try rest.next() {
                self.readOutsideIndex += 1
                if undecodable.contains(item.origin.entryID) {
                    decodable.append(item.origin.entryID)
                }
                return item
            }
            if !decodable.isEmpty, !isReindexed {
                isReindexed = true
                try self.store.disk.indexAgain(decodable)
            }
            return nil
        }
    }

    /// Returns the values of all other rows, after the first were not enough.
    private func allRows(but seen: [Int64], offset: Int) throws(VellumError) -> QueryPipeline<Value>
    {
        let seen = Set(seen)
        var query = plan.pushed
        query.limit = nil
        query.offset = offset
        let request = IndexRequest(whole: query, partial: query)
        guard
            let answer = try store.disk.answer(
                request,
                validAt: moment,
                reading: ReadLimit(entries: 0),
                reader.reads
            )
        else {
            // Another program has dropped the index, which also provided the order.
            return reader.scan().without(seen).filtered(matches).sorted(
                by: plan.orderings,
                keeping: nil
            )
        }
        let found = reader.values(
            [],
            then: answer.entryIDs.filter { !seen.contains($0) }[...],
            matching: matches
        )
        return found.followed(by: others(answer).without(seen).filtered(matches))
    }

    /// Returns a pipeline that is created at its first call.
    private func later(
        _ make: @escaping () throws(VellumError) -> QueryPipeline<Value>
    ) -> QueryPipeline<Value> {
        var made: QueryPipeline<Value>?
        return QueryPipeline { () throws(VellumError) in
            if let made { return try made.next() }
            let pipeline = try make()
            made = pipeline
            return try pipeline.next()
        }
    }
}

// MARK: Execution

/// An execution of a query, which reads and decodes each value when it is requested.
///
/// One thread at a time may use it. User-supplied code does not run under a lock.
final class QueryExecution<Value> {
    let source: QuerySource<Value>
    // Retains the source, and the source does not retain it.
    private var pipeline: QueryPipeline<Value>?

    private let store: Store<Value>
    private var reported = 0

    /// - Parameter batchSize: The maximum number of objects to read at a time.
    init(
        _ query: QueryDescription<Value>,
        in store: Store<Value>,
        _ options: QueryOptions,
        batchSize: Int = 4096
    ) {
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

    /// What was read so far, and whether the caller has cancelled.
    var reads: QueryReads { source.reader.reads }

    /// Returns the number of values.
    func count() throws(VellumError) -> Int {
        if let count = try source.countWithoutDecoding() { return count }
        var count = 0
        while try next() != nil { count += 1 }
        return count
    }
}
