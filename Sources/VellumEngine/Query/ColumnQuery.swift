public import VellumCore

/// A query of the index columns: a condition, an order, an offset and a limit. ``QueryPrinter`` translates it to SQL.
///
/// Rows that are equal in every column of the order are in the order in which they were first recorded.
@usableFromInline package struct ColumnQuery: Hashable, Sendable {
    @usableFromInline package var filter = ColumnCondition.all([])
    /// Most significant first.
    @usableFromInline package var order: [ColumnOrder] = []
    /// The number of rows to skip.
    @usableFromInline package var offset = 0
    /// The maximum number of rows.
    @usableFromInline package var limit: Int?

    @usableFromInline package init() {}

    /// The sum of offset and limit, if there is a limit.
    var end: Int? { limit.map(offset.saturatingAdd) }

    /// Whether it has neither a condition nor an order.
    @usableFromInline package var isScan: Bool { filter == .all([]) && order.isEmpty }
}

/// A condition on columns. `null` satisfies only ``ColumnTest/Relation/isNull``, and the negation of every other test.
@usableFromInline package indirect enum ColumnCondition: Hashable, Sendable {
    /// All conditions are true. True if there are none.
    case all([ColumnCondition])
    /// At least one condition is true. False if there are none.
    case any([ColumnCondition])
    case not(ColumnCondition)
    case test(ColumnTest)
}

/// A test of one column.
@usableFromInline package struct ColumnTest: Hashable, Sendable {
    @usableFromInline package enum Relation: Hashable, Sendable {
        case isNull
        case isEqual(IndexValue)
        case isIn([IndexValue])
        case isBetween(lower: IndexBound?, upper: IndexBound?)
        /// The text begins with the string, compared by whole characters like in Swift.
        case beginsWith(String)
        /// The collection contains one of the elements. The column is the number of the collection.
        case hasElement([IndexValue])
    }

    @usableFromInline package var column: Int
    @usableFromInline package var relation: Relation

    @usableFromInline package init(column: Int, relation: Relation) {
        self.column = column
        self.relation = relation
    }
}

/// A bound of a range.
@usableFromInline package struct IndexBound: Hashable, Sendable {
    @usableFromInline package var value: IndexValue
    @usableFromInline package var isIncluded: Bool

    @usableFromInline package init(_ value: IndexValue, isIncluded: Bool) {
        self.value = value
        self.isIncluded = isIncluded
    }
}

/// One column of an order.
@usableFromInline package struct ColumnOrder: Hashable, Sendable {
    @usableFromInline package var column: Int
    @usableFromInline package var isDescending: Bool

    @usableFromInline package init(column: Int, isDescending: Bool) {
        self.column = column
        self.isDescending = isDescending
    }
}
