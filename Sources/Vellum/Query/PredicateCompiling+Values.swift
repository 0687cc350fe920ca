internal import Foundation

// The parts of a predicate that are values.

extension PredicateExpressions.Variable: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        guard let reader = scope.reader(of: self) else { throw UnknownVariable() }
        return reader
    }
}

extension PredicateExpressions.KeyPath: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        if let path = propertyPath(of: self, in: scope) { return { $0[keyPath: path] } }
        let root = try Vellum.compiled(root, in: scope)
        let path = keyPath as KeyPath<Root.Output, Output>
        return { try root($0)[keyPath: path] }
    }
}

extension PredicateExpressions.Value: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let value = value
        return { _ in value }
    }
}

extension PredicateExpressions.NilLiteral: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output { { _ in nil } }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        switch op {
        case .add: return { try left($0) + right($0) }
        case .subtract: return { try left($0) - right($0) }
        case .multiply: return { try left($0) * right($0) }
        @unknown default: return { [self] in try evaluate(scope.bindings($0)) }
        }
    }
}

extension PredicateExpressions.UnaryMinus: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        if let constant = constant(of: self) { return { _ in constant } }
        let wrapped = try Vellum.compiled(wrapped, in: scope)
        return { try -wrapped($0) }
    }
}

// MARK: Optionals

extension PredicateExpressions.NilCoalesce: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let (left, right) = (try Vellum.compiled(lhs, in: scope), try Vellum.compiled(rhs, in: scope))
        return { try left($0) ?? right($0) }
    }
}

extension PredicateExpressions.ForcedUnwrap: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let inner = try Vellum.compiled(inner, in: scope)
        let failure = PredicateExpressions.ForcedUnwrap<PredicateExpressions.Value<Wrapped?>, Wrapped>(.init(nil))
        // Only Foundation can create its error.
        return { try inner($0) ?? failure.evaluate(PredicateBindings()) }
    }
}

extension PredicateExpressions.OptionalFlatMap: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let wrapped = try Vellum.compiled(wrapped, in: scope)
        let transform = try resultTransform(in: scope)
        return { environment in try wrapped(environment).flatMap { try transform(environment, $0) } }
    }

    /// The closure returns the result or an optional of it.
    private func resultTransform<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment, Wrapped) throws -> Result? {
        let transform = try Vellum.compiled(transform, of: variable, in: scope)
        if let transform = transform as? (Environment, Wrapped) throws -> Result { return transform }
        return { environment, wrapped in
            guard let result = try transform(environment, wrapped) as? Result? else {
                preconditionFailure("The closure does not return \(Result.self).")
            }
            return result
        }
    }
}

// MARK: Branches

extension PredicateExpressions.Conditional: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let test = try Vellum.compiled(test, in: scope)
        let (yes, no) = (try Vellum.compiled(trueBranch, in: scope), try Vellum.compiled(falseBranch, in: scope))
        return { try test($0) ? yes($0) : no($0) }
    }
}

// MARK: Ranges

extension PredicateExpressions.Range: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let (lower, upper) = (try Vellum.compiled(lower, in: scope), try Vellum.compiled(upper, in: scope))
        return { try lower($0)..<upper($0) }
    }
}

extension PredicateExpressions.ClosedRange: CompilableExpression {
    func compiled<Environment>(in scope: PredicateScope<Environment>) throws -> (Environment) throws -> Output {
        let (lower, upper) = (try Vellum.compiled(lower, in: scope), try Vellum.compiled(upper, in: scope))
        return { try lower($0)...upper($0) }
    }
}
