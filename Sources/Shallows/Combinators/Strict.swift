extension ErasableStorage {
    /// The storage whose errors are failures, but for those that say that they are a ``StorageMiss``.
    ///
    /// ```swift
    /// let cached = KeychainStorage().strict().combined(with: server)
    /// ```
    ///
    /// A composition goes on to its next layer after an error of your own storage, of which it knows nothing. After this it stops,
    /// and throws the error.
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
