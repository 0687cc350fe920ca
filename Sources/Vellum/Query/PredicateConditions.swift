internal import Foundation
internal import VellumCore
internal import VellumEngine

extension Condition {
    /// Converts a predicate to a condition: relations for an index where possible, tests that
    /// return the same as Foundation elsewhere.
    init<Value>(_ predicate: Predicate<Value>) where Leaf == Test<Value> {
        let scope = PredicateScope(predicate.variable)
        if let known = scope.condition(of: predicate.expression) {
            self = known
        } else {
            // The predicate uses a variable that it does not have. Foundation throws an error for
            // each object.
            var test = Test<Value> { try predicate.evaluate($0) }
            test.isInterpreted = true
            self = .test(test)
        }
    }

    /// Whether an index may answer any part of the condition.
    fileprivate func hasRelation<Value>() -> Bool where Leaf == Test<Value> {
        switch self {
        // By number, because an iterator of values of a generic type takes longer.
        case .all(let parts), .any(let parts):
            (0..<parts.count).contains { parts[$0].hasRelation() }
        case .not(let part): part.hasRelation()
        case .test(let test): test.relation != nil
        }
    }
}

/// A part of a predicate that may have a relation for an index.
protocol RelatedExpression: PredicateExpression where Output == Bool {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>?
}

extension PredicateScope {
    /// Returns the part as a condition, or `nil` if it uses a variable that the scope does not
    /// have. A part without a relation becomes one closure.
    func condition(of part: some PredicateExpression<Bool>) -> ValueCondition<Environment>? {
        if let condition = (part as? any RelatedExpression)?.condition(in: self),
            condition.hasRelation()
        {
            return condition
        }
        do {
            let interpretation = Interpretation()
            var test = Test(matches: try noting(interpretation).compiled(part))
            test.isInterpreted = interpretation.isUsed
            return .test(test)
        } catch {
            return nil
        }
    }
}

// MARK: Connectives

/// `&&` or `||`. A chain of one of them that is made at run time may be too deep for a recursion:
/// it is a list of operands then.
protocol Connective: RelatedExpression, CompilableExpression {
    associatedtype LHS: PredicateExpression<Bool>
    associatedtype RHS: PredicateExpression<Bool>
    var lhs: LHS { get }
    var rhs: RHS { get }
    var isConjunction: Bool { get }
}

extension Connective {
    /// The operands of the chain of the same connective, in order.
    private var operands: [any PredicateExpression<Bool>] {
        var left = [lhs, rhs] as [any PredicateExpression<Bool>]
        var operands = [any PredicateExpression<Bool>]()
        while let part = left.popLast() {
            if let chain = part as? any Connective, chain.isConjunction == isConjunction {
                left += [chain.lhs, chain.rhs] as [any PredicateExpression<Bool>]
            } else {
                operands.append(part)
            }
        }
        return operands.reversed()
    }

    /// Whether the condition is a chain of the same connective.
    private func isChain<Environment>(_ condition: ValueCondition<Environment>) -> Bool {
        switch condition {
        case .all: isConjunction
        case .any: !isConjunction
        case .not, .test: false
        }
    }

    private func chain<Environment>(
        _ parts: [ValueCondition<Environment>]
    ) -> ValueCondition<Environment> {
        isConjunction ? .all(parts) : .any(parts)
    }

    /// Parts of the same connective stand side by side: SQLite limits how deep they may be nested.
    private func joined<Environment>(
        _ parts: [ValueCondition<Environment>]
    ) -> ValueCondition<Environment> {
        var flat: [ValueCondition<Environment>] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part {
            case .all(let inner) where isConjunction: flat += inner
            case .any(let inner) where !isConjunction: flat += inner
            default: flat.append(part)
            }
        }
        return chain(flat)
    }

    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        var scope = scope
        var parts = [ValueCondition<Environment>]()
        scope.depth += 1
        if scope.depth < 20 {
            // Without the casts that finding the operands of a chain takes.
            guard let left = scope.condition(of: lhs) else { return nil }
            if isConjunction { scope.assume(left) }
            guard let right = scope.condition(of: rhs) else { return nil }
            return isChain(left) || isChain(right)
                ? joined([left, right])
                : chain([left, right])
        }
        for operand in operands {
            guard let part = scope.condition(of: operand) else { return nil }
            if isConjunction { scope.assume(part) }
            parts.append(part)
        }
        return joined(parts)
    }

    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        try chain(
            operands.map { .test(Test(matches: try scope.compiled($0))) }
        )
        .evaluation()
    }
}

