extension ErasableStorage where Access: ReadableAccess {
    /// Returns a storage that gives another value instead of an error.
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
    /// Not if the call was cancelled, or would have blocked a task: those errors are thrown.
    ///
    /// - Parameter produceValue: Returns a value for the error, which is a miss or a failure, or throws. In a composition, a miss that it
    ///   throws continues with the next layer; so does an unknown error, which is reported, unless the result is ``strict()``; a failure of
    ///   a storage of this package stops.
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

    /// Returns a storage that gives this value instead of an error: for updates of a value that may not be there.
    ///
    /// ```swift
    /// storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
    /// ```
    ///
    /// - Important: With it, a disk that fails looks empty. To distinguish them, use ``fallback(with:)``.
    @preconcurrency
    public func defaulting(
        to defaultValue: @autoclosure @escaping @Sendable () -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        fallback { _ in defaultValue() }
    }
}
