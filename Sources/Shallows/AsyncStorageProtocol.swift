internal import Tiers

/// A storage of your own by two asynchronous functions.
///
/// ```swift
/// struct Server: AsyncStorageProtocol {
///     func retrieve(forKey id: Int) async throws -> Article { try await download(id) }
///     func set(_ article: Article, forKey id: Int) async throws { try await upload(article, id) }
/// }
/// let articles = memory.combined(with: disk).combined(with: Server())
/// ```
///
/// Everything else follows, as from ``StorageProtocol``. A function runs in a task of its own, which is cancelled when no one wants
/// its answer any more.
@preconcurrency
public protocol AsyncStorageProtocol<Key, Value>: StorageProtocol {
    // Said again, because they are inferred from the functions of the protocol that declares them only.
    override associatedtype Key
    override associatedtype Value

    func retrieve(forKey key: Key) async throws -> Value
    func set(_ value: Value, forKey key: Key) async throws
}

/// A storage of your own that values are only retrieved from, by an asynchronous function.
@preconcurrency
public protocol AsyncReadOnlyStorageProtocol<Key, Value>: ReadOnlyStorageProtocol {
    override associatedtype Key
    override associatedtype Value

    func retrieve(forKey key: Key) async throws -> Value
}

extension AsyncStorageProtocol {
    public func erased() -> Storage<Key, Value> {
        let operations = Storage<Key, Value>(
            storageName: storageName, retrieve: { key in try await retrieve(forKey: key) },
            set: { value, key in try await set(value, forKey: key) }
        ).operations
        // Made anew for each call, and one and the same storage all the same.
        return AnyStorage(storageName, operations.with(lockKey: { LockKey(of: self, key: $0) }))
    }

    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { erased().asReadOnlyStorage() }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> { erased().asWriteOnlyStorage() }

    @preconcurrency
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        erased().retrieve(forKey: key, completion: completion)
    }

    @preconcurrency
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        erased().set(value, forKey: key, completion: completion)
    }

    // So that what every storage has does not stand in for the function of your own.

    @available(*, unavailable, message: "Write this function: it is one of the two that a storage is.")
    public func retrieve(forKey key: Key) async throws -> Value { fatalError("Unavailable.") }

    @available(*, unavailable, message: "Write this function: it is one of the two that a storage is.")
    public func set(_ value: Value, forKey key: Key) async throws { fatalError("Unavailable.") }
}

extension AsyncReadOnlyStorageProtocol {
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> {
        ReadOnlyStorage(storageName: storageName, retrieve: { key in try await retrieve(forKey: key) })
    }

    @preconcurrency
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        asReadOnlyStorage().retrieve(forKey: key, completion: completion)
    }

    @available(*, unavailable, message: "Write this function: it is the one that the storage is.")
    public func retrieve(forKey key: Key) async throws -> Value { fatalError("Unavailable.") }
}
