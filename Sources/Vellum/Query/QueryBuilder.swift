public import VellumCore
internal import VellumEngine

/// A query of an archive, step by step: any number, in any order, carried out in that order.
///
/// ```swift
/// let results = archives
///     .findWhere { $0.userName(.contains("premium")) }
///     .sorted { $0.age(.ascending) }
///     .limitResults(by: 10)
///     .getResults()
/// ```
///
/// Nothing is asked of the archive until the results are got, and each time they are, it is asked anew. A limit before a
/// finder limits what the finder looks at.
public struct QueryBuilder<Queriable: Archivist> {
    private let archives: Queriable
    private var queries: [Query<Queriable.Archive>] = []

    init(_ archives: Queriable) { self.archives = archives }

    // MARK: Adding steps

    /// Keeps what is found.
    public func findWhere(
        _ find: (QueryFinder<Queriable.Archive>) -> QueryFinder<Queriable.Archive>
    ) -> QueryBuilder { adding(.findWhere(find)) }

    /// Orders the results.
    public func sorted(
        _ sort: (QuerySorter<Queriable.Archive>) -> QuerySorter<Queriable.Archive>
    ) -> QueryBuilder { adding(.sorted(sort)) }

    /// Keeps so many of the results at most; none for a limit of zero or below.
    public func limitResults(by limit: Int) -> QueryBuilder { adding(.limitResults(by: limit)) }

    private func adding(_ query: Query<Queriable.Archive>) -> QueryBuilder {
        var builder = self
        builder.queries.append(query)
        return builder
    }

    // MARK: Getting results

    /// The results, in order.
    public func getResults() -> [Queriable.Archive] { archives.process(queries: queries) }

    /// The first of the results.
    public func firstResult() -> Queriable.Archive? { archives.process(queries: queries + [.limitResults(by: 1)]).first }

    /// The last of the results.
    public func lastResult() -> Queriable.Archive? { getResults().last }

    // MARK: Explaining

    /// Carries the query out, and tells what an index answered, which one, what remained, and how many objects were decoded.
    public func explain<Archive>() -> QueryExplanation where Queriable == ArchiveManager<Archive> { archives.explain(queries: queries) }
}
