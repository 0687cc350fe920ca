internal import VellumCore
internal import VellumEngine

/// Sorts objects by their properties, most significant first.
///
/// ```swift
/// let results = archives.sorted { by in
///     by.age(.ascending)
///         .fullName(.descending)
/// }
/// .getResults()
/// ```
///
/// Each property is added to this sorter, which is returned: properties can also be added one by
/// one. Sorting is stable. In ascending order `nil` is first, then NaN, then all other values;
/// descending order is the reverse.
@dynamicMemberLookup
public final class QuerySorter<Result> {
    /// A function that adds a property to sort by.
    public typealias Sorter = (QuerySortDirection) -> QuerySorter<Result>
    /// Compares two objects in ascending order.
    public typealias Comparator = (Result, Result) -> QueryCompareResult

    var orderings: [Ordering<Result>] = []

    /// Creates a sorter that does not change the order.
    public init() {}

    /// Returns a function that adds a property to sort by. It orders objects that the earlier
    /// properties leave equal.
    public subscript<Property: Comparable>(dynamicMember property: KeyPath<Result, Property>)
        -> Sorter
    {
        { self.adding(.by(property, isDescending: $0 == .descending)) }
    }

    /// Returns a function that adds an optional property to sort by. It orders objects that the
    /// earlier properties leave equal.
    public subscript<Property: Comparable>(dynamicMember property: KeyPath<Result, Property?>)
        -> Sorter
    {
        { self.adding(.by(property, isDescending: $0 == .descending)) }
    }

    /// Adds a comparison to sort by. It orders objects that the earlier properties leave equal.
    ///
    /// ```swift
    /// by.manual(direction: .ascending) {
    ///     $0.age < $1.age ? .leftLessThanRight : .leftGreaterThanRight
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - direction: The direction of the sort.
    ///   - compare: Compares two objects in ascending order.
    public func manual(
        direction: QuerySortDirection,
        by compare: @escaping Comparator
    ) -> QuerySorter<Result> {
        let isDescending = direction == .descending
        return adding(
            Ordering(isDescending: isDescending) { left, right in
                let order = compare(left, right).order
                return isDescending ? -order : order
            }
        )
    }

    private func adding(_ ordering: Ordering<Result>) -> QuerySorter<Result> {
        orderings.append(ordering)
        return self
    }
}

/// The direction of a sort.
public enum QuerySortDirection: Hashable, Sendable {
    /// The smallest value is first.
    case ascending
    /// The largest value is first.
    case descending
}

/// The result of comparing two objects, for ``QuerySorter/manual(direction:by:)``.
public enum QueryCompareResult: Hashable, Sendable {
    /// In ascending order, the left object comes after the right one.
    case leftGreaterThanRight
    /// In ascending order, the left object comes before the right one.
    case leftLessThanRight
    /// Neither object comes before the other.
    case leftEqualWithRight

    fileprivate var order: Int {
        switch self {
        case .leftGreaterThanRight: 1
        case .leftLessThanRight: -1
        case .leftEqualWithRight: 0
        }
    }
}
