internal import VellumCore

extension ErasableStorage where Access: ReadableAccess & WritableAccess {
    /// Changes the value under the key: retrieves it, lets `modify` change it, and sets it.
    ///
    /// ```swift
    /// storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
    /// ```
    ///
    /// Atomic against other updates of the key through this storage, and through transforms of it
    /// that keep the keys or map them synchronously. Updates of an `asyncMapKeys` storage exclude
    /// each other, whatever the key, and so do those of keys that cannot be compared. A plain `set`
    /// does not wait for an update.
    ///
    /// On a storage whose file other processes have open, such as `SQLiteStorage` itself, an update
    /// is atomic among all of them: if one of them or a plain `set` wrote the key meanwhile,
    /// `modify` runs again, with the new value.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - modify: Called on any thread; not called if there is no value.
    ///   - completion: Called once, with the new value.
    @preconcurrency
    public func update(
        forKey key: ErasedKey,
        _ modify: @escaping @Sendable (inout ErasedValue) -> Void,
        completion: @escaping @Sendable (ShallowsResult<ErasedValue>) -> Void
    ) {
        erased().operations.update(key, layer: storageName, .completing, modify).deliver {
            completion($0.withUnderlyingError())
        }
    }

    /// Changes the value under the key without a completion. A failure is reported. See
    /// ``update(forKey:_:completion:)``.
    @preconcurrency
    @available(
        *,
        noasync,
        message: """
            This overload does not wait: write 'try await' inside an async function, or pass a \
            completion
            """
    )
    public func update(
        forKey key: ErasedKey,
        _ modify: @escaping @Sendable (inout ErasedValue) -> Void
    ) {
        let name = storageName
        let operations = erased().operations
        let fireAndForget = operations.fireAndForget
        operations.update(key, layer: name, .completing, modify).deliver { outcome in
            if case .failure(let error) = outcome {
                fireAndForget.report(StorageReport(.setFailed, layer: name, error))
            }
        }
    }

    /// Changes the value under the key, and returns the new one. See
    /// ``update(forKey:_:completion:)``.
    @discardableResult
    public func update(
        forKey key: ErasedKey,
        _ modify: @escaping @Sendable (inout ErasedValue) -> Void
    ) async throws -> ErasedValue {
        let storage = erased()
        return try await storage.cancelling {
            storage.operations.update(key, layer: storage.storageName, $0, modify)
        }.withUnderlyingError()
            .get()
    }
}

extension ErasableStorage where Access: ReadableAccess & WritableAccess, ErasedKey == Void {
    /// Changes the value. See ``update(forKey:_:completion:)``.
    @preconcurrency
    public func update(
        _ modify: @escaping @Sendable (inout ErasedValue) -> Void,
        completion: @escaping @Sendable (ShallowsResult<ErasedValue>) -> Void
    ) {
        update(forKey: (), modify, completion: completion)
    }

    /// Changes the value without a completion. A failure is reported. See
    /// ``update(forKey:_:completion:)``.
    @preconcurrency
    @available(
        *,
        noasync,
        message: """
            This overload does not wait: write 'try await' inside an async function, or pass a \
            completion
            """
    )
    public func update(_ modify: @escaping @Sendable (inout ErasedValue) -> Void) {
        update(forKey: (), modify)
    }

    /// Changes the value, and returns the new one. See
    /// ``ErasableStorage/update(forKey:_:completion:)``.
    @discardableResult
    public func update(
        _ modify: @escaping @Sendable (inout ErasedValue) -> Void
    ) async throws -> ErasedValue {
        try await update(forKey: (), modify)
    }
}

extension AnySyncStorage where Access: ReadableAccess & WritableAccess {
    /// Changes the value under the key, and returns the new one. See
    /// ``ErasableStorage/update(forKey:_:completion:)``.
    @discardableResult
    public func update(
        forKey key: Key,
        _ modify: @escaping @Sendable (inout Value) -> Void
    ) throws -> Value {
        try operations.update(key, layer: storageName, .waiting, modify).waitForValue()
    }
}

extension StorageOperations {
    /// Retrieves, changes and sets, while no other update of the key does.
    func update(
        _ key: Key,
        layer: String,
        _ call: Call,
        _ modify: @escaping @Sendable (inout Value) -> Void
    ) -> Reply<Value> {
        let work: @Sendable (Call) -> Reply<Value> = { [self] call in
            if let retrieveForUpdate {
                return update(key, retrieveForUpdate, layer: layer, call, modify, tries: 64)
            }
            return retrieve(key, call).then { [self] outcome in
                outcome.then { value in
                    call.isCancelled
                        ? .failure(.cancelled(layer: layer, key: key))
                        : set(value, modifiedBy: modify, key, call)
                }
            }
        }
        guard let lockKey = lockKey(key) else { return work(call) }
        return KeyedMutex.ofUpdates.run(lockKey, layer: layer, call, work)
    }

    private func set(
        _ value: Value,
        modifiedBy modify: (inout Value) -> Void,
        _ key: Key,
        _ call: Call
    ) -> Reply<Value> {
        var changed = value
        modify(&changed)
        let new = changed
        return set(new, key, call).map { $0.map { new } }
    }

    /// Retrieves, changes and sets, again if somebody else has written the key meanwhile.
    private func update(
        _ key: Key,
        _ retrieve: @escaping RetrieveForUpdate,
        layer: String,
        _ call: Call,
        _ modify: @escaping @Sendable (inout Value) -> Void,
        tries: Int
    ) -> Reply<Value> {
        retrieve(key, call).then { [self] outcome in
            outcome.then { found in
                guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
                var changed = found.value
                modify(&changed)
                let new = changed
                return found.set(new, call).then { [self] outcome in
                    outcome.then { isSet in
                        if isSet { return .success(new) }
                        guard tries > 1 else { return .failure(.lostRaces(layer: layer, key: key)) }
                        return update(key, retrieve, layer: layer, call, modify, tries: tries - 1)
                    }
                }
            }
        }
    }
}

extension ShallowsError {
    fileprivate static func lostRaces(layer: String, key: any Sendable) -> ShallowsError {
        ShallowsError(
            .busy,
            """
            Others wrote the value 64 times in a row before the update was set. Nothing was \
            changed. Try again.
            """,
            layer: layer,
            key: key
        )
    }
}
