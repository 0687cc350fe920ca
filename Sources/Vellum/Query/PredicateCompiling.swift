internal import Foundation
internal import VellumCore
internal import VellumEngine

/// A part of a predicate that can be compiled to a closure.
///
/// Foundation evaluates the tree of a predicate with boxed variables; a closure takes a fifth of
/// the time. Each closure returns the same value and throws the same error as Foundation.
protocol CompilableExpression: PredicateExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
}

/// A part uses a variable that the scope does not have.
struct UnknownVariable: Error {}

extension PredicateScope {
    /// Returns the part as a closure. Foundation evaluates parts of unknown types.
    ///
    /// - Throws: ``UnknownVariable`` if the part uses, or may use, a variable that the scope does
    ///   not have.
    func compiled<Part: PredicateExpression>(
        _ part: Part
    ) throws -> (Environment) throws -> Part.Output {
        if let part = part as? any CompilableExpression {
            return try CompiledExpression<Environment, Part.Output>.of(part, in: self).evaluate
        }
        guard isComplete else { throw UnknownVariable() }
        interpretation?.isUsed = true
        return { try part.evaluate(bindings($0)) }
    }

    /// Returns the part as a closure of the outer environment and its own argument.
    func compiled<Part: PredicateExpression, Element>(
        _ part: Part,
        of variable: Variable<Element>
    ) throws -> (Environment, Element) throws -> Part.Output {
        do {
            let evaluate = try PredicateScope<Element>.inner(variable).compiled(part)
            return { _, element in try evaluate(element) }
        } catch is UnknownVariable {
            let evaluate = try adding(variable).compiled(part)
            return { try evaluate(Nested(outer: $0, element: $1)) }
        }
    }
}

/// Wraps a closure, so that it can be cast.
private struct CompiledExpression<Environment, Output> {
    let evaluate: (Environment) throws -> Output

    static func of<Part: CompilableExpression>(
        _ part: Part,
        in scope: PredicateScope<Environment>
    ) throws -> Self {
        // `Output` is `Part.Output`, which the compiler does not know.
        guard
            let compiled = CompiledExpression<Environment, Part.Output>(
                evaluate: try part.compiled(in: scope)
            ) as? Self
        else {
            preconditionFailure("The output of the part is not \(Output.self).")
        }
        return compiled
    }
}

// MARK: Parts that are true or false

extension PredicateExpressions.Negation: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let wrapped = try scope.compiled(wrapped)
        return { try !wrapped($0) }
    }
}

// MARK: Comparing

extension PredicateExpressions.Equal: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        if let test = test(in: scope) { return test }
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        return { try left($0) == right($0) }
    }
}

extension PredicateExpressions.NotEqual: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        if let test = test(in: scope) { return test }
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        return { try left($0) != right($0) }
    }
}

extension PredicateExpressions.Comparison: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        if let test = test(in: scope) { return test }
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        switch op {
        case .lessThan: return { try left($0) < right($0) }
        case .lessThanOrEqual: return { try left($0) <= right($0) }
        case .greaterThan: return { try left($0) > right($0) }
        case .greaterThanOrEqual: return { try left($0) >= right($0) }
        @unknown default:
            return { [self] in
                try evaluate(scope.bindings($0))
            }
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        if let test = test(in: scope) { return test }
        let range = try scope.compiled(range)
        let element = try scope.compiled(element)
        return { try range($0).contains(element($0)) }
    }
}

// MARK: Sequences

extension PredicateExpressions.SequenceContains: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let element = try scope.compiled(element)
        if let elements = constant(of: sequence), elements is any Collection {
            let isElement = membership(in: Array(elements))
            return { isElement(try element($0)) }
        }
        let sequence = try scope.compiled(sequence)
        return { try sequence($0).contains(element($0)) }
    }
}

extension PredicateExpressions.SequenceStartsWith: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let base = try scope.compiled(base)
        let prefix = try scope.compiled(prefix)
        return { try base($0).starts(with: prefix($0)) }
    }
}

extension PredicateExpressions.SequenceContainsWhere: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let sequence = try scope.compiled(sequence)
        let test = try scope.compiled(test, of: variable)
        return { environment in try sequence(environment).contains { try test(environment, $0) } }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let sequence = try scope.compiled(sequence)
        let test = try scope.compiled(test, of: variable)
        return { environment in try sequence(environment).allSatisfy { try test(environment, $0) } }
    }
}

extension PredicateExpressions.CollectionContainsCollection: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Bool
    {
        let base = try scope.compiled(base)
        if let base = base as? (Environment) throws -> String,
            let other = constant(of: other) as? String
        {
            let part = StringPart(other)
            return { part.isContained(in: try base($0)) }
        }
        let other = try scope.compiled(other)
        return { try base($0).contains(other($0)) }
    }
}

extension RelatedExpression {
    /// Returns the test of a property if the part is one. It is specialized for the type of the
    /// property and faster than composed closures.
    fileprivate func test<Environment>(
        in scope: PredicateScope<Environment>
    ) -> ((Environment) throws -> Bool)? {
        switch condition(in: scope) {
        case nil: return nil
        case .test(let test): return test.matches
        case .not(.test(let test)): return { try !test.matches($0) }
        case let condition?: return condition.evaluation()
        }
    }
}

