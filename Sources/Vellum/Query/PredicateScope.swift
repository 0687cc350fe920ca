internal import Foundation

/// Where a compiled part of a predicate finds its variables: in the one value that it is given.
///
/// That value is the object, for the predicate itself; within `contains(where:)`, `allSatisfy` and `flatMap` it is the element alone,
/// or, where what surrounds it is named too, both.
struct PredicateScope<Environment> {
    typealias Variable = PredicateExpressions.Variable

    /// The variable whose value is the environment itself.
    let own: PredicateExpressions.VariableID?
    /// Whether these are all variables that may be named.
    let isWhole: Bool
    /// The innermost first.
    private let variables: [any BoundVariable<Environment>]
    /// The variable that stands for an object of which the environment is the data.
    private let stored: StoredVariable?

    private struct StoredVariable {
        let key: PredicateExpressions.VariableID
        let type: any Archivable.Type
    }

    private init(
        own: Variable<Environment>?, isWhole: Bool, _ variables: [any BoundVariable<Environment>], stored: StoredVariable? = nil
    ) {
        self.own = own?.key
        self.isWhole = isWhole
        self.variables = variables
        self.stored = stored
    }

    /// The scope of a predicate.
    init(_ variable: Variable<Environment>) {
        self.init(own: variable, isWhole: true, [OwnVariable(variable: variable)])
    }

    /// The scope within a closure that names nothing but its own argument.
    static func inner(_ variable: Variable<Environment>) -> PredicateScope {
        PredicateScope(own: variable, isWhole: false, [OwnVariable(variable: variable)])
    }

    /// The scope within a closure.
    func adding<Element>(_ variable: Variable<Element>) -> PredicateScope<Nested<Environment, Element>> {
        PredicateScope<Nested<Environment, Element>>(
            own: nil, isWhole: isWhole,
            [InnerVariable<Environment, Element>(variable: variable)] + variables.map { $0.nested(beside: Element.self) })
    }

    /// The scope of a predicate on objects of which there is only the data. Nothing but single properties can be had of it.
    static func stored(_ key: PredicateExpressions.VariableID, _ type: any FieldReadable.Type) -> Self where Environment == Data {
        PredicateScope(own: nil, isWhole: false, [], stored: StoredVariable(key: key, type: type))
    }

    /// How the property is read from data; nothing if the environment is none, or does not tell.
    func reader<Property>(ofStored part: some PropertyExpression, _: Property.Type) -> ((Environment) throws -> Property)? {
        guard let stored, let path = part.path(from: stored.key) else { return nil }
        func property<Value: Archivable>(_ type: Value.Type) -> StoredProperty<Property>? { .of(path, in: type) }
        return property(stored.type)?.read as? (Environment) throws -> Property
    }

    /// How the value of the variable is found; nothing if it is none of these.
    func reader<Value>(of variable: Variable<Value>) -> ((Environment) -> Value)? {
        (variables.first { $0.key == variable.key } as? any TypedVariable<Environment, Value>)?.reader
    }

    /// What Foundation needs to know to evaluate a part by itself.
    func bindings(_ environment: Environment) -> PredicateBindings {
        var bindings = PredicateBindings()
        for variable in variables { variable.bind(in: environment, &bindings) }
        return bindings
    }
}

/// What a closure is given where it names its own argument and what surrounds it.
struct Nested<Outer, Element> {
    let outer: Outer
    let element: Element
}

/// A variable, and where it is found.
private protocol BoundVariable<Environment> {
    associatedtype Environment
    var key: PredicateExpressions.VariableID { get }

    func bind(in environment: Environment, _ bindings: inout PredicateBindings)
    func nested<Element>(beside: Element.Type) -> any BoundVariable<Nested<Environment, Element>>
}

private protocol TypedVariable<Environment, Value>: BoundVariable {
    associatedtype Value
    var variable: PredicateExpressions.Variable<Value> { get }
    var reader: (Environment) -> Value { get }
}

extension TypedVariable {
    var key: PredicateExpressions.VariableID { variable.key }

    func bind(in environment: Environment, _ bindings: inout PredicateBindings) { bindings[variable] = reader(environment) }

    func nested<Element>(beside: Element.Type) -> any BoundVariable<Nested<Environment, Element>> {
        OuterVariable<Environment, Element, Value>(variable: variable, outer: reader)
    }
}

/// The value is the environment.
private struct OwnVariable<Environment>: TypedVariable {
    let variable: PredicateExpressions.Variable<Environment>
    var reader: (Environment) -> Environment { { $0 } }
}

/// The value is the element.
private struct InnerVariable<Outer, Element>: TypedVariable {
    typealias Environment = Nested<Outer, Element>
    let variable: PredicateExpressions.Variable<Element>
    var reader: (Nested<Outer, Element>) -> Element { { $0.element } }
}

/// The value is found where it was before.
private struct OuterVariable<Outer, Element, Value>: TypedVariable {
    typealias Environment = Nested<Outer, Element>
    let variable: PredicateExpressions.Variable<Value>
    let outer: (Outer) -> Value
    var reader: (Nested<Outer, Element>) -> Value { { [outer] in outer($0.outer) } }
}
