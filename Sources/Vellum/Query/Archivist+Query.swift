internal import VellumCore
internal import VellumEngine

extension Archivist {
    /// Begins a query with what is found.
    public func findWhere(_ find: (QueryFinder<Archive>) -> QueryFinder<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(self).findWhere(find)
    }

    /// Begins a query with all objects in an order.
    public func sorted(_ sort: (QuerySorter<Archive>) -> QuerySorter<Archive>) -> QueryBuilder<Self> {
        QueryBuilder(self).sorted(sort)
    }

    /// Begins a query with so many of the objects.
    public func limitResults(by limit: Int) -> QueryBuilder<Self> { QueryBuilder(self).limitResults(by: limit) }

    /// Carries out the steps on all objects, in the order of ``accessAll()``, one after the other: for an archivist that has no better
    /// way.
    public func process(queries: [Query<Archive>]) -> [Archive] {
        for problem in queries.flatMap(\.problems) { Report.failure(problem, verb: "process(queries:)", Archive.self) }
        do {
            return try QueryDescription(queries.map(\.step)).results(of: accessAll())
        } catch {
            // No step of this language throws.
            Report.failure(VellumError(.failedQuery, "A query failed.", cause: error), verb: "process(queries:)", Archive.self)
            return []
        }
    }
}
