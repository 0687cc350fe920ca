internal import Foundation
internal import VellumCore
internal import VellumEngine

// The parts of a predicate that are true or false.

extension PredicateExpressions.Conjunction: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        return { try left($0) && right($0) }
    }
}

extension PredicateExpressions.Disjunction: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        return { try left($0) || right($0) }
    }
}

extension PredicateExpressions.Negation: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let wrapped = try Vellum.compiled(wrapped, in: scope)
        return { try !wrapped($0) }
    }
}

// MARK: Comparing

extension PredicateExpressions.Equal: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        if let test = test(in: scope) { return test }
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        return { try left($0) == right($0) }
    }
}

extension PredicateExpressions.NotEqual: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        if let test = test(in: scope) { return test }
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        return { try left($0) != right($0) }
    }
}

extension PredicateExpressions.Comparison: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        if let test = test(in: scope) { return test }
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        switch op {
        case .lessThan: return { try left($0) < right($0) }
        case .lessThanOrEqual: return { try left($0) <= right($0) }
        case .greaterThan: return { try left($0) > right($0) }
        case .greaterThanOrEqual: return { try left($0) >= right($0) }
        @unknown default: return { [self] in try evaluate(scope.bindings($0)) }
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        if let test = test(in: scope) { return test }
        let (range, element) = (try Vellum.compiled(range, in: scope), try Vellum.compiled(element, in: scope))
        return { try range($0).contains(element($0)) }
    }
}

// MARK: Sequences

extension PredicateExpressions.SequenceContains: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let (sequence, element) = (try Vellum.compiled(sequence, in: scope), try Vellum.compiled(element, in: scope))
        return { try sequence($0).contains(element($0)) }
    }
}

extension PredicateExpressions.SequenceStartsWith: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let (base, prefix) = (try Vellum.compiled(base, in: scope), try Vellum.compiled(prefix, in: scope))
        return { try base($0).starts(with: prefix($0)) }
    }
}

extension PredicateExpressions.SequenceContainsWhere: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let sequence = try Vellum.compiled(sequence, in: scope)
        let test = try Vellum.compiled(test, of: variable, in: scope)
        return { environment in try sequence(environment).contains { try test(environment, $0) } }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let sequence = try Vellum.compiled(sequence, in: scope)
        let test = try Vellum.compiled(test, of: variable, in: scope)
        return { environment in try sequence(environment).allSatisfy { try test(environment, $0) } }
    }
}

extension PredicateExpressions.CollectionContainsCollection: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Bool {
        let base = try Vellum.compiled(base, in: scope)
        if let base = base as? (Environment) throws -> String, let other = constant(of: other) as? String {
            let part = StringPart(other)
            return { part.isContained(in: try base($0)) }
        }
        let other = try Vellum.compiled(other, in: scope)
        return { try base($0).contains(other($0)) }
    }
}

extension RelatedExpression {
    /// Returns the test of a property if the part is one. It is specialized for the type of the property and faster than composed closures.
    fileprivate func test<Environment>(in scope: PredicateScope<Environment>) -> ((Environment) throws -> Bool)? {
        switch condition(in: scope) {
        case nil: return nil
        case .test(let test): return test.matches
        case .not(.test(let test)): return { try !test.matches($0) }
        case let condition?: return condition.matches
        }
    }
}
