public import VellumCore
internal import VellumEngine

/// A query of an archive, built step by step. Steps may be combined freely and are executed in
/// their order.
///
/// ```swift
/// let results = archives
///     .findWhere { $0.userName(.contains("premium")) }
///     .sorted { $0.age(.ascending) }
///     .limitResults(by: 10)
///     .getResults()
/// ```
///
/// Each step is added to this builder, which is returned: a builder that is kept has every step
/// that was added to it. The query is executed each time the results are requested, with the steps
/// that it has then. A limit before a filter limits the objects that are filtered.
///
/// A builder may be used by one thread at a time.
public final class QueryBuilder<Queriable: Archivist> {
    /// The type of the objects.
    public typealias Result = Queriable.Archive

    private let archives: Queriable
    private var queries: [Query<Result>] = []

    init(_ archives: Queriable) { self.archives = archives }

    // MARK: Adding steps

    /// Adds a step that keeps the objects that the finder matches.
    public func findWhere(_ find: (QueryFinder<Result>) -> QueryFinder<Result>) -> QueryBuilder {
        adding(.findWhere(find))
    }

    /// Adds a step that sorts the objects.
    public func sorted(_ sort: (QuerySorter<Result>) -> QuerySorter<Result>) -> QueryBuilder {
        adding(.sorted(sort))
    }

    /// Adds a step that keeps the first `limit` objects; none for zero or a negative number.
    public func limitResults(by limit: Int) -> QueryBuilder { adding(.limitResults(by: limit)) }

    private func adding(_ query: Query<Result>) -> QueryBuilder {
        queries.append(query)
        return self
    }

    // MARK: Getting results

    /// Returns the results, in order. Blocks for the disk. Does not affect the eviction order.
    public func getResults() -> [Result] { archives.process(queries: queries) }

    /// Returns the first result, or `nil`. Decodes no more objects than it needs.
    public func firstResult() -> Result? {
        archives.process(queries: queries + [.limitResults(by: 1)]).first
    }

    /// Returns the last result, or `nil`. Decodes all results.
    public func lastResult() -> Result? { getResults().last }

    // MARK: Explaining

    /// Runs the query like ``getResults()``, and returns how it was executed in place of the
    /// results: the part that an index answered, the part that remained, and how many objects were
    /// decoded. Blocks for the disk. Does not affect the eviction order.
    public func explain<Archive>() -> QueryExplanation where Queriable == ArchiveManager<Archive> {
        archives.explain(queries: queries)
    }
}

extension Archivist {
    /// Returns a query for the objects that the finder matches.
    public func findWhere(
        _ find: (QueryFinder<Archive>) -> QueryFinder<Archive>
    ) -> QueryBuilder<Self> {
        QueryBuilder(self).findWhere(find)
    }

    /// Returns a query for all objects in an order.
    public func sorted(_ sort: (QuerySorter<Archive>) -> QuerySorter<Archive>) -> QueryBuilder<Self>
    {
        QueryBuilder(self).sorted(sort)
    }

    /// Returns a query for at most `limit` objects.
    public func limitResults(by limit: Int) -> QueryBuilder<Self> {
        QueryBuilder(self).limitResults(by: limit)
    }

    /// Returns the objects that result from the steps, executed one after the other on the result
    /// of ``accessAll()``.
    ///
    /// ``ArchiveManager`` uses indexes instead. An archivist that can do better implements its own.
    ///
    /// - Complexity: O(n) for filters, O(n log n) for sorts.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        for problem in queries.flatMap(\.problems) {
            Report.failure(problem, operation: "process(queries:)", Archive.self)
        }
        do throws(VellumError) {
            return try QueryDescription(queries.map(\.step)).results(of: accessAll())
        } catch {
            Report.failure(error, operation: "process(queries:)", Archive.self)
            return []
        }
    }
}
