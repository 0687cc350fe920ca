// What callers call: with a completion, or `async`. `SyncStorage.swift` has the functions that
// block.

extension AnyStorage where Access: ReadableAccess {
    /// Retrieves the value under the key, and calls `completion` once: before it returns if the
    /// storage can, else on any thread.
    @preconcurrency
    @inlinable
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        let result: ShallowsResult<Value>
        switch operations.retrieve(key, .completing) {
        case .now(.success(let value)): result = .success(value)
        case .now(.failure(let error)): result = .failure(error.underlyingError)
        case .later(let promise): return promise.observe { completion($0.withUnderlyingError()) }
        }
        completion(result)
    }

    /// Returns the value under the key.
    ///
    /// Does not block the thread. Ends early when the task is cancelled, if the layer that is being
    /// asked can.
    ///
    /// - Throws: The error of the last layer that was asked; a ``StorageMiss`` if there is no
    ///   value.
    @inlinable
    public func retrieve(forKey key: Key) async throws -> Value {
        try await cancelling { operations.retrieve(key, $0) }.value()
    }

    /// Returns the value under the key, or `nil` if there is none.
    ///
    /// - Throws: A ``ShallowsError`` for every failure; the error of a user-supplied storage is its
    ///   cause.
    @inlinable
    public func retrieveIfPresent(forKey key: Key) async throws(ShallowsError) -> Value? {
        try await cancelling { operations.retrieve(key, $0) }.valueIfPresent()
    }
}

extension AnyStorage where Access: WritableAccess {
    /// Sets the value under the key, and calls `completion` once: before it returns if the storage
    /// can, else on any thread.
    @preconcurrency
    @inlinable
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        let result: ShallowsResult<Void>
        switch operations.set(value, key, .completing) {
        case .now(.success): result = .success(())
        case .now(.failure(let error)): result = .failure(error.underlyingError)
        case .later(let promise): return promise.observe { completion($0.withUnderlyingError()) }
        }
        completion(result)
    }

    /// Sets the value under the key.
    @inlinable
    public func set(_ value: Value, forKey key: Key) async throws {
        try await cancelling { operations.set(value, key, $0) }.value()
    }

    /// Sets the value under the key without a completion. A failure is reported. See
    /// ``StorageReport``.
    ///
    /// Not available in `async` code: an `async` function takes the other overload, but top-level
    /// code with `try await` would take this one, which does not wait.
    @available(
        *,
        noasync,
        message: """
            This overload does not wait: write 'try await' inside an async function, or pass a \
            completion
            """
    )
    public func set(_ value: Value, forKey key: Key) {
        let fireAndForget = operations.fireAndForget
        let name = storageName
        operations.set(value, key, .completing).deliver { outcome in
            if case .failure(let error) = outcome {
                fireAndForget.report(StorageReport(.setFailed, layer: name, error))
            }
        }
    }
}

extension AnyStorage where Access == StorageKind.ReadWriteRemove {
    /// Removes the value under the key from every layer, if there is one, and calls `completion`
    /// once.
    @preconcurrency
    public func remove(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        operations.remove(key, .completing).deliver { completion($0.withUnderlyingError()) }
    }

    /// Removes the value under the key from every layer, if there is one.
    ///
    /// Every layer is asked, even if one of them fails; then ``ShallowsError/succeededLayers``
    /// names those that removed it.
    public func remove(forKey key: Key) async throws {
        try await cancelling { operations.remove(key, $0) }.withUnderlyingError().get()
    }

    /// Removes every value from every layer, after the writes that are under way, and calls
    /// `completion` once.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        operations.removeAll(.completing).deliver { completion($0.withUnderlyingError()) }
    }

    /// Removes every value from every layer, after the writes that are under way.
    ///
    /// ```swift
    /// try await cache.layers[0].removeAll()   // from the first layer alone
    /// ```
    public func removeAll() async throws {
        try await cancelling { operations.removeAll($0) }.withUnderlyingError().get()
    }
}

extension AnyStorage {
    /// Makes a call that ends when the task is cancelled, if the layers can. A task that was
    /// cancelled before makes a cancelled call.
    @inlinable
    package func cancelling<Result: Sendable>(
        _ ask: (Call) -> Reply<Result>
    ) async -> Outcome<Result> {
        let cancellation = Cancellation()
        // The handler below is installed only after the layers were asked, and their threads may
        // have done the work by then.
        if Task.isCancelled { cancellation.cancel() }
        switch ask(Call(cancellation: cancellation)) {
        case .now(let outcome): return outcome
        case .later(let promise):
            return await withTaskCancellationHandler {
                await Reply.later(promise).outcome()
            } onCancel: {
                cancellation.cancel()
            }
        }
    }
}

// MARK: Storages whose type is not erased

extension ReadableStorageProtocol {
    /// Returns the value under the key. See ``StorageFamily/Erased/retrieve(forKey:)``.
    public func retrieve(forKey key: Key) async throws -> Value {
        try await asReadOnlyStorage().retrieve(forKey: key)
    }

    /// Returns the value under the key, or `nil` if there is none. See
    /// ``StorageFamily/Erased/retrieveIfPresent(forKey:)``.
    public func retrieveIfPresent(forKey key: Key) async throws(ShallowsError) -> Value? {
        try await asReadOnlyStorage().retrieveIfPresent(forKey: key)
    }
}

extension WritableStorageProtocol {
    /// Sets the value under the key.
    public func set(_ value: Value, forKey key: Key) async throws {
        try await asWriteOnlyStorage().set(value, forKey: key)
    }

    /// Sets the value under the key without a completion. A failure is reported. See
    /// ``StorageReport``.
    @available(
        *,
        noasync,
        message: """
            This overload does not wait: write 'try await' inside an async function, or pass a \
            completion
            """
    )
    public func set(_ value: Value, forKey key: Key) {
        asWriteOnlyStorage().set(value, forKey: key)
    }
}

extension RemovableStorageProtocol {
    /// Removes the value under the key. See ``StorageFamily/Erased/remove(forKey:)``.
    public func remove(forKey key: Key) async throws {
        try await asRemovableStorage().remove(forKey: key)
    }

    /// Removes every value. See ``StorageFamily/Erased/removeAll()``.
    public func removeAll() async throws {
        try await asRemovableStorage().removeAll()
    }
}

// MARK: Storages with one key

extension ReadableStorageProtocol where Key == Void {
    /// Retrieves the value, and calls `completion` once.
    @preconcurrency
    public func retrieve(completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        retrieve(forKey: (), completion: completion)
    }

    /// Returns the value.
    public func retrieve() async throws -> Value { try await retrieve(forKey: ()) }
    /// Returns the value, or `nil` if there is none.
    public func retrieveIfPresent() async throws(ShallowsError) -> Value? {
        try await retrieveIfPresent(forKey: ())
    }
}

extension WritableStorageProtocol where Key == Void {
    /// Sets the value, and calls `completion` once.
    @preconcurrency
    public func set(_ value: Value, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    {
        set(value, forKey: (), completion: completion)
    }

    /// Sets the value.
    public func set(_ value: Value) async throws { try await set(value, forKey: ()) }

    /// Sets the value without a completion. A failure is reported.
    @available(
        *,
        noasync,
        message: """
            This overload does not wait: write 'try await' inside an async function, or pass a \
            completion
            """
    )
    public func set(_ value: Value) { set(value, forKey: ()) }
}
