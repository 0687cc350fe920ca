/// A storage of your own by asynchronous functions, that values can be removed from, too.
///
/// ```swift
/// extension CityServer: AsyncRemovableStorageProtocol {
///     func remove(forKey key: Filename) async throws { try await request("DELETE", key) }
///     func removeAll() async throws { throw ServerError(status: 405) }
/// }
/// ```
@preconcurrency
public protocol AsyncRemovableStorageProtocol<Key, Value>: AsyncStorageProtocol, RemovableStorageProtocol {
    func remove(forKey key: Key) async throws
    func removeAll() async throws
}

extension AsyncRemovableStorageProtocol {
    public func asRemovableStorage() -> RemovableStorage<Key, Value> {
        let name = storageName
        return AnyStorage(
            name,
            erased().operations.with(
                remove: { key, call in .foreign(layer: name, key: key, call) { try await remove(forKey: key) } },
                removeAll: { call in .foreign(layer: name, call) { try await removeAll() } }))
    }

    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().remove(forKey: key, completion: completion)
    }

    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().removeAll(completion: completion)
    }

    // So that what every storage has does not stand in for the function of your own.

    @available(*, unavailable, message: "Write this function: it is one of the two that removing is.")
    public func remove(forKey key: Key) async throws { fatalError("Unavailable.") }

    @available(*, unavailable, message: "Write this function: it is one of the two that removing is.")
    public func removeAll() async throws { fatalError("Unavailable.") }
}
