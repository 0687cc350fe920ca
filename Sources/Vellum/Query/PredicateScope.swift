internal import Foundation
internal import VellumEngine

/// The variables of a compiled part of a predicate. They are read from one value, the environment.
///
/// The environment of the predicate is the object. In a closure of `contains(where:)`, `allSatisfy`
/// or `flatMap` it is the element, or the element and the outer environment if the closure uses
/// outer variables.
struct PredicateScope<Environment> {
    typealias Variable = PredicateExpressions.Variable

    /// The variable whose properties are known, if its value is the environment.
    private(set) var own: PropertyRoot?
    /// Whether the scope has all variables that a part may use.
    let isComplete: Bool
    /// The variable whose value is the environment.
    private let environment: Variable<Environment>?
    /// The variables whose values are parts of the environment, innermost first.
    private let inner: [any BoundVariable<Environment>]
    /// Receives whether Foundation evaluates a part.
    private(set) var interpretation: Interpretation?
    /// In how many connectives the part is.
    var depth = 0

    private init(
        own: Variable<Environment>?,
        isComplete: Bool,
        _ inner: [any BoundVariable<Environment>] = [],
        _ interpretation: Interpretation? = nil
    ) {
        if let own { self.own = PropertyRoot(variable: own.key) }
        self.isComplete = isComplete
        environment = own
        self.inner = inner
        self.interpretation = interpretation
    }

    private var variables: [any BoundVariable<Environment>] {
        environment.map { own in [TypedVariable(variable: own) { $0 }] } ?? inner
    }

    /// Creates the scope of a predicate.
    init(_ variable: Variable<Environment>) {
        self.init(own: variable, isComplete: true)
    }

    /// Returns the scope of a closure that uses only its own argument.
    static func inner(_ variable: Variable<Environment>) -> PredicateScope {
        PredicateScope(own: variable, isComplete: false)
    }

    /// Returns the scope of a closure that uses its own argument and outer variables.
    func adding<Element>(
        _ variable: Variable<Element>
    ) -> PredicateScope<Nested<Environment, Element>> {
        PredicateScope<Nested<Environment, Element>>(
            own: nil,
            isComplete: isComplete,
            [
                TypedVariable<Nested<Environment, Element>, Element>(variable: variable) {
                    $0.element
                }
            ]
                + variables.map { $0.nested(beside: Element.self) },
            interpretation
        )
    }

    /// Becomes the scope of the parts that are evaluated only where the condition is true.
    mutating func assume(_ condition: ValueCondition<Environment>) {
        own?.notNil += condition.notNil()
    }

    /// Returns the scope, which notes parts that Foundation evaluates.
    func noting(_ interpretation: Interpretation) -> PredicateScope {
        var scope = self
        scope.interpretation = interpretation
        return scope
    }

    /// Returns how to read the variable, or `nil` if the scope does not have it.
    func reader<Value>(of variable: Variable<Value>) -> ((Environment) -> Value)? {
        (variables.first { $0.key == variable.key } as? TypedVariable<Environment, Value>)?.read
    }

    /// Returns the values of the variables, for a part that Foundation evaluates.
    func bindings(_ environment: Environment) -> PredicateBindings {
        var bindings = PredicateBindings()
        for variable in variables { variable.bind(in: environment, &bindings) }
        return bindings
    }
}

extension Condition {
    /// The properties that are not `nil` in any value that satisfies the condition.
    fileprivate func notNil<Value>() -> [AnyKeyPath] where Leaf == Test<Value> {
        switch self {
        case .all(let parts):
            return (0..<parts.count).flatMap { parts[$0].notNil() }
        case .not(.test(let test)):
            guard let property = test.property, case .isNil? = test.relation else { return [] }
            return [property]
        case .any, .not, .test: return []
        }
    }
}

/// Whether Foundation evaluates any part of a predicate that is compiled.
final class Interpretation {
    var isUsed = false
}

/// The environment of a closure that uses its own argument and outer variables.
struct Nested<Outer, Element> {
    let outer: Outer
    let element: Element
}

/// A variable of any type.
private protocol BoundVariable<Environment> {
    associatedtype Environment
    var key: PredicateExpressions.VariableID { get }

    func bind(in environment: Environment, _ bindings: inout PredicateBindings)
    func nested<Element>(beside: Element.Type) -> any BoundVariable<Nested<Environment, Element>>
}

/// A variable and how to read it.
private struct TypedVariable<Environment, Value>: BoundVariable {
    let variable: PredicateExpressions.Variable<Value>
    let read: (Environment) -> Value
    var key: PredicateExpressions.VariableID { variable.key }

    func bind(in environment: Environment, _ bindings: inout PredicateBindings) {
        bindings[variable] = read(environment)
    }

    func nested<Element>(beside: Element.Type) -> any BoundVariable<Nested<Environment, Element>> {
        TypedVariable<Nested<Environment, Element>, Value>(variable: variable) { [read] in
            read($0.outer)
        }
    }
}
