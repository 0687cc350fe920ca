internal import VellumCore
internal import VellumEngine

/// An optional whose wrapped type is known only at run time.
protocol AnyOptional {
    /// The value; `nil` if there is none.
    var content: Any? { get }
    static var wrapped: Any.Type { get }

    /// Returns the condition that the property is `nil`.
    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> ValueCondition<Value>
}

extension Optional: AnyOptional {
    var content: Any? { self }
    static var wrapped: Any.Type { Wrapped.self }

    static func isNil<Value>(_ path: PartialKeyPath<Value>) -> ValueCondition<Value> {
        guard let path = path as? KeyPath<Value, Self> else { return .any([]) }
        return .test(Test(path, .isNil) { $0[keyPath: path] == nil })
    }
}

/// Returns whether the value is an optional that is `nil`.
func isNilValue<Value>(_ value: Value) -> Bool {
    guard let optional = value as? any AnyOptional else { return false }
    return optional.content == nil
}
