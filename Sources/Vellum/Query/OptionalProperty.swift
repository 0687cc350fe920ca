internal import VellumCore
internal import VellumEngine

/// What is known of an optional, where only at run time is known that it is one.
protocol OptionalProperty {
    var isNil: Bool { get }
    var anyValue: Any? { get }
    static var wrappedType: Any.Type { get }

    /// Holds where the property of this type is `nil`.
    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> Condition<Value>
}

extension Optional: OptionalProperty {
    var isNil: Bool { self == nil }
    var anyValue: Any? { self }
    static var wrappedType: Any.Type { Wrapped.self }

    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> Condition<Value> {
        guard let path = path as? KeyPath<Value, Self> else { return .any([]) }
        let stored = StoredProperty<Self>.of(path, in: Value.self)
        return .test(Test(path, .isNil, matches: { $0[keyPath: path] == nil }, matchesStored: stored?.answering { $0 == nil }))
    }
}

/// Whether the value is an optional that holds none.
func isNilValue<Value>(_ value: Value) -> Bool { (value as? any OptionalProperty)?.isNil ?? false }

/// What a property is compared with, as an index of it knows it.
enum IndexOperand {
    /// The value where the indexed type is indexable itself; else its raw value, by which such a type is indexed.
    static func of(_ operand: Any, in indexed: Any.Type) -> Any {
        if indexed is any IndexableValue.Type { return operand }
        if let optional = operand as? any OptionalProperty, let value = optional.anyValue { return of(value, in: indexed) }
        guard let operand = operand as? any RawRepresentable else { return operand }
        return operand.rawValue
    }
}
