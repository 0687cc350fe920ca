/// How a query was answered: what an index did of it, and what was left to do on decoded objects.
///
/// ```swift
/// print(try users.explain(where: #Predicate { $0.age > 30 }, sortedBy: [SortDescriptor(\.age)], limit: 10))
/// ```
///
/// Holds no value of a user's: operands are told as `?`.
public struct QueryExplanation: Hashable, Sendable {
    /// What SQLite answered, as SQL; nothing if no index could help and the objects were read one after the other.
    public internal(set) var statement: String?
    /// What SQLite says of how it answers that: the index it uses, or that it uses none.
    public internal(set) var access: [String] = []
    /// The steps that an index answered, in words.
    public internal(set) var pushedDown: [String] = []
    /// The steps that were left to do on decoded objects, in words.
    public internal(set) var remaining: [String] = []
    /// How many objects were decoded.
    public internal(set) var decodedObjects = 0
    /// How many objects the query returned.
    public internal(set) var results = 0
    /// Objects that no index covers yet, and that were looked at one by one.
    public internal(set) var unindexedObjects = 0
    /// How long the query took.
    public internal(set) var duration = Duration.zero

    public init() {}

    /// Whether SQLite finds the objects by an index, or goes through them in its order, and does not look at each.
    public var usesIndex: Bool {
        // `c` is the table of columns, `x` that of elements.
        let isSearched = access.contains { $0.hasPrefix("SEARCH c ") || $0.hasPrefix("SEARCH x ") || $0.hasPrefix("SCAN c USING") }
        return isSearched && !access.contains("SCAN c")
    }
}
