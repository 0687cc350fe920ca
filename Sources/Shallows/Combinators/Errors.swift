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
    /// - Parameter produceValue: Returns a value for the error, which is a miss or a failure, or
    ///   throws. In a composition, a miss that it throws continues with the next layer; so does an
    ///   unknown error, which is reported, unless the result is ``strict()``; a failure of a
    ///   storage of this package stops.
    @preconcurrency
    public func fallback(
        with produceValue: @escaping @Sendable (any Error) throws -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let name = storageName
        return erased().transforming { operations in
            operations.with(retrieve: { key, call in
                operations.retrieve(key, call).then { outcome in
                    // That a call was cancelled, or would block, says nothing about the value.
                    guard case .failure(let error) = outcome, !error.isOfTheCall else {
                        return .now(outcome)
                    }
                    return .answered(name, key) { try produceValue(error.underlyingError) }
                }
            })
        }
    }

    /// Returns a storage that gives this value instead of an error: for updates of a value that may
    /// not be there.
    ///
    /// ```swift
    /// storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
    /// ```
    ///
    /// - Important: With it, a disk that fails looks empty. To distinguish them, use
    ///   ``fallback(with:)``.
    @preconcurrency
    public func defaulting(
        to defaultValue: @autoclosure @escaping @Sendable () -> ErasedValue
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        fallback { _ in defaultValue() }
    }
}

extension ErasableStorage {
    /// Returns a storage whose errors are failures, except for a ``StorageMiss``.
    ///
    /// ```swift
    /// let cached = KeychainStorage().strict().combined(with: server)
    /// ```
    ///
    /// Without `strict()`, a composition continues with its next layer after an unknown error of a
    /// user-supplied storage, and reports it. With `strict()` it stops and throws the error.
    public func strict() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        erased().transforming { operations in
            operations.with(retrieve: { key, call in
                operations.retrieve(key, call).map { $0.mapError(\.strict) }
            })
        }
    }

    /// Returns a storage that reports what no error says: layers that failed and were passed over,
    /// fills that failed, and failed sets without a completion.
    ///
    /// ```swift
    /// let storage = memory.combined(with: disk).reporting { report in
    ///     metrics.count(report.event)
    /// }
    /// ```
    ///
    /// Transforms and compositions of the storage keep the reporter.
    ///
    /// - Parameter report: Called on any thread, before the call that is reported ends. Reports are
    ///   logged as well.
    @preconcurrency
    public func reporting(
        _ report: @escaping @Sendable (StorageReport) -> Void
    ) -> AnyStorage<Access, ErasedKey, ErasedValue> {
        erased().transforming { operations in
            operations.with(
                retrieve: { key, call in operations.retrieve(key, call.reporting(report)) },
                set: { value, key, call in
                    operations.set(value, key, call.reporting(report))
                },
                remove: { key, call in operations.remove(key, call.reporting(report)) },
                removeAll: { call in operations.removeAll(call.reporting(report)) },
                fireAndForget: operations.fireAndForget.reporting(report)
            )
        }
    }
}
