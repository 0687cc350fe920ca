/// How a query was answered: what an index did of it, and what was left to do on decoded objects.
///
/// ```swift
/// print(try users.explain(where: #Predicate { $0.age > 30 }, sortedBy: [SortDescriptor(\.age)], limit: 10))
/// ```
///
/// Holds no value of a user's: operands are told as `?`.
public struct QueryExplanation: Hashable, Sendable {
    /// What SQLite answered, as SQL; nothing if no index could help and the objects were read one after the other.
    public var statement: String?
    /// What SQLite says of how it answers that: the index it uses, or that it uses none.
    public var access: [String] = []
    /// The steps that an index answered, in words.
    public var pushedDown: [String] = []
    /// The steps that were left to do on decoded objects, in words.
    public var remaining: [String] = []
    /// How many objects were decoded.
    public var decodedObjects = 0
    /// How many objects the query returned.
    public var results = 0
    /// Objects that no index covers yet, and that were looked at one by one.
    public var unindexedObjects = 0
    /// How long the query took.
    public var duration = Duration.zero

    public init() {}

    /// Whether SQLite finds the objects by an index, or goes through them in its order, and does not look at each.
    public var usesIndex: Bool {
        // `c` is the table of columns, `x` that of elements.
        let isSearched = access.contains { $0.hasPrefix("SEARCH c ") || $0.hasPrefix("SEARCH x ") || $0.hasPrefix("SCAN c USING") }
        return isSearched && !access.contains("SCAN c")
    }
}

extension QueryExplanation: CustomStringConvertible {
    /// The explanation as a few lines to read.
    public var description: String {
        var lines: [String] = []
        if let statement {
            lines.append("answered by the index: " + (pushedDown.isEmpty ? "every object" : pushedDown.joined(separator: "; ")))
            lines.append("  \(statement)")
            lines += access.map { "  \($0)" }
        } else {
            lines.append("no index can help: every object is read")
        }
        if !remaining.isEmpty { lines.append("asked of decoded objects: " + remaining.joined(separator: "; ")) }
        if unindexedObjects > 0 { lines.append("objects that no index covers: \(unindexedObjects)") }
        lines.append("\(results) results, \(decodedObjects) objects decoded, \(duration.formattedInMilliseconds)")
        return lines.joined(separator: "\n")
    }
}

extension Duration {
    fileprivate var formattedInMilliseconds: String {
        let (seconds, attoseconds) = components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst()) ms"
    }
}
