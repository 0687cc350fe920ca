/// An error that may mean that there is no value: then a composition asks its next layer, and reports nothing.
///
/// ```swift
/// extension KeychainError: StorageMiss {
///     var isMiss: Bool { self == .itemNotFound }
/// }
/// ```
public protocol StorageMiss: Error {
    /// Whether the error means that there is no value. By default `true`. If `false`, a composition stops and throws the error.
    var isMiss: Bool { get }
}

extension StorageMiss {
    /// `true`: the error means that there is no value.
    public var isMiss: Bool { true }
}