extension PredicateExpressions.Conjunction: Connective, RelatedExpression, CompilableExpression {
    var isConjunction: Bool { true }
}

extension PredicateExpressions.Disjunction: Connective, RelatedExpression, CompilableExpression {
    var isConjunction: Bool { false }
}

extension PredicateExpressions.Negation: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        scope.condition(of: wrapped).map { .not($0) }
    }
}

// MARK: Equality

extension PredicateExpressions.Equal: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        if let condition = scope.equality(of: lhs, with: rhs)
            ?? scope.equality(of: rhs, with: lhs)
        {
            return condition
        }
        // `$0.age.flatMap { $0 > 3 } == true`
        if constant(of: rhs) as? Bool == true { return scope.unwrappedCondition(of: lhs) }
        return nil
    }
}

extension PredicateExpressions.NotEqual: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        (scope.equality(of: lhs, with: rhs) ?? scope.equality(of: rhs, with: lhs)).map {
            .not($0)
        }
    }
}

/// A property of type `Bool`.
extension PredicateExpressions.KeyPath: RelatedExpression where Output == Bool {}

/// A variable of type `Bool`, such as the unwrapped value of an optional property.
extension PredicateExpressions.Variable: RelatedExpression where Output == Bool {}

extension RelatedExpression where Self: PropertyExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        scope.propertyPath(of: self).map { PropertyTests($0).isEqual(true) }
    }
}

/// A property of type `Bool?` that is not `nil`.
extension PredicateExpressions.ForcedUnwrap: RelatedExpression where Wrapped == Bool {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        scope.propertyTests(of: self).map { $0.isEqual(true) }
    }
}

// MARK: Order

extension PredicateExpressions.Comparison: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        condition(of: lhs, op, rhs, in: scope) ?? condition(of: rhs, op.mirrored, lhs, in: scope)
    }

    /// Returns the condition if the part is a property and the other one is a constant.
    private func condition<Part: PredicateExpression, Other: PredicateExpression, Environment>(
        of part: Part,
        _ op: PredicateExpressions.ComparisonOperator?,
        _ other: Other,
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? where Part.Output == LHS.Output, Other.Output == LHS.Output {
        guard let op, let operand = constant(of: other) else { return nil }
        if let property = scope.propertyTests(of: part) { return property.compares(op, operand) }
        guard let property = scope.coalescedProperty(of: part) else { return nil }
        return property.tests.compares(op, operand).map {
            property.condition($0, matchesDefault: holds(property.defaultValue, op, operand))
        }
    }

    private func holds(
        _ left: LHS.Output,
        _ op: PredicateExpressions.ComparisonOperator,
        _ right: LHS.Output
    ) -> Bool {
        // Strings have the order of an index, as in the tests of properties.
        let order =
            LHS.Output.self == String.self
            ? PropertyOrder.comparison(of: LHS.Output.self)(left, right) : nil
        return switch op {
        case .lessThan: order.map { $0 < 0 } ?? (left < right)
        case .lessThanOrEqual: order.map { $0 <= 0 } ?? (left <= right)
        case .greaterThan: order.map { $0 > 0 } ?? (left > right)
        case .greaterThanOrEqual: order.map { $0 >= 0 } ?? (left >= right)
        @unknown default: false
        }
    }
}

