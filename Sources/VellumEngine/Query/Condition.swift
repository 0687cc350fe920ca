/// A condition on values: a tree of tests.
@usableFromInline package indirect enum Condition<Value> {
    /// All conditions are true. True if there are none.
    case all([Condition])
    /// At least one condition is true. False if there are none.
    case any([Condition])
    case not(Condition)
    case test(Test<Value>)

    /// Returns whether the value satisfies the condition.
    @usableFromInline package func matches(_ value: Value) throws -> Bool { try evaluation(value) }

    /// The condition as a closure. For many values, the tree is traversed once.
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

/// A test of a value, and the equivalent relation of a property, if an index may answer it.
@usableFromInline package struct Test<Value> {
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var relation: PropertyRelation?
    /// Tests the value. Must return the same as the relation for every value.
    @usableFromInline package var matches: (Value) throws -> Bool

    @usableFromInline package init(
        _ property: AnyKeyPath? = nil, _ relation: PropertyRelation? = nil, matches: @escaping (Value) throws -> Bool
    ) {
        self.property = property
        self.relation = relation
        self.matches = matches
    }
}

/// A relation of a property to operands. The operands have the type of the property, or of its elements.
@usableFromInline package enum PropertyRelation {
    case isNil
    case isEqual(Any)
    case isIn([Any])
    case isBetween(lower: Bound?, upper: Bound?)
    /// Begins with the string, compared by whole characters like in Swift.
    case beginsWith(String)
    case hasElement(Any)

    /// A bound of a range.
    @usableFromInline package struct Bound {
        @usableFromInline package var value: Any
        @usableFromInline package var isIncluded: Bool

        @usableFromInline package init(_ value: Any, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }
}
