internal import Foundation

/// A part of a predicate that becomes a closure.
///
/// Foundation evaluates a predicate by its tree, with its variables in boxes; closures cost a fifth. Each answers exactly what
/// Foundation does, and throws what it throws.
protocol CompilableExpression: PredicateExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output
}

/// A part names a variable that the scope does not know.
struct UnknownVariable: Error {}

/// The part as a closure. What is no part known here is left to Foundation.
///
/// - Throws: ``UnknownVariable`` if the scope does not hold all that it names, or may name.
func compiled<Part: PredicateExpression, Environment>(
    _ part: Part, in scope: PredicateScope<Environment>
) throws -> (Environment) throws -> Part.Output {
    if let part = part as? any CompilableExpression {
        return try CompiledExpression<Environment, Part.Output>.of(part, in: scope).evaluate
    }
    guard scope.isWhole else { throw UnknownVariable() }
    return { try part.evaluate(scope.bindings($0)) }
}

/// The part as a closure of what surrounds it and of its own argument.
func compiled<Part: PredicateExpression, Environment, Element>(
    _ part: Part, of variable: PredicateExpressions.Variable<Element>, in scope: PredicateScope<Environment>
) throws -> (Environment, Element) throws -> Part.Output {
    do {
        let evaluate = try compiled(part, in: PredicateScope.inner(variable))
        return { _, element in try evaluate(element) }
    } catch is UnknownVariable {
        let evaluate = try compiled(part, in: scope.adding(variable))
        return { try evaluate(Nested(outer: $0, element: $1)) }
    }
}

/// A closure in a type of its own, so that it can be cast.
private struct CompiledExpression<Environment, Output> {
    let evaluate: (Environment) throws -> Output

    static func of<Part: CompilableExpression>(_ part: Part, in scope: PredicateScope<Environment>) throws -> Self {
        // One type under two names: the part's output.
        CompiledExpression<Environment, Part.Output>(evaluate: try part.compiled(in: scope)) as! Self
    }
}
