public import VellumCore

/// What a tier is asked: a condition on columns, an order, and a window. A pure value; a tier prints it in its own language.
///
/// Rows that are equal in every column of the order come as they were first recorded.
@usableFromInline package struct ColumnQuery: Hashable, Sendable {
    @usableFromInline package var filter = ColumnCondition.all([])
    /// Most significant first.
    @usableFromInline package var order: [ColumnOrder] = []
    /// How many to leave out at the beginning.
    @usableFromInline package var offset = 0
    /// How many to return at most.
    @usableFromInline package var limit: Int?

    @usableFromInline package init() {}

    /// How many of the first rows the window is within, if it ends.
    var end: Int? { limit.map(offset.saturatingAdd) }

    /// Whether it asks nothing of the columns.
    @usableFromInline package var isScan: Bool { filter == .all([]) && order.isEmpty }
}

/// A condition on columns. Nothing (`null`) satisfies no test but ``ColumnTest/Relation/isNull``; `not` turns that over.
@usableFromInline package indirect enum ColumnCondition: Hashable, Sendable {
    /// All of them hold; true if there are none.
    case all([ColumnCondition])
    /// One of them holds; false if there are none.
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
        /// The text begins with these characters: whole ones, as Swift counts them.
        case beginsWith(String)
        /// The collection holds one of the elements. The column is the number of the collection.
        case hasElement([IndexValue])
    }

    @usableFromInline package var column: Int
    @usableFromInline package var relation: Relation

    @usableFromInline package init(column: Int, relation: Relation) {
        self.column = column
        self.relation = relation
    }
}

/// An end of a range.
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
