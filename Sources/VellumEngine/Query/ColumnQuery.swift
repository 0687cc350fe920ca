internal import VellumCore

/// A query of the index columns: a condition, an order, an offset and a limit. ``QueryPrinter``
/// translates it to SQL.
///
/// Rows that are equal in every column of the order are in the order in which they were first
/// recorded.
struct ColumnQuery: Hashable, Sendable {
    var filter = ColumnCondition.all([])
    /// Most significant first.
    var order: [ColumnOrder] = []
    /// The number of rows to skip.
    var offset = 0
    /// The maximum number of rows.
    var limit: Int?

    /// The sum of offset and limit, if there is a limit.
    var end: Int? { limit.map(offset.saturatingAdd) }

    /// The values of LIMIT and OFFSET, as far as it has them. Of rows in an order that
    /// ``ReversedTies`` reads, the limit leaves room for some ties.
    func window(ofRows isOfRows: Bool) -> [Int64] {
        if isOfRows, ReversedTies(self) != nil {
            return end.map { [Int64($0.saturatingAdd(32))] } ?? []
        }
        return limit == nil && offset == 0
            ? []
            : [limit.map(Int64.init) ?? -1, Int64(offset)]
    }

    /// Whether it has neither a condition nor an order.
    var isScan: Bool {
        if case .all(let parts) = filter { parts.isEmpty && order.isEmpty } else { false }
    }
}

/// A test of one column. `null` satisfies only ``Relation/isNull``, and the negation of every other
/// test.
struct ColumnTest: Hashable, Sendable {
    enum Relation: Hashable, Sendable {
        case isNull
        case isEqual(IndexValue)
        case isIn([IndexValue])
        case isBetween(lower: IndexBound?, upper: IndexBound?)
        /// The text begins with the string, compared by whole characters like in Swift.
        case beginsWith(String)
        /// The collection contains one of the elements. The column is the number of the collection.
        case hasElement([IndexValue])
    }

    var column: Int
    var relation: Relation
}

/// A bound of a range.
struct IndexBound: Hashable, Sendable {
    var value: IndexValue
    var isIncluded: Bool

    init(_ value: IndexValue, isIncluded: Bool) {
        self.value = value
        self.isIncluded = isIncluded
    }
}

/// One column of an order.
struct ColumnOrder: Hashable, Sendable {
    var column: Int
    var isDescending: Bool
}

// MARK: In words

// Operands are users' data and are printed as `?`.

extension ColumnQuery {
    /// Returns a description of each part of the query.
    func descriptions(for shape: IndexShape) -> [String] {
        func name(_ column: Int) -> String { shape.columns[column].name }
        let parts = if case .all(let parts) = filter { parts } else { [filter] }
        var descriptions = parts.map { part in
            part.description { test in
                if case .hasElement = test.relation {
                    return test.description(for: shape.collections[test.column].name)
                }
                return test.description(for: name(test.column))
            }
        }
        if !order.isEmpty {
            let columns = order.map { name($0.column) + ($0.isDescending ? " descending" : "") }
            descriptions.append("sorted by " + columns.joined(separator: ", "))
        }
        if offset > 0 { descriptions.append("offset \(offset)") }
        if let limit { descriptions.append("limit \(limit)") }
        return descriptions
    }
}

extension ColumnTest {
    fileprivate func description(for name: String) -> String {
        switch relation {
        case .isNull: return "\(name) is nil"
        case .isEqual: return "\(name) = ?"
        case .isIn(let values): return "\(name) is one of \(values.count)"
        case .isBetween(let lower, let upper):
            // The planner adds NaN as the lower bound. It is not part of the query.
            let lower = lower.flatMap { $0.value == .notANumber ? nil : $0 }
            let tests = [
                lower.map { $0.isIncluded ? ">= ?" : "> ?" },
                upper.map { $0.isIncluded ? "<= ?" : "< ?" },
            ]
            return tests.compactMap { test in test.map { "\(name) \($0)" } }.joined(
                separator: " and "
            )
        case .beginsWith: return "\(name) begins with ?"
        case .hasElement(let elements):
            return "\(name) contains \(elements.count == 1 ? "?" : "one of \(elements.count)")"
        }
    }
}
