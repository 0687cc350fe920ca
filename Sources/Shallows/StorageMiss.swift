/// An error that may say that there is no value: where it does, a composition asks its next layer, and reports nothing.
///
/// ```swift
/// extension KeychainError: StorageMiss {
///     var isMiss: Bool { self == .itemNotFound }
/// }
/// ```
public protocol StorageMiss: Error {
    /// Whether the error means that there is no value. `false`: it is a failure, at which a composition stops. By default `true`.
    var isMiss: Bool { get }
}

extension StorageMiss {
    public var isMiss: Bool { true }
}
