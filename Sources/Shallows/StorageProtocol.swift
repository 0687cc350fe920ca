/// Says what it is called: in names of compositions, in errors and in reports.
public protocol StorageDesign {
    /// The name of the storage. By default that of its type.
    var storageName: String { get }
}

extension StorageDesign {
    public var storageName: String { String(describing: Self.self) }
}

/// Something that values can be retrieved from.
@preconcurrency
public protocol ReadableStorageProtocol<Key, Value>: StorageDesign, Sendable {
    associatedtype Key: Sendable
    associatedtype Value: Sendable

    /// Retrieves the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void)
    func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value>
}

/// Something that values can be set to.
@preconcurrency
public protocol WritableStorageProtocol<Key, Value>: StorageDesign, Sendable {
    associatedtype Key: Sendable
    associatedtype Value: Sendable

    /// Sets the value under the key, and calls `completion` once, on any thread.
    @preconcurrency
    func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value>
}

/// A storage of your own: two functions, and every transform and composition follows.
///
/// ```swift
/// final class KeychainStorage: StorageProtocol {
///     func retrieve(forKey key: String, completion: @escaping (Result<Data, Error>) -> ()) { … }
///     func set(_ value: Data, forKey key: String, completion: @escaping (Result<Void, Error>) -> ()) { … }
/// }
/// ```
///
/// Both are called on any thread, and several at a time. An error that you complete with is taken for a reason to ask the next
/// layer of a composition, and is reported; make yours a ``StorageMiss`` where it means that there is no value, and call
/// ``ErasableStorage/strict()`` where it never does. A completion that is dropped, or called twice, harms no one: the caller is
/// told once in either case. With `async` functions, conform to ``AsyncStorageProtocol``.
@preconcurrency
public protocol StorageProtocol<Key, Value>: ReadableStorageProtocol, WritableStorageProtocol, ErasableStorage
where Access == StorageKind.ReadWrite, ErasedKey == Key, ErasedValue == Value {}

/// A storage of your own that values are only retrieved from: one function.
@preconcurrency
public protocol ReadOnlyStorageProtocol<Key, Value>: ReadableStorageProtocol, ErasableStorage
where Access == StorageKind.ReadOnly, ErasedKey == Key, ErasedValue == Value {}

/// A storage of your own that values are only set to: one function.
@preconcurrency
public protocol WriteOnlyStorageProtocol<Key, Value>: WritableStorageProtocol, ErasableStorage
where Access == StorageKind.WriteOnly, ErasedKey == Key, ErasedValue == Value {}

/// Whatever can be made an ``AnyStorage``: storages of every kind, yours included. Transforms and compositions are written here,
/// once for all of them.
///
/// Conform to ``StorageProtocol``, ``ReadOnlyStorageProtocol`` or ``WriteOnlyStorageProtocol``, which say all of this for you.
@preconcurrency
public protocol ErasableStorage: StorageDesign, Sendable {
    associatedtype Access: StorageAccess
    associatedtype ErasedKey: Sendable
    associatedtype ErasedValue: Sendable

    /// This storage as the one type that all are transformed and composed as.
    func erased() -> AnyStorage<Access, ErasedKey, ErasedValue>
}

extension ReadableStorageProtocol {
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> {
        AnyStorage(storageName, StorageOperations(reading: self))
    }
}

extension WritableStorageProtocol {
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> {
        AnyStorage(storageName, StorageOperations(writing: self))
    }
}

extension StorageProtocol {
    public func erased() -> Storage<Key, Value> {
        AnyStorage(storageName, StorageOperations(readingAndWriting: self))
    }

    /// This storage, with its type erased.
    public func asStorage() -> Storage<Key, Value> { erased() }
}

extension ReadOnlyStorageProtocol {
    public func erased() -> ReadOnlyStorage<Key, Value> { asReadOnlyStorage() }
}

extension WriteOnlyStorageProtocol {
    public func erased() -> WriteOnlyStorage<Key, Value> { asWriteOnlyStorage() }
}
