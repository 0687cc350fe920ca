internal import VellumCore
internal import VellumEngine

/// One step of a query: find, sort, or limit.
///
/// ```swift
/// let results = archives.process(queries: [
///     .findWhere { $0.age(.greater(than: 17)) },
///     .sorted { $0.age(.ascending) },
///     .limitResults(by: 10),
/// ])
/// ```
///
/// Steps are carried out in the order in which they stand.
public struct Query<Result> {
    let step: QueryDescription<Result>.Step
    /// What of the step cannot be asked.
    let problems: [VellumError]

    /// Keeps what the finder finds.
    public init(_ finder: QueryFinder<Result>) {
        step = .filter(.all(finder.conditions))
        problems = finder.problems
    }

    /// Orders as the sorter says.
    public init(_ sorter: QuerySorter<Result>) {
        step = .sort(sorter.orderings)
        problems = []
    }

    /// Keeps as many as the limiter says.
    public init(_ limiter: QueryLimiter<Result>) {
        step = .limit(limiter.limit)
        problems = []
    }

    /// Keeps what is found.
    public static func findWhere(_ find: (QueryFinder<Result>) -> QueryFinder<Result>) -> Query {
        Query(find(QueryFinder()))
    }

    /// Orders the results.
    public static func sorted(_ sort: (QuerySorter<Result>) -> QuerySorter<Result>) -> Query {
        Query(sort(QuerySorter()))
    }

    /// Keeps so many of the results at most; none for a limit of zero or below.
    public static func limitResults(by limit: Int) -> Query { Query(QueryLimiter(limit: limit)) }
}
