extension ErasableStorage {
    /// Returns a storage whose errors are failures, except for a ``StorageMiss``.
    ///
    /// ```swift
    /// let cached = KeychainStorage().strict().combined(with: server)
    /// ```
    ///
    /// Without `strict()`, a composition continues with its next layer after an unknown error of a user-supplied storage, and reports it.
    /// With `strict()` it stops and throws the error.
    public func strict() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        erased().transforming { operations in
            operations.with(retrieve: { key, call in operations.retrieve(key, call).map { $0.mapError(\.strict) } })
        }
    }
}

extension ShallowsError {
    /// The same error, as a failure if it says nothing about itself.
    fileprivate var strict: ShallowsError {
        var error = self
        if disposition == .unknown { error.disposition = .failure }
        return error
    }
}