// MARK: Parts that are values

extension PredicateExpressions.Variable: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        guard let reader = scope.reader(of: self) else { throw UnknownVariable() }
        return reader
    }
}

extension PredicateExpressions.KeyPath: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        if let path = scope.propertyPath(of: self) { return { $0[keyPath: path] } }
        let root = try scope.compiled(root)
        let path = keyPath as KeyPath<Root.Output, Output>
        return { try root($0)[keyPath: path] }
    }
}

extension PredicateExpressions.Value: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let value = value
        return { _ in value }
    }
}

extension PredicateExpressions.NilLiteral: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    { { _ in nil } }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        switch op {
        case .add:
            return arithmetic(.add, left, right) ?? { try left($0) + right($0) }
        case .subtract:
            return arithmetic(.subtract, left, right) ?? { try left($0) - right($0) }
        case .multiply:
            return arithmetic(.multiply, left, right) ?? { try left($0) * right($0) }
        @unknown default:
            return { [self] in
                try evaluate(scope.bindings($0))
            }
        }
    }
}

extension PredicateExpressions.IntDivision: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        return arithmetic(.divide, left, right) ?? { try left($0) / right($0) }
    }
}

extension PredicateExpressions.IntRemainder: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        return arithmetic(.remainder, left, right) ?? { try left($0) % right($0) }
    }
}

extension PredicateExpressions.UnaryMinus: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        if let constant = constant(of: self) { return { _ in constant } }
        let wrapped = try scope.compiled(wrapped)
        return arithmetic(.subtract, { _ in .zero }, wrapped) ?? { try -wrapped($0) }
    }
}

private enum Operation { case add, subtract, multiply, divide, remainder }

/// Returns the operation on integers, which throws where Swift and Foundation end the process;
/// `nil` for other numbers.
private func arithmetic<Environment, Number>(
    _ operation: Operation,
    _ left: @escaping (Environment) throws -> Number,
    _ right: @escaping (Environment) throws -> Number
) -> ((Environment) throws -> Number)? {
    func checked<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Any {
        return { (left: Integer, right: Integer) throws -> Integer in
            let (value, isInvalid) =
                switch operation {
                case .add: left.addingReportingOverflow(right)
                case .subtract: left.subtractingReportingOverflow(right)
                case .multiply: left.multipliedReportingOverflow(by: right)
                case .divide: left.dividedReportingOverflow(by: right)
                case .remainder: left.remainderReportingOverflow(dividingBy: right)
                }
            guard !isInvalid else { throw VellumError.notCalculable }
            return value
        }
    }
    guard let type = Number.self as? any FixedWidthInteger.Type,
        let calculate = checked(type) as? (Number, Number) throws -> Number
    else {
        return nil
    }
    return { try calculate(left($0), right($0)) }
}

extension VellumError {
    fileprivate static var notCalculable: VellumError {
        VellumError(
            .failedQuery,
            """
            A predicate overflows, divides by zero, or has a range whose bounds are reversed, for \
            an object. Test the operands before: $0.count != 0 && 10 / $0.count > 2.
            """
        )
    }
}

// MARK: Optionals

extension PredicateExpressions.NilCoalesce: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let left = try scope.compiled(lhs)
        let right = try scope.compiled(rhs)
        return { try left($0) ?? right($0) }
    }
}

extension PredicateExpressions.ForcedUnwrap: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let inner = try scope.compiled(inner)
        let failure = PredicateExpressions.ForcedUnwrap<
            PredicateExpressions.Value<Wrapped?>, Wrapped
        >(.init(nil))
        // Only Foundation can create its error.
        return { try inner($0) ?? failure.evaluate(PredicateBindings()) }
    }
}

extension PredicateExpressions.OptionalFlatMap: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let wrapped = try scope.compiled(wrapped)
        let transform = try resultTransform(in: scope)
        return { environment in
            try wrapped(environment).flatMap { try transform(environment, $0) }
        }
    }

    /// The closure returns the result or an optional of it.
    private func resultTransform<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment, Wrapped) throws -> Result? {
        let transform = try scope.compiled(transform, of: variable)
        if let transform = transform as? (Environment, Wrapped) throws -> Result {
            return transform
        }
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
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let test = try scope.compiled(test)
        let yes = try scope.compiled(trueBranch)
        let no = try scope.compiled(falseBranch)
        return { try test($0) ? yes($0) : no($0) }
    }
}

// MARK: Ranges

extension PredicateExpressions.Range: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let lower = try scope.compiled(lower)
        let upper = try scope.compiled(upper)
        return { environment in
            let lower = try lower(environment)
            let upper = try upper(environment)
            guard lower <= upper else { throw VellumError.notCalculable }
            return lower..<upper
        }
    }
}

extension PredicateExpressions.ClosedRange: CompilableExpression {
    func compiled<Environment>(
        in scope: PredicateScope<Environment>
    ) throws -> (Environment) throws
        -> Output
    {
        let lower = try scope.compiled(lower)
        let upper = try scope.compiled(upper)
        return { environment in
            let lower = try lower(environment)
            let upper = try upper(environment)
            guard lower <= upper else { throw VellumError.notCalculable }
            return lower...upper
        }
    }
}
