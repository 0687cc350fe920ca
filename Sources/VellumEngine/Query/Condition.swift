/// A condition: a tree of tests. Those of values are ``Test``, those of index columns
/// ``ColumnTest``.
@usableFromInline package indirect enum Condition<Leaf> {
    /// All conditions are true. True if there are none.
    case all([Condition])
    /// At least one condition is true. False if there are none.
    case any([Condition])
    case not(Condition)
    case test(Leaf)
}

extension Condition: Equatable where Leaf: Equatable {}
extension Condition: Hashable where Leaf: Hashable {}
extension Condition: Sendable where Leaf: Sendable {}

@usableFromInline package typealias ValueCondition<Value> = Condition<Test<Value>>
typealias ColumnCondition = Condition<ColumnTest>

extension Condition {
    /// Returns the condition with a condition in the place of each test. Has the same parts in the
    /// same order.
    package func replacingTests<Other>(
        _ replacement: (Leaf) -> Condition<Other>
    ) -> Condition<Other> {
        switch self {
        // By number, because an iterator of values of a generic type takes longer.
        case .all(let parts):
            .all((0..<parts.count).map { parts[$0].replacingTests(replacement) })
        case .any(let parts):
            .any((0..<parts.count).map { parts[$0].replacingTests(replacement) })
        case .not(let part): .not(part.replacingTests(replacement))
        case .test(let test): replacement(test)
        }
    }

    func forEachTest(_ body: (Leaf) -> Void) {
        switch self {
        case .all(let parts), .any(let parts):
            for part in 0..<parts.count { parts[part].forEachTest(body) }
        case .not(let part): part.forEachTest(body)
        case .test(let test): body(test)
        }
    }

    /// The parts that must all be true.
    var conjuncts: [Condition] {
        guard case .all(let parts) = self else { return [self] }
        let isFlat = !(0..<parts.count).contains {
            if case .all = parts[$0] { true } else { false }
        }
        return isFlat ? parts : (0..<parts.count).flatMap { parts[$0].conjuncts }
    }

    /// Returns the condition as a closure of what its tests are closures of. For many values, the
    /// tree is traversed once.
    package func evaluation<Value>(
        _ closure: (Leaf) -> (Value) throws -> Bool
    ) -> (Value) throws ->
        Bool
    {
        switch self {
        case .test(let test):
            return closure(test)
        case .not(let part):
            let part = part.evaluation(closure)
            return { try !part($0) }
        case .all(let parts):
            guard let first = parts.first else { return { _ in true } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation(closure) }
                return { value in try parts.allSatisfy { try $0(value) } }
            }
            // Not a list of closures: one that comes out of a list is called through two more.
            var all = first.evaluation(closure)
            for number in 1..<parts.count {
                let left = all
                let right = parts[number].evaluation(closure)
                all = { try left($0) && right($0) }
            }
            return all
        case .any(let parts):
            guard let first = parts.first else { return { _ in false } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation(closure) }
                return { value in try parts.contains { try $0(value) } }
            }
            var any = first.evaluation(closure)
            for number in 1..<parts.count {
                let left = any
                let right = parts[number].evaluation(closure)
                any = { try left($0) || right($0) }
            }
            return any
        }
    }

    /// Returns the condition in words.
    func description(_ words: (Leaf) -> String) -> String {
        func list(_ parts: [Condition], _ word: String, _ none: String) -> String {
            let others = parts.count > 20 ? ["\(parts.count - 20) others"] : []
            let shown = parts.prefix(20).map { $0.description(words) } + others
            return parts.isEmpty ? none : "(\(shown.joined(separator: word)))"
        }
        return switch self {
        case .all(let parts): list(parts, " and ", "true")
        case .any(let parts): list(parts, " or ", "false")
        case .not(let part): "not " + part.description(words)
        case .test(let test): words(test)
        }
    }
}

// MARK: Values

extension Condition {
    /// Returns the condition as a closure of values.
    package func evaluation<Value>() -> (Value) throws -> Bool where Leaf == Test<Value> {
        evaluation { $0.matches }
    }

    /// Returns whether the value satisfies the condition.
    package func matches<Value>(_ value: Value) throws -> Bool where Leaf == Test<Value> {
        try evaluation()(value)
    }
}

/// A test of a value, and the equivalent relation of a property, if an index may answer it.
@usableFromInline package struct Test<Value> {
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var relation: PropertyRelation?
    /// Whether Foundation evaluates a part of the test, which takes several times as long as a
    /// closure.
    package var isInterpreted = false
    /// Tests the value. Must return the same as the relation for every value.
    @usableFromInline package var matches: (Value) throws -> Bool

    @usableFromInline package init(
        _ property: AnyKeyPath? = nil,
        _ relation: PropertyRelation? = nil,
        matches: @escaping (Value) throws -> Bool
    ) {
        self.property = property
        self.relation = relation
        self.matches = matches
    }

    var description: String {
        (property.map { "on \($0.debugDescription)" } ?? "on the object")
            + (isInterpreted ? ", evaluated by Foundation" : "")
    }
}

/// A relation of a property to operands. The operands have the type of the property, or of its
/// elements.
@usableFromInline package enum PropertyRelation {
    case isNil
    case isEqual(Any)
    case isIn([Any])
    case isBetween(lower: Bound?, upper: Bound?)
    /// Begins with the string, compared by whole characters like in Swift.
    case beginsWith(String)
    /// Contains one of the elements.
    case hasElement([Any])

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
