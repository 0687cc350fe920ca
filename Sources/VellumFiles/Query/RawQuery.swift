internal import VellumEngine

/// A question about the fields of objects, as text.
///
/// ```swift
/// let high = try RawQuery(
///     #"country == "CH" and elevation > 2000 sort name desc limit 10"#)
/// for object in try archive.find(high) { print(object.value.json()) }
/// ```
///
/// A field is a name, or names with dots between (`address.city`); one with other characters stands
/// in back quotes. Tests are `==`, `!=`, `<`, `<=`, `>`, `>=`, `in ("a", "b")`, `begins "a"`, and
/// `contains "a"` of a text or a list, joined by `and`, `or`, `not` and parentheses. Values are
/// texts in quotes, numbers, `true`, `false`, `null`, and dates (`2026-03-01`,
/// `2026-03-01T08:00:00Z`). Then may follow `sort` with fields, each `asc` or `desc`, and `limit`
/// and `offset` with numbers.
///
/// What is missing is `null`. Values of different kinds are not equal, and none is less than the
/// other. Texts are compared like Swift's.
public struct RawQuery: Sendable {
    /// The text is not a query: where, and why.
    public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The text of the query.
        public let text: String
        /// Where it is wrong: the offset in characters.
        public let offset: Int
        /// What was expected.
        public let message: String

        /// The text, a mark under the place, and the message.
        public var description: String {
            "\(text)\n\(String(repeating: " ", count: offset))^ \(message)"
        }
    }

    /// One criterion of a sort.
    struct Sort: Hashable, Sendable {
        var field: FieldPath
        var isDescending: Bool
    }

    var condition = Condition<FieldTest>.all([])
    var sorts: [Sort] = []
    var offset = 0
    var limit: Int?

    /// Reads a query; an empty text finds every object.
    ///
    /// - Complexity: O(length of the text).
    /// - Throws: ``SyntaxError`` with the place of the first problem.
    public init(_ text: String) throws(SyntaxError) {
        var parser = QueryParser(text)
        self = try parser.query()
    }

    init() {}
}
