internal import VellumCore
internal import VellumEngine

extension Archivist {
    /// Returns a query for the objects that the finder matches.
    public func findWhere(_ find: (QueryFinder<Archive>) -> QueryFinder<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(self).findWhere(find)
    }

    /// Returns a query for all objects in an order.
    public func sorted(_ sort: (QuerySorter<Archive>) -> QuerySorter<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(self).sorted(sort)
    }

    /// Returns a query for at most `limit` objects.
    public func limitResults(by limit: Int) -> QueryBuilder<Self> { QueryBuilder(self).limitResults(by: limit) }

    /// Returns the objects that result from the steps, executed one after the other on the result of ``accessAll()``.
    ///
    /// ``ArchiveManager`` uses indexes instead. An archivist that can do better implements its own.
    ///
    /// - Complexity: O(n) for filters, O(n log n) for sorts.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        for problem in queries.flatMap(\.problems) { Report.failure(problem, operation: "process(queries:)", Archive.self) }
        do throws(VellumError) {
            return try QueryDescription(queries.map(\.step)).results(of: accessAll())
        } catch {
            Report.failure(error, operation: "process(queries:)", Archive.self)
            return []
        }
    }
}
