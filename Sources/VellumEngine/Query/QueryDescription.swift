internal import VellumCore

/// A query of a store: steps that are executed in order. Predicates and finders are both converted
/// to it.
@usableFromInline package struct QueryDescription<Value> {
    @usableFromInline package enum Step {
        /// Keeps the values that satisfy the condition.
        case filter(ValueCondition<Value>)
        /// Sorts by these orderings, most significant first. The sort is stable.
        case sort([Ordering<Value>])
        /// Skips the first values.
        case skip(Int)
        /// Keeps the first values.
        case limit(Int)
    }

    @usableFromInline package var steps: [Step]

    @usableFromInline package init(_ steps: [Step] = []) {
        self.steps = steps
    }
}

/// How a query is executed.
struct QueryOptions {
    /// Whether the caller may stop early.
    var isLazy = false
    var undecodable = UndecodableObjects.fail
    /// Whether expired values match, too. Those of other versions and those that cannot be decoded
    /// are then in ``EntryReader/unjudged``.
    var withExpired = false
    /// Returns whether the caller has cancelled the query; `nil` if it cannot be cancelled.
    var isCancelled: (() -> Bool)?
    /// Whether the digests of the values are wanted.
    var isObserved = false
}

/// One criterion of a sort.
@usableFromInline package struct Ordering<Value> {
    /// The property, if the criterion is its `<` with `nil` first.
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var isDescending: Bool
    /// Returns a negative number if the left value comes first, and a positive one if the right
    /// value does. Includes the direction.
    @usableFromInline package var compare: (Value, Value) throws -> Int

    @usableFromInline package init(
        _ property: AnyKeyPath? = nil,
        isDescending: Bool,
        compare: @escaping (Value, Value) throws -> Int
    ) {
        self.property = property
        self.isDescending = isDescending
        self.compare = compare
    }
}

extension QueryDescription.Step {
    /// The kind of the step and its properties.
    var description: String {
        switch self {
        case .filter(let condition): "filter " + condition.description { $0.description }
        case .sort(let orderings):
            "sort by "
                + orderings.map {
                    ($0.property?.debugDescription ?? "a comparison")
                        + ($0.isDescending ? " descending" : "")
                }
                .joined(separator: ", ")
        case .skip(let count): "offset \(count)"
        case .limit(let count): "limit \(count)"
        }
    }
}
