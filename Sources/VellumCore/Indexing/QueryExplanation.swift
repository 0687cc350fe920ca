/// An explanation of how a query was answered: which steps an index answered, and which ran on
/// decoded objects.
///
/// ```swift
/// let explanation = try users.explain(
///     where: #Predicate { $0.age > 30 }, sortedBy: [SortDescriptor(\.age)],
///     limit: 10)
/// print(explanation)
/// ```
///
/// Contains no values of objects or of the query: operands are shown as `?`.
public struct QueryExplanation: Hashable, Sendable {
    /// The SQL statement that SQLite ran; `nil` if no index could help and every object was read.
    public var statement: String?
    /// SQLite's query plan for the statement, one step for each line.
    public var access: [String] = []
    /// Whether SQLite found the objects through an index, by a search or in its order, instead of
    /// examining each.
    public var usesIndex = false
    /// The steps that an index answered, described in words.
    public var pushedDown: [String] = []
    /// The steps that ran on decoded objects, described in words.
    public var remaining: [String] = []
    /// The number of objects that were decoded.
    public var decodedObjects = 0
    /// The number of objects that the query returned; 1 for an aggregate.
    public var results = 0
    /// The number of objects that no index covers yet and that were examined one by one.
    public var unindexedObjects = 0
    /// How long the query took.
    public var duration = Duration.zero

    /// Creates an explanation of a query that did nothing yet.
    public init() {}
}

extension QueryExplanation: CustomStringConvertible {
    /// The explanation as a few lines of text.
    public var description: String {
        var lines: [String] = []
        if let statement {
            lines.append(
                "answered by the index: "
                    + (pushedDown.isEmpty ? "every object" : pushedDown.joined(separator: "; "))
            )
            lines.append("  \(statement)")
            lines += access.map { "  \($0)" }
        } else {
            lines.append("no index can help: every object is read")
        }
        if !remaining.isEmpty {
            lines.append("asked of decoded objects: " + remaining.joined(separator: "; "))
        }
        if unindexedObjects > 0 {
            lines.append("objects that no index covers: \(unindexedObjects)")
        }
        lines.append(
            """
            \(results) results, \(decodedObjects) objects decoded, \
            \(duration.formattedInMilliseconds)
            """
        )
        return lines.joined(separator: "\n")
    }
}

extension Duration {
    fileprivate var formattedInMilliseconds: String {
        let (seconds, attoseconds) = components
        let microseconds =
            min(max(seconds, -1 << 40), 1 << 40) * 1_000_000 + attoseconds / 1_000_000_000_000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms"
    }
}
