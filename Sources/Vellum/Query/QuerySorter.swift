internal import VellumCore
internal import VellumEngine

/// Sorts objects by their properties, the most significant first.
///
/// ```swift
/// let results = archives.sorted { by in
///     by.age(.ascending)
///         .fullName(.descending)
/// }
/// .getResults()
/// ```
///
/// Sorting is stable. `nil` comes before everything else, then what is not a number; descending, the other way around.
@dynamicMemberLookup
public struct QuerySorter<Result> {
    var orderings: [Ordering<Result>] = []

    /// A sorter that leaves everything where it is.
    public init() {}

    /// Sorts by a property what is equal up to here.
    public subscript<Property: Comparable>(
        dynamicMember property: KeyPath<Result, Property>
    ) -> (QuerySortDirection) -> QuerySorter<Result> {
        { adding(.by(property, isDescending: $0 == .descending)) }
    }

    /// Sorts by an optional property what is equal up to here.
    public subscript<Property: Comparable>(
        dynamicMember property: KeyPath<Result, Property?>
    ) -> (QuerySortDirection) -> QuerySorter<Result> {
        { adding(.by(property, isDescending: $0 == .descending)) }
    }

    /// Sorts as the closure compares what is equal up to here.
    ///
    /// ```swift
    /// by.manual(direction: .ascending) { $0.age < $1.age ? .leftLessThanRight : .leftGreaterThanRight }
    /// ```
    public func manual(
        direction: QuerySortDirection, by compare: @escaping (Result, Result) -> QueryCompareResult
    ) -> QuerySorter<Result> {
        let isDescending = direction == .descending
        return adding(
            Ordering(isDescending: isDescending) { left, right in
                let order = compare(left, right).order
                return isDescending ? -order : order
            })
    }

    private func adding(_ ordering: Ordering<Result>) -> QuerySorter<Result> {
        var sorter = self
        sorter.orderings.append(ordering)
        return sorter
    }
}

/// The direction of a sort.
public enum QuerySortDirection: Hashable, Sendable {
    /// The least first.
    case ascending
    /// The greatest first.
    case descending
}

/// How two objects compare, for ``QuerySorter/manual(direction:by:)``.
public enum QueryCompareResult: Hashable, Sendable {
    case leftGreaterThanRight
    case leftLessThanRight
    case leftEqualWithRight

    fileprivate var order: Int {
        switch self {
        case .leftGreaterThanRight: 1
        case .leftLessThanRight: -1
        case .leftEqualWithRight: 0
        }
    }
}
