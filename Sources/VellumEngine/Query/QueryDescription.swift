public import Foundation
internal import VellumCore

/// What is asked of a store: steps that are carried out one after the other. Every language of queries ends here.
@usableFromInline package struct QueryDescription<Value> {
    @usableFromInline package enum Step {
        /// Keep what satisfies the condition.
        case filter(Condition<Value>)
        /// Order by these, most significant first. What is equal stays as it was.
        case sort([Ordering<Value>])
        /// Leave out so many at the beginning.
        case skip(Int)
        /// Keep so many at most.
        case limit(Int)
    }

    @usableFromInline package var steps: [Step]

    @usableFromInline package init(_ steps: [Step] = []) {
        self.steps = steps
    }
}

/// A condition on values: tests, and how they are combined.
@usableFromInline package indirect enum Condition<Value> {
    /// All of them hold; true if there are none.
    case all([Condition])
    /// One of them holds; false if there are none.
    case any([Condition])
    case not(Condition)
    case test(Test<Value>)

    /// Asks the value itself.
    @usableFromInline package func matches(_ value: Value) throws -> Bool { try evaluation(value) }

    /// Asks values themselves: for many of them the tree is gone through once.
    @usableFromInline package var evaluation: (Value) throws -> Bool {
        switch self {
        case .test(let test):
            return test.matches
        case .not(let part):
            let part = part.evaluation
            return { try !part($0) }
        case .all(let parts):
            guard let first = parts.first?.evaluation else { return { _ in true } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation }
                return { value in try parts.allSatisfy { try $0(value) } }
            }
            return parts.dropFirst().map { $0.evaluation }.reduce(first) { left, right in { try left($0) && right($0) } }
        case .any(let parts):
            guard let first = parts.first?.evaluation else { return { _ in false } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation }
                return { value in try parts.contains { try $0(value) } }
            }
            return parts.dropFirst().map { $0.evaluation }.reduce(first) { left, right in { try left($0) || right($0) } }
        }
    }
}

extension Condition {
    /// Asks the bytes that are stored of a value, where tests can: whether it satisfies the condition, or `nil` where they do not tell.
    /// `nil` if no test can ask any.
    @usableFromInline package var storedEvaluation: ((Data) -> Bool?)? {
        switch self {
        case .test(let test):
            return test.matchesStored
        case .not(let part):
            return part.storedEvaluation.map { part in { bytes in part(bytes).map { !$0 } } }
        case .all(let parts):
            return Self.stored(parts, deciding: false)
        case .any(let parts):
            return Self.stored(parts, deciding: true)
        }
    }

    /// Parts of which one decides by its answer, and all others by theirs together.
    private static func stored(_ parts: [Condition], deciding: Bool) -> ((Data) -> Bool?)? {
        let known = parts.compactMap { $0.storedEvaluation }
        guard !known.isEmpty else { return nil }
        let isComplete = known.count == parts.count
        return { bytes in
            var isSure = isComplete
            for part in known {
                switch part(bytes) {
                case deciding: return deciding
                case nil: isSure = false
                default: break
                }
            }
            return isSure ? !deciding : nil
        }
    }
}

/// A test of a value, and what it asks of which property, where an index could answer that.
@usableFromInline package struct Test<Value> {
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var relation: PropertyRelation?
    /// Asks the value itself. The answer is that of the relation, for every value.
    @usableFromInline package var matches: (Value) throws -> Bool
    /// Asks the bytes that are stored of a value, without making it of them; `nil` where they do not tell. Otherwise the answer is that
    /// of the value.
    @usableFromInline package var matchesStored: ((Data) -> Bool?)?

    @usableFromInline package init(
        _ property: AnyKeyPath? = nil, _ relation: PropertyRelation? = nil, matches: @escaping (Value) throws -> Bool,
        matchesStored: ((Data) -> Bool?)? = nil
    ) {
        self.property = property
        self.relation = relation
        self.matches = matches
        self.matchesStored = matchesStored
    }
}

/// What a property must be. Operands are of the property's own type, or of its element's.
@usableFromInline package enum PropertyRelation {
    case isNil
    case isEqual(Any)
    case isIn([Any])
    case isBetween(lower: Bound?, upper: Bound?)
    /// Begins with the characters of the string: whole ones, as Swift counts them.
    case beginsWith(String)
    case hasElement(Any)

    /// An end of a range.
    @usableFromInline package struct Bound {
        @usableFromInline package var value: Any
        @usableFromInline package var isIncluded: Bool

        @usableFromInline package init(_ value: Any, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }
}

/// One criterion of an order.
@usableFromInline package struct Ordering<Value> {
    /// The property that it orders by, where that is by the property's own order, `nil` first.
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var isDescending: Bool
    /// Below zero if the left one comes first, above if the right one does; the direction is already in it.
    @usableFromInline package var compare: (Value, Value) throws -> Int

    @usableFromInline package init(_ property: AnyKeyPath? = nil, isDescending: Bool, compare: @escaping (Value, Value) throws -> Int) {
        self.property = property
        self.isDescending = isDescending
        self.compare = compare
    }
}
