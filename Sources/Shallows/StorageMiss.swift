/// An error that may mean that there is no value.
///
/// In a composition, a miss continues with the next layer; so does an unknown error of a user-supplied storage, which is reported, unless
/// that storage is ``ErasableStorage/strict()``; a failure of a storage of this package stops.
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
