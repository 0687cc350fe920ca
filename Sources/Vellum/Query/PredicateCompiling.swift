internal import Foundation

/// A part of a predicate that can be compiled to a closure.
///
/// Foundation evaluates the tree of a predicate with boxed variables; a closure takes a fifth of the time. Each closure returns the same
/// value and throws the same error as Foundation.
protocol CompilableExpression: PredicateExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output
}

/// A part uses a variable that the scope does not have.
struct UnknownVariable: Error {}

/// Returns the part as a closure. Foundation evaluates parts of unknown types.
///
/// - Throws: ``UnknownVariable`` if the part uses, or may use, a variable that the scope does not have.
func compiled<Part: PredicateExpression, Environment>(
    _ part: Part, in scope: PredicateScope<Environment>
) throws -> (Environment) throws -> Part.Output {
    if let part = part as? any CompilableExpression {
        return try CompiledExpression<Environment, Part.Output>.of(part, in: scope).evaluate
    }
    guard scope.isComplete else { throw UnknownVariable() }
    return { try part.evaluate(scope.bindings($0)) }
}

/// Returns the part as a closure of the outer environment and its own argument.
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

/// Wraps a closure, so that it can be cast.
private struct CompiledExpression<Environment, Output> {
    let evaluate: (Environment) throws -> Output

    static func of<Part: CompilableExpression>(_ part: Part, in scope: PredicateScope<Environment>) throws -> Self {
        // `Output` is `Part.Output`, which the compiler does not know.
        guard let compiled = CompiledExpression<Environment, Part.Output>(evaluate: try part.compiled(in: scope)) as? Self else {
            preconditionFailure("The output of the part is not \(Output.self).")
        }
        return compiled
    }
}
