internal import Foundation
internal import VellumCore
internal import VellumEngine

// The parts of a predicate about sequences and optionals that an index may answer.

extension PredicateExpressions.SequenceContains: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        if let property = propertyTests(of: sequence, in: scope), let element = constant(of: element) {
            return property.contains(element)
        }
        if let property = propertyTests(of: element, in: scope), let elements = constant(of: sequence) {
            // A sequence may be infinite, or be consumed by one iteration. A collection is not.
            guard elements is any Collection else { return nil }
            return property.isOne(of: elements) { elements.contains($0) }
        }
        return nil
    }
}

extension PredicateExpressions.SequenceStartsWith: RelatedExpression {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        let start: Prefix.Output? = constant(of: prefix)
        guard let property = propertyTests(of: base, in: scope) as? PropertyTests<Environment, String> else { return nil }
        return (start as? any StringProtocol).map { property.starts(with: String($0)) }
    }
}

// MARK: Optionals

/// `if let age = $0.age { age > 3 } else { false }`
extension PredicateExpressions.NilCoalesce: RelatedExpression where RHS.Output == Bool {
    func condition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        constant(of: rhs) == false ? unwrappedCondition(of: lhs, in: scope) : nil
    }
}

/// Returns the condition that the part is true, and neither false nor `nil`.
func unwrappedCondition<Part: PredicateExpression, Environment>(
    of part: Part, in scope: PredicateScope<Environment>
) -> Condition<Environment>? {
    (part as? any UnwrappingExpression)?.unwrappedCondition(in: scope)
}

/// A part that tests the wrapped value of an optional.
private protocol UnwrappingExpression {
    func unwrappedCondition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>?
}

extension PredicateExpressions.OptionalFlatMap: UnwrappingExpression where Result == Bool {
    fileprivate func unwrappedCondition<Environment>(in scope: PredicateScope<Environment>) -> Condition<Environment>? {
        guard let path = propertyPath(of: wrapped, in: scope) else { return nil }
        guard let test = transform as? any PredicateExpression<Bool> else { return nil }
        guard let inner = Vellum.condition(of: test, in: PredicateScope.inner(variable)) else { return nil }
        let lifted = inner.lifted(to: path)
        // `nil` satisfies no test, but it would satisfy the negation of one.
        if case .test = inner { return lifted }
        return .all([PropertyTests(path).isNotNil, lifted])
    }
}

extension Condition {
    /// Returns the condition on the wrapped value of an optional property. `nil` satisfies none of its tests.
    fileprivate func lifted<Root>(to path: KeyPath<Root, Value?>) -> Condition<Root> {
        switch self {
        case .all(let parts): return .all(parts.map { $0.lifted(to: path) })
        case .any(let parts): return .any(parts.map { $0.lifted(to: path) })
        case .not(let part): return .not(part.lifted(to: path))
        case .test(let test):
            let testsWholeValue = test.property == \Value.self
            return .test(
                Test(testsWholeValue ? path : nil, testsWholeValue ? test.relation : nil) { root in
                    guard let value = root[keyPath: path] else { return false }
                    return try test.matches(value)
                })
        }
    }
}
