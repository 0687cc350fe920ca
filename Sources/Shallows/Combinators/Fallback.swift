extension ErasableStorage where Access: ReadableAccess {
    /// The storage with another value where there is an error.
    ///
    /// ```swift
    /// let protected = storage.fallback(with: { error in
    ///     switch error {
    ///     case MemoryStorageError.noValue: return 15
    ///     default: return -1
    ///     }
    /// })
    /// ```
    ///
    /// Not where the call was cancelled, or refused because it would have blocked a task: that is thrown.
    ///
    /// - Parameter produceValue: Makes a value of the error, a miss or a failure, or throws.
    @preconcurrency
    public func fallback(
        with produceValue: @escaping @Sendable (any Error) throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.with(retrieve: { key, call in
                operations.retrieve(key, call).map { outcome in
                    // That a call was cancelled, or would block, says nothing about the value.
                    guard case .failure(let error) = outcome, !error.isOfTheCall else { return outcome }
                    do { return .success(try produceValue(error.underlyingError)) } catch {
                        return .failure(ShallowsError(error, layer: name, key: key, disposition: .unknown))
                    }
                }
            })
        }
    }

    /// The storage with that value where there is an error: most useful where a value is to be updated that may not be there.
    ///
    /// ```swift
    /// storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
    /// ```
    ///
    /// - Important: A disk that fails looks like one that is empty through this: to tell them apart, use ``fallback(with:)``.
    @preconcurrency
    public func defaulting(
        to defaultValue: @autoclosure @escaping @Sendable () -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        fallback { _ in defaultValue() }
    }
}
