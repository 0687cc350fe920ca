extension StorageProtocol {
    /// Changes the value under the key: retrieves it, lets `modify` change it, and sets it.
    ///
    /// ```swift
    /// storage.defaulting(to: []).update(forKey: "first", { $0.append(10) })
    /// ```
    ///
    /// Atomic against other updates of the key through this storage, and through others made of it by transforms that keep the keys
    /// or map them; of all its keys, where they cannot be compared. A plain `set` does not wait for it.
    ///
    /// - Parameters:
    ///   - modify: Called where the storage answered, on any thread; not at all where there is no value.
    ///   - completion: Called once, with the new value. By default a failure is reported.
    @preconcurrency
    public func update(
        forKey key: Key, _ modify: @escaping @Sendable (inout Value) -> Void,
        completion: (@Sendable (ShallowsResult<Value>) -> Void)? = nil
    ) {
        let name = storageName
        updating(key, .completing, modify).deliver { outcome in
            if let completion {
                completion(outcome.surfaced())
            } else if case .failure(let error) = outcome {
                Call.completing.report(StorageReport(.setFailed, layer: name, error))
            }
        }
    }

    /// Changes the value under the key, and gives the new one. See ``update(forKey:_:completion:)``.
    @discardableResult
    public func update(forKey key: Key, _ modify: @escaping @Sendable (inout Value) -> Void) async throws -> Value {
        try await erased().cancelling { updating(key, $0, modify) }.surfaced().get()
    }

    private func updating(_ key: Key, _ call: Call, _ modify: @escaping @Sendable (inout Value) -> Void) -> Reply<Value> {
        let verbs = erased().verbs
        let work: @Sendable () -> Reply<Value> = {
            verbs.retrieve(key, call).then { outcome in
                switch outcome {
                case .failure: return .now(outcome)
                case .success(var value):
                    modify(&value)
                    let changed = value
                    return verbs.set(changed, key, call).map { $0.map { changed } }
                }
            }
        }
        guard let turn = verbs.turn(key) else { return work() }
        return Turns.ofUpdates.run(turn, call, work)
    }
}

extension StorageProtocol where Key == Void {
    /// Changes the value. See ``update(forKey:_:completion:)``.
    @preconcurrency
    public func update(
        _ modify: @escaping @Sendable (inout Value) -> Void, completion: (@Sendable (ShallowsResult<Value>) -> Void)? = nil
    ) {
        update(forKey: (), modify, completion: completion)
    }
}
