internal import VellumCore

// Decision 22.

/// Something with a name, which compositions, errors and reports use.
public protocol StorageDesign {
    /// The name of the storage. By default the name of its type.
    var storageName: String { get }
}

extension StorageDesign {
    /// The name of the type.
    public var storageName: String { String(describing: Self.self) }
}

/// A storage that values can be retrieved from.
@preconcurrency
public protocol ReadableStorageProtocol<Key, Value>: StorageDesign, Sendable {
    /// What values are stored under.
    associatedtype Key: Sendable
    /// What is stored.
    associatedtype Value: Sendable

    /// Retrieves the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void)
    /// Returns this storage with its type erased, to be retrieved from.
    func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value>
}

/// A storage that values can be set to.
@preconcurrency
public protocol WritableStorageProtocol<Key, Value>: StorageDesign, Sendable {
    /// What values are stored under.
    associatedtype Key: Sendable
    /// What is stored.
    associatedtype Value: Sendable

    /// Sets the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    )
    /// Returns this storage with its type erased, to be set to.
    func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value>
}

/// A storage of your own, made of two functions. Every transform and composition works with it.
///
/// ```swift
/// final class KeychainStorage: StorageProtocol {
///     func retrieve(
///         forKey key: String,
///         completion: @escaping (Result<Data, Error>) -> ()
///     ) { … }
///     func set(
///         _ value: Data, forKey key: String,
///         completion: @escaping (Result<Void, Error>) -> ()
///     ) { … }
/// }
/// ```
///
/// Both are called on any thread, and concurrently. After an error, a composition asks its next
/// layer and reports the error. Make your error a ``StorageMiss`` if it means that there is no
/// value; with ``ErasableStorage/strict()``, any other error stops. If a completion is released
/// without being called, the caller gets an error; if it is called twice, the first call counts.
/// With `async` functions, conform to ``AsyncStorageProtocol``.
@preconcurrency
public protocol StorageProtocol<Key, Value>: ReadableStorageProtocol, WritableStorageProtocol,
    ErasableStorage
where Access == StorageKind.ReadWrite, ErasedKey == Key, ErasedValue == Value {}

/// A read-only storage of your own, made of one function.
@preconcurrency
public protocol ReadOnlyStorageProtocol<Key, Value>: ReadableStorageProtocol, ErasableStorage
where Access == StorageKind.ReadOnly, ErasedKey == Key, ErasedValue == Value {}

/// A write-only storage of your own, made of one function.
@preconcurrency
public protocol WriteOnlyStorageProtocol<Key, Value>: WritableStorageProtocol, ErasableStorage
where Access == StorageKind.WriteOnly, ErasedKey == Key, ErasedValue == Value {}

/// A storage whose type can be erased: storages of every kind, yours included. Every transform and
/// composition is an extension of it.
///
/// Do not conform to it yourself: ``StorageProtocol``, ``ReadOnlyStorageProtocol`` and
/// ``WriteOnlyStorageProtocol`` imply it.
@preconcurrency
public protocol ErasableStorage: StorageDesign, Sendable {
    /// The kind of the storage.
    associatedtype Access: StorageAccess
    /// The keys of the erased storage.
    associatedtype ErasedKey: Sendable
    /// The values of the erased storage.
    associatedtype ErasedValue: Sendable

    /// Returns this storage with its type erased.
    func erased() -> AnyStorage<Access, ErasedKey, ErasedValue>
}

extension ReadableStorageProtocol {
    /// Returns this storage with its type erased, to be retrieved from.
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> {
        AnyStorage(
            storageName,
            StorageOperations(retrieve: retrieval, lockKey: { LockKey(of: self, key: $0) })
        )
    }
}

extension WritableStorageProtocol {
    /// Returns this storage with its type erased, to be set to.
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> {
        AnyStorage(
            storageName,
            StorageOperations(set: setting, lockKey: { LockKey(of: self, key: $0) })
        )
    }
}

extension StorageProtocol {
    /// Returns this storage with its type erased.
    public func erased() -> Storage<Key, Value> {
        AnyStorage(
            storageName,
            StorageOperations(
                retrieve: retrieval,
                set: setting,
                lockKey: { LockKey(of: self, key: $0) }
            )
        )
    }

    /// Returns this storage with its type erased.
    public func asStorage() -> Storage<Key, Value> { erased() }
}

extension ReadOnlyStorageProtocol {
    /// Returns this storage with its type erased.
    public func erased() -> ReadOnlyStorage<Key, Value> { asReadOnlyStorage() }
}

extension WriteOnlyStorageProtocol {
    /// Returns this storage with its type erased.
    public func erased() -> WriteOnlyStorage<Key, Value> { asWriteOnlyStorage() }
}

/// A storage that can also remove values.
///
/// ```swift
/// let memory = MemoryStorage<String, Int>()
/// try await memory.remove(forKey: "one")
/// // RemovableStorage<Int, Int>
/// let numbers = memory.asRemovableStorage().mapKeys { (number: Int) in
///     String(number)
/// }
/// ```
///
/// Transforms of a ``StorageProtocol`` return a ``Storage``, which cannot remove. Begin with
/// ``asRemovableStorage()``, and every transform and composition returns a storage that can.
@preconcurrency
public protocol RemovableStorageProtocol<Key, Value>: ReadableStorageProtocol,
    WritableStorageProtocol
{
    /// Removes the value under the key, if there is one, and calls `completion` once, on any
    /// thread.
    @preconcurrency
    func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    /// Removes every value, and calls `completion` once, on any thread.
    @preconcurrency
    func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    /// Returns this storage with its type erased.
    func asRemovableStorage() -> RemovableStorage<Key, Value>
}

extension RemovableStorageProtocol {
    /// Returns this storage with its type erased.
    public func asRemovableStorage() -> RemovableStorage<Key, Value> {
        let name = storageName
        return AnyStorage(
            name,
            StorageOperations(
                retrieve: retrieval,
                set: setting,
                remove: { key, call in
                    .foreign(layer: name, key: key, call) {
                        self.remove(forKey: key, completion: $0)
                    }
                },
                removeAll: { call in
                    .foreign(layer: name, call) { self.removeAll(completion: $0) }
                },
                lockKey: { LockKey(of: self, key: $0) }
            )
        )
    }
}

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// Unavailable: only storages that begin with ``RemovableStorageProtocol/asRemovableStorage()``
    /// can remove.
    @available(
        *,
        unavailable,
        message: """
            A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), \
            and compose it with storages that can.
            """
    )
    public func remove(forKey key: Key) async throws {}

    /// Unavailable: only storages that begin with ``RemovableStorageProtocol/asRemovableStorage()``
    /// can remove.
    @available(
        *,
        unavailable,
        message: """
            A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), \
            and compose it with storages that can.
            """
    )
    public func removeAll() async throws {}
}