extension PropertyTests where Property: Comparable {
    fileprivate func compares(
        _ op: PredicateExpressions.ComparisonOperator,
        _ operand: Property
    ) -> ValueCondition<Value>? {
        switch op {
        case .lessThan: less(than: operand)
        case .lessThanOrEqual: lessOrEqual(operand)
        case .greaterThan: greater(than: operand)
        case .greaterThanOrEqual: greaterOrEqual(operand)
        @unknown default: nil
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        guard let property = scope.propertyTests(of: element), let range = constant(of: range)
        else { return nil }
        switch range {
        case let range as Range<Element.Output>: return property.isIn(range)
        case let range as ClosedRange<Element.Output>: return property.isIn(range)
        case let range as PartialRangeFrom<Element.Output>:
            return property.greaterOrEqual(range.lowerBound)
        case let range as PartialRangeThrough<Element.Output>:
            return property.lessOrEqual(range.upperBound)
        case let range as PartialRangeUpTo<Element.Output>:
            return property.less(than: range.upperBound)
        default: return nil
        }
    }
}

// MARK: Sequences

extension PredicateExpressions.SequenceContains: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        if let property = scope.propertyTests(of: sequence),
            let element = constant(of: element)
        {
            return property.contains(element)
        }
        if let property = scope.propertyTests(of: element),
            let elements = constant(of: sequence)
        {
            // A sequence may be infinite, or be consumed by one iteration. A collection is not.
            guard elements is any Collection else { return nil }
            return property.isOne(of: elements)
        }
        return nil
    }
}

extension PredicateExpressions.SequenceStartsWith: RelatedExpression {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        let start: Prefix.Output? = constant(of: prefix)
        guard
            let property = scope.propertyTests(of: base) as? PropertyTests<Environment, String>
        else { return nil }
        return (start as? any StringProtocol).map { property.starts(with: String($0)) }
    }
}

// MARK: Optionals

/// `if let age = $0.age { age > 3 } else { false }`
extension PredicateExpressions.NilCoalesce: RelatedExpression where RHS.Output == Bool {
    func condition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        constant(of: rhs) == false ? scope.unwrappedCondition(of: lhs) : nil
    }
}

extension PredicateScope {
    /// Returns the condition that the part is true, and neither false nor `nil`.
    func unwrappedCondition(of part: some PredicateExpression) -> ValueCondition<Environment>? {
        (part as? any UnwrappingExpression)?.unwrappedCondition(in: self)
    }

    /// Returns the condition that the part is equal to the other one, if it is a property and the
    /// other is a constant.
    fileprivate func equality<Part: PredicateExpression, Other: PredicateExpression>(
        of part: Part,
        with other: Other
    ) -> ValueCondition<Environment>? where Part.Output == Other.Output, Part.Output: Equatable {
        guard let operand = constant(of: other) else { return nil }
        if let property = propertyTests(of: part) { return property.isEqual(operand) }
        guard let property = coalescedProperty(of: part) else { return nil }
        return property.condition(
            property.tests.isEqual(operand),
            matchesDefault: property.defaultValue == operand
        )
    }
}

/// A part that tests the wrapped value of an optional.
private protocol UnwrappingExpression {
    func unwrappedCondition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>?
}

extension PredicateExpressions.OptionalFlatMap: UnwrappingExpression where Result == Bool {
    fileprivate func unwrappedCondition<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ValueCondition<Environment>? {
        guard let path = scope.propertyPath(of: wrapped) else { return nil }
        guard let test = transform as? any PredicateExpression<Bool> else { return nil }
        guard let inner = PredicateScope.inner(variable).condition(of: test) else {
            return nil
        }
        let lifted = inner.lifted(to: path)
        // `nil` satisfies no test, but it would satisfy the negation of one.
        if case .test = inner { return lifted }
        return .all([PropertyTests(path).isNotNil, lifted])
    }
}

extension Condition {
    /// Returns the condition on the wrapped value of an optional property. `nil` satisfies none of
    /// its tests.
    fileprivate func lifted<Root, Value>(to path: KeyPath<Root, Value?>) -> ValueCondition<Root>
    where Leaf == Test<Value> {
        replacingTests { test in
            let testsWholeValue = test.property == \Value.self
            var lifted = Test(testsWholeValue ? path : nil, testsWholeValue ? test.relation : nil) {
                (root: Root) in
                guard let value = root[keyPath: path] else { return false }
                return try test.matches(value)
            }
            lifted.isInterpreted = test.isInterpreted
            return .test(lifted)
        }
    }
}
