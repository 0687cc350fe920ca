internal import VellumCore

/// A storage of your own, made of two asynchronous functions.
///
/// ```swift
/// struct Server: AsyncStorageProtocol {
///     func retrieve(forKey id: Int) async throws -> Article {
///         try await download(id)
///     }
///     func set(_ article: Article, forKey id: Int) async throws {
///         try await upload(article, id)
///     }
/// }
/// let articles = memory.combined(with: disk).combined(with: Server())
/// ```
///
/// Every transform and composition works with it, as with a ``StorageProtocol``. Each call runs in
/// its own task, which is cancelled when nobody waits for its answer.
@preconcurrency
public protocol AsyncStorageProtocol<Key, Value>: StorageProtocol {
    // Declared again, because they are inferred only from the functions of the protocol that
    // declares them.
    override associatedtype Key
    override associatedtype Value

    /// Returns the value under the key. Throws a ``StorageMiss`` if there is none.
    func retrieve(forKey key: Key) async throws -> Value
    /// Sets the value under the key.
    func set(_ value: Value, forKey key: Key) async throws
}

/// A read-only storage of your own, made of an asynchronous function.
@preconcurrency
public protocol AsyncReadOnlyStorageProtocol<Key, Value>: ReadOnlyStorageProtocol {
    override associatedtype Key
    override associatedtype Value

    /// Returns the value under the key. Throws a ``StorageMiss`` if there is none.
    func retrieve(forKey key: Key) async throws -> Value
}

extension AsyncStorageProtocol {
    /// Returns this storage with its type erased.
    public func erased() -> Storage<Key, Value> {
        let operations = Storage<Key, Value>(
            storageName: storageName,
            retrieve: { key in try await retrieve(forKey: key) },
            set: { value, key in try await set(value, forKey: key) }
        ).operations
        // Erased storages of one storage exclude each other's updates.
        return AnyStorage(storageName, operations.with(lockKey: { LockKey(of: self, key: $0) }))
    }

    /// Returns this storage with its type erased, to be retrieved from.
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { erased().asReadOnlyStorage() }
    /// Returns this storage with its type erased, to be set to.
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> {
        erased().asWriteOnlyStorage()
    }

    /// Retrieves the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        erased().retrieve(forKey: key, completion: completion)
    }

    /// Sets the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        erased().set(value, forKey: key, completion: completion)
    }

    // Without these, the functions that every storage has would satisfy the requirements.

    /// Unavailable: a conforming type implements it.
    @available(
        *,
        unavailable,
        message: "Implement this function: it is one of the two that a storage is made of."
    )
    public func retrieve(forKey key: Key) async throws -> Value { fatalError("Unavailable.") }

    /// Unavailable: a conforming type implements it.
    @available(
        *,
        unavailable,
        message: "Implement this function: it is one of the two that a storage is made of."
    )
    public func set(_ value: Value, forKey key: Key) async throws { fatalError("Unavailable.") }
}

extension AsyncReadOnlyStorageProtocol {
    /// Returns this storage with its type erased.
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> {
        ReadOnlyStorage(
            storageName: storageName,
            retrieve: { key in try await retrieve(forKey: key) }
        )
    }

    /// Retrieves the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        asReadOnlyStorage().retrieve(forKey: key, completion: completion)
    }

    /// Unavailable: a conforming type implements it.
    @available(
        *,
        unavailable,
        message: "Implement this function: it is the one that the storage is made of."
    )
    public func retrieve(forKey key: Key) async throws -> Value { fatalError("Unavailable.") }
}

/// A storage of your own, made of asynchronous functions, that can also remove values.
///
/// ```swift
/// extension CityServer: AsyncRemovableStorageProtocol {
///     func remove(forKey key: Filename) async throws {
///         try await request("DELETE", key)
///     }
///     func removeAll() async throws { throw ServerError(status: 405) }
/// }
/// ```
@preconcurrency
public protocol AsyncRemovableStorageProtocol<Key, Value>: AsyncStorageProtocol,
    RemovableStorageProtocol
{
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
                remove: { key, call in
                    .foreign(layer: name, key: key, call) { try await remove(forKey: key) }
                },
                removeAll: { call in .foreign(layer: name, call) { try await removeAll() } }
            )
        )
    }

    /// Removes the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    public func remove(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        asRemovableStorage().remove(forKey: key, completion: completion)
    }

    /// Removes every value, and calls `completion` once, on any thread.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        asRemovableStorage().removeAll(completion: completion)
    }

    // Without these, the functions that every storage has would satisfy the requirements.

    /// Unavailable: a conforming type implements it.
    @available(
        *,
        unavailable,
        message: "Implement this function: it is one of the two that remove."
    )
    public func remove(forKey key: Key) async throws { fatalError("Unavailable.") }

    /// Unavailable: a conforming type implements it.
    @available(
        *,
        unavailable,
        message: "Implement this function: it is one of the two that remove."
    )
    public func removeAll() async throws { fatalError("Unavailable.") }
}
