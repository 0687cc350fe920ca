/// A query under way: values one after the other, each read and decoded when it is asked for.
///
/// Used by one thread at a time. No caller's code runs under a lock.
final class QueryExecution<Value> {
    /// Nothing if the tier keeps no index and is asked for every key.
    let source: QuerySource<Value>?
    private let store: TieredStore<Value>
    private let query: QueryDescription<Value>
    // Holds the source, and is not held by it.
    private var pipeline: QueryPipeline<Value>?

    /// - Parameters:
    ///   - isLazy: Whether the asker may stop early.
    ///   - largestBite: How many objects to read at once at most.
    init(_ query: QueryDescription<Value>, in store: TieredStore<Value>, isLazy: Bool, largestBite: Int = 4096) {
        self.query = query
        self.store = store
        source = store.queryableDisk.map { QuerySource(query, in: store, $0, isLazy: isLazy, largestBite: largestBite) }
    }

    func next() throws(StoreError) -> QueryItem<Value>? {
        if let pipeline { return try pipeline.next() }
        let pipeline = if let source { try source.begin() } else { try everyKey().carryingOut(query.steps) }
        self.pipeline = pipeline
        return try pipeline.next()
    }

    /// All values.
    func all() throws(StoreError) -> [Value] {
        var values: [Value] = []
        if let source, try source.readAll(into: &values) { return values }
        while let item = try next() { values.append(item.value) }
        return values
    }

    /// How many values there are, if the tier alone can tell.
    func countWithoutDecoding() throws(StoreError) -> Int? { try source?.countWithoutDecoding() ?? nil }

    /// Everything in a tier that knows no queries, least recently used first.
    private func everyKey() throws(StoreError) -> QueryPipeline<Value> {
        var left = try store.keys().reversed()[...]
        let store = store
        return QueryPipeline { () throws(StoreError) in
            while let key = left.popFirst() {
                do throws(StoreError) {
                    guard let value = try store.peekValue(forKey: key) else { continue }
                    return QueryItem(value: value, origin: QueryOrigin(key: key, row: 0, revision: 0))
                } catch  where error.concernsOneEntry {
                    continue
                }
            }
            return nil
        }
    }

    // MARK: How it was done

    /// How many objects were decoded so far.
    var decoded: Int { source?.reader.decoded ?? 0 }
    /// How many objects no index covered.
    var uncovered: Int { source?.uncovered ?? 0 }
    /// What the tier was asked; nothing if the objects were read one after the other.
    var asked: TierQuery? { source?.asked }
    /// What is left to do on decoded values.
    var remaining: [QueryDescription<Value>.Step] { source.flatMap { $0.asked == nil ? nil : $0.plan.residual } ?? query.steps }
}
