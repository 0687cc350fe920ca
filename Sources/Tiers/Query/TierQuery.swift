/// What a tier is asked: a condition on columns, an order, and a window. A pure value; a tier prints it in its own language.
///
/// Rows that are equal in every column of the order come as they were first recorded.
public struct TierQuery: Hashable, Sendable {
    public var filter = ColumnCondition.all([])
    /// Most significant first.
    public var order: [ColumnOrder] = []
    /// How many to leave out at the beginning.
    public var offset = 0
    /// How many to return at most.
    public var limit: Int?

    public init() {}

    /// How many of the first rows the window is within, if it ends.
    var end: Int? { limit.map(offset.saturatingAdd) }

    /// Whether it asks nothing of the columns.
    public var isScan: Bool { filter == .all([]) && order.isEmpty }
}

/// A condition on columns. Nothing (`null`) satisfies no test but ``ColumnTest/Relation/isNull``; `not` turns that over.
public indirect enum ColumnCondition: Hashable, Sendable {
    /// All of them hold; true if there are none.
    case all([ColumnCondition])
    /// One of them holds; false if there are none.
    case any([ColumnCondition])
    case not(ColumnCondition)
    case test(ColumnTest)
}

/// A test of one column.
public struct ColumnTest: Hashable, Sendable {
    public enum Relation: Hashable, Sendable {
        case isNull
        case isEqual(IndexValue)
        case isIn([IndexValue])
        case isBetween(lower: IndexBound?, upper: IndexBound?)
        /// The text begins with these characters: whole ones, as Swift counts them.
        case beginsWith(String)
        /// The collection holds one of the elements. The column is the number of the collection.
        case hasElement([IndexValue])
    }

    public var column: Int
    public var relation: Relation

    public init(column: Int, relation: Relation) {
        self.column = column
        self.relation = relation
    }
}

/// An end of a range.
public struct IndexBound: Hashable, Sendable {
    public var value: IndexValue
    public var isIncluded: Bool

    public init(_ value: IndexValue, isIncluded: Bool) {
        self.value = value
        self.isIncluded = isIncluded
    }
}

/// One column of an order.
public struct ColumnOrder: Hashable, Sendable {
    public var column: Int
    public var isDescending: Bool

    public init(column: Int, isDescending: Bool) {
        self.column = column
        self.isDescending = isDescending
    }
}
