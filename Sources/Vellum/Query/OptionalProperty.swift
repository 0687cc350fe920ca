internal import VellumCore
internal import VellumEngine

/// An optional whose wrapped type is known only at run time.
protocol OptionalProperty {
    var isNil: Bool { get }
    var anyValue: Any? { get }
    static var wrappedType: Any.Type { get }

    /// Returns the condition that the property is `nil`.
    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> Condition<Value>
}

extension Optional: OptionalProperty {
    var isNil: Bool { self == nil }
    var anyValue: Any? { self }
    static var wrappedType: Any.Type { Wrapped.self }

    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> Condition<Value> {
        guard let path = path as? KeyPath<Value, Self> else { return .any([]) }
        return .test(Test(path, .isNil) { $0[keyPath: path] == nil })
    }
}

/// Returns whether the value is an optional that is `nil`.
func isNilValue<Value>(_ value: Value) -> Bool { (value as? any OptionalProperty)?.isNil ?? false }

/// The form of an operand that an index stores.
enum IndexOperand {
    /// Returns the operand if the indexed type is indexable, else its raw value, by which such a type is indexed.
    static func of(_ operand: Any, in indexed: Any.Type) -> Any {
        if indexed is any IndexableValue.Type { return operand }
        if let optional = operand as? any OptionalProperty, let value = optional.anyValue { return of(value, in: indexed) }
        guard let operand = operand as? any RawRepresentable else { return operand }
        return operand.rawValue
    }
}
