extension ErasableStorage {
    /// Returns a storage whose errors are failures, except for a ``StorageMiss``.
    ///
    /// ```swift
    /// let cached = KeychainStorage().strict().combined(with: server)
    /// ```
    ///
    /// After any other error of a user-supplied storage, a composition asks its next layer. With `strict()` it stops and throws the error.
    public func strict() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        erased().transforming { operations in
            operations.with(retrieve: { key, call in
                operations.retrieve(key, call).map { outcome in
                    outcome.mapError { error in
                        var error = error
                        if error.disposition == .unknown { error.disposition = .failure }
                        return error
                    }
                }
            })
        }
    }
}
