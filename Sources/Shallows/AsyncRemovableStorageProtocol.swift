/// A storage of your own, made of asynchronous functions, that can also remove values.
///
/// ```swift
/// extension CityServer: AsyncRemovableStorageProtocol {
///     func remove(forKey key: Filename) async throws { try await request("DELETE", key) }
///     func removeAll() async throws { throw ServerError(status: 405) }
/// }
/// ```
@preconcurrency
public protocol AsyncRemovableStorageProtocol<Key, Value>: AsyncStorageProtocol, RemovableStorageProtocol {
    /// Removes the value under the key, if there is one.
    func remove(forKey key: Key) async throws
    /// Removes every value.
    func removeAll() async throws
}

extension AsyncRemovableStorageProtocol {
    /// Returns this storage with its type erased.
    public func asRemovableStorage() -> RemovableStorage<Key, Value> {
        let name = storageName
        return AnyStorage(
            name,
            erased().operations.with(
                remove: { key, call in .foreign(layer: name, key: key, call) { try await remove(forKey: key) } },
                removeAll: { call in .foreign(layer: name, call) { try await removeAll() } }))
    }

    /// Removes the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().remove(forKey: key, completion: completion)
    }

    /// Removes every value, and calls `completion` once, on any thread.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().removeAll(completion: completion)
    }

    // Without these, the functions that every storage has would satisfy the requirements.

    /// Unavailable: a conforming type implements it.
    @available(*, unavailable, message: "Implement this function: it is one of the two that remove.")
    public func remove(forKey key: Key) async throws { fatalError("Unavailable.") }

    /// Unavailable: a conforming type implements it.
    @available(*, unavailable, message: "Implement this function: it is one of the two that remove.")
    public func removeAll() async throws { fatalError("Unavailable.") }
}
