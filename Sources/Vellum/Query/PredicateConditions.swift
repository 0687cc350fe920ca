internal import Foundation
internal import VellumCore
internal import VellumEngine

extension Condition {
    /// Converts a predicate to a condition: relations for an index where possible, tests that return the same as Foundation elsewhere.
    init(_ predicate: Predicate<Value>) {
        let scope = PredicateScope(predicate.variable)
        // The predicate uses a variable that it does not have. Foundation throws an error for each object.
        self = condition(of: predicate.expression, in: scope) ?? .test(Test { try predicate.evaluate($0) })
    }

    /// Whether an index may answer any part of the condition.
    fileprivate var hasRelation: Bool {
        switch self {
        // By number, because an iterator of values of a generic type takes longer.
        case .all(let parts), .any(let parts): (0..<parts.count).contains { parts[$0].hasRelation }
        case .not(let part): part.hasRelation
        case .test(let test): test.relation != nil
        }
    }
}

/// A part of a predicate that may have a relation for an index.
protocol RelatedExpression: PredicateExpression where Output == Bool {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>?
}

/// Returns the part as a condition, or `nil` if it uses a variable that the scope does not have. A part without a relation becomes one
/// closure.
func condition<Part: PredicateExpression, Environment>(
    of part: Part, in scope: PredicateScope<Environment>
) -> Condition<Environment>? where Part.Output == Bool {
    if let condition = (part as? any RelatedExpression)?.condition(in: scope), condition.hasRelation { return condition }
    do {
        return .test(Test(matches: try compiled(part, in: scope)))
    } catch {
        return nil
    }
}

// MARK: Connectives

extension PredicateExpressions.Conjunction: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        guard let left = Vellum.condition(of: lhs, in: scope) else { return nil }
        guard let right = Vellum.condition(of: rhs, in: scope.assuming(left)) else { return nil }
        return .all([left, right])
    }
}

extension PredicateExpressions.Disjunction: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        guard let left = Vellum.condition(of: lhs, in: scope), let right = Vellum.condition(of: rhs, in: scope) else { return nil }
        return .any([left, right])
    }
}

extension PredicateExpressions.Negation: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        Vellum.condition(of: wrapped, in: scope).map { .not($0) }
    }
}

// MARK: Equality

extension PredicateExpressions.Equal: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        if let property = propertyTests(of: lhs, in: scope), let operand = constant(of: rhs) {
            return property.isEqual(operand)
        }
        if let property = propertyTests(of: rhs, in: scope), let operand = constant(of: lhs) {
            return property.isEqual(operand)
        }
        if let property = coalescedProperty(of: lhs, in: scope), let operand = constant(of: rhs) {
            return property.condition(property.tests.isEqual(operand), holdsForStandard: property.standard == operand)
        }
        if let property = coalescedProperty(of: rhs, in: scope), let operand = constant(of: lhs) {
            return property.condition(property.tests.isEqual(operand), holdsForStandard: property.standard == operand)
        }
        // `$0.age.flatMap { $0 > 3 } == true`
        if constant(of: rhs) as? Bool == true { return unwrappedCondition(of: lhs, in: scope) }
        return nil
    }
}

extension PredicateExpressions.NotEqual: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        if let property = propertyTests(of: lhs, in: scope), let operand = constant(of: rhs) {
            return .not(property.isEqual(operand))
        }
        if let property = propertyTests(of: rhs, in: scope), let operand = constant(of: lhs) {
            return .not(property.isEqual(operand))
        }
        if let property = coalescedProperty(of: lhs, in: scope), let operand = constant(of: rhs) {
            return .not(property.condition(property.tests.isEqual(operand), holdsForStandard: property.standard == operand))
        }
        if let property = coalescedProperty(of: rhs, in: scope), let operand = constant(of: lhs) {
            return .not(property.condition(property.tests.isEqual(operand), holdsForStandard: property.standard == operand))
        }
        return nil
    }
}

/// A property of type `Bool`.
extension PredicateExpressions.KeyPath: RelatedExpression where Output == Bool {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        propertyPath(of: self, in: scope).map { PropertyTests($0).isEqual(true) }
    }
}

/// A variable of type `Bool`, such as the unwrapped value of an optional property.
extension PredicateExpressions.Variable: RelatedExpression where Output == Bool {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        propertyPath(of: self, in: scope).map { PropertyTests($0).isEqual(true) }
    }
}

/// A property of type `Bool?` that is not `nil`.
extension PredicateExpressions.ForcedUnwrap: RelatedExpression where Wrapped == Bool {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        propertyTests(of: self, in: scope).map { $0.isEqual(true) }
    }
}

// MARK: Order

extension PredicateExpressions.Comparison: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        if let property = propertyTests(of: lhs, in: scope), let operand = constant(of: rhs) {
            return condition(property, operand, isMirrored: false)
        }
        if let property = propertyTests(of: rhs, in: scope), let operand = constant(of: lhs) {
            return condition(property, operand, isMirrored: true)
        }
        if let property = coalescedProperty(of: lhs, in: scope), let operand = constant(of: rhs) {
            return condition(property.tests, operand, isMirrored: false)
                .map { property.condition($0, holdsForStandard: holds(property.standard, operand)) }
        }
        if let property = coalescedProperty(of: rhs, in: scope), let operand = constant(of: lhs) {
            return condition(property.tests, operand, isMirrored: true)
                .map { property.condition($0, holdsForStandard: holds(operand, property.standard)) }
        }
        return nil
    }

    private func holds(_ left: LHS.Output, _ right: LHS.Output) -> Bool {
        // Strings have the order of an index, as in the tests of properties.
        let order = LHS.Output.self == String.self ? PropertyOrder.comparison(of: LHS.Output.self)(left, right) : nil
        return switch op {
        case .lessThan: order.map { $0 < 0 } ?? (left < right)
        case .lessThanOrEqual: order.map { $0 <= 0 } ?? (left <= right)
        case .greaterThan: order.map { $0 > 0 } ?? (left > right)
        case .greaterThanOrEqual: order.map { $0 >= 0 } ?? (left >= right)
        @unknown default: false
        }
    }

    private func condition<Environment>(
        _ property: PropertyTests<Environment, LHS.Output>, _ operand: LHS.Output, isMirrored: Bool
    ) -> Condition<Environment>? {
        switch op {
        case .lessThan: isMirrored ? property.greater(than: operand) : property.less(than: operand)
        case .lessThanOrEqual: isMirrored ? property.greaterOrEqual(operand) : property.lessOrEqual(operand)
        case .greaterThan: isMirrored ? property.less(than: operand) : property.greater(than: operand)
        case .greaterThanOrEqual: isMirrored ? property.lessOrEqual(operand) : property.greaterOrEqual(operand)
        @unknown default: nil
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        guard let property = propertyTests(of: element, in: scope), let range = constant(of: range) else { return nil }
        switch range {
        case let range as Range<Element.Output>: return property.isIn(range)
        case let range as ClosedRange<Element.Output>: return property.isIn(range)
        case let range as PartialRangeFrom<Element.Output>: return property.greaterOrEqual(range.lowerBound)
        case let range as PartialRangeThrough<Element.Output>: return property.lessOrEqual(range.upperBound)
        case let range as PartialRangeUpTo<Element.Output>: return property.less(than: range.upperBound)
        default: return nil
        }
    }
}
