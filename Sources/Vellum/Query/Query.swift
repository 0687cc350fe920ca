internal import VellumCore
internal import VellumEngine

/// One step of a query: a filter, a sort, or a limit.
///
/// ```swift
/// let results = archives.process(queries: [
///     .findWhere { $0.age(.greater(than: 17)) },
///     .sorted { $0.age(.ascending) },
///     .limitResults(by: 10),
/// ])
/// ```
///
/// Steps are executed in the order of the array.
public struct Query<Result> {
    let step: QueryDescription<Result>.Step
    /// The errors in the step, such as an invalid regular expression.
    let problems: [VellumError]

    /// Creates a step that keeps the objects that the finder matches.
    public init(_ finder: QueryFinder<Result>) {
        step = .filter(.all(finder.conditions))
        problems = finder.problems
    }

    /// Creates a step that sorts the objects.
    public init(_ sorter: QuerySorter<Result>) {
        step = .sort(sorter.orderings)
        problems = []
    }

    /// Creates a step that keeps the first objects, up to a limit.
    public init(_ limiter: QueryLimiter<Result>) {
        step = .limit(limiter.limit)
        problems = []
    }

    /// Returns a step that keeps the objects that the finder matches.
    public static func findWhere(_ find: (QueryFinder<Result>) -> QueryFinder<Result>) -> Query {
        Query(find(QueryFinder()))
    }

    /// Returns a step that sorts the objects.
    public static func sorted(_ sort: (QuerySorter<Result>) -> QuerySorter<Result>) -> Query {
        Query(sort(QuerySorter()))
    }

    /// Returns a step that keeps the first `limit` objects; none for zero or a negative number.
    public static func limitResults(by limit: Int) -> Query { Query(QueryLimiter(limit: limit)) }

    /// Returns what this step makes of some objects, for an ``Archivist`` of your own.
    ///
    /// ```swift
    /// func process(queries: [Query<User>]) -> [User] {
    ///     queries.reduce(users) { users, query in
    ///         query.process(results: users)
    ///     }
    /// }
    /// ```
    ///
    /// An invalid regular expression matches no object.
    ///
    /// - Complexity: O(n) for a filter or a limit, O(n log n) for a sort.
    @available(
        *,
        deprecated,
        message:
            "Remove your 'process(queries:)': Archivist has one, which also reports invalid steps."
    )
    public func process(results: [Result]) -> [Result] {
        do throws(VellumError) {
            return try QueryDescription([step]).results(of: results)
        } catch {
            Report.failure(error, operation: "process(results:)", Result.self)
            return []
        }
    }
}

/// A limit of the results of a query.
public struct QueryLimiter<Result> {
    let limit: Int

    /// Creates a limiter that keeps the first `limit` results; none for zero or a negative number.
    public init(limit: Int) { self.limit = max(0, limit) }
}

/// Finds objects by conditions on their properties. An object must satisfy all conditions.
///
/// ```swift
/// let results = archives.findWhere { archive in
///     archive.userName(.contains("premium"))
///         .fullName(.isNotEqual(nil))
/// }
/// .getResults()
/// ```
///
/// Each condition is added to this finder, which is returned: conditions can also be added one by
/// one. An empty finder matches every object.
@dynamicMemberLookup
public final class QueryFinder<Result> {
    /// A function that adds a condition on a property.
    public typealias QueryProperty<Property> = (QueryValidator<Result, Property>) -> QueryFinder<
        Result
    >

    var conditions: [ValueCondition<Result>] = []
    var problems: [VellumError] = []

    /// Creates a finder that matches every object.
    public init() {}

    /// Returns a function that adds a condition on a property.
    public subscript<Property>(dynamicMember property: KeyPath<Result, Property>) -> QueryProperty<
        Property
    > {
        { validator in
            self.conditions.append(validator.condition(property))
            self.problems += validator.problems
            return self
        }
    }
}
