/// A storage that is a type of its own and forwards every call to another storage: one property,
/// and it conforms.
///
/// ```swift
/// final class CityStorage: ForwardingStorageProtocol {
///     typealias Key = Filename
///     typealias Value = City
///
///     let underlyingStorage = MemoryStorage<Filename, City>()
///         .asRemovableStorage()
///         .combined(
///             with: DiskStorage.main.folder("cities", in: .cachesDirectory)
///                 .asRemovableStorage().mapJSONObject(City.self))
/// }
/// ```
///
/// Where the underlying storage is a ``RemovableStorage``, the type can conform to
/// ``RemovableStorageProtocol`` without more. The storages of this package are made this way.
@preconcurrency
public protocol ForwardingStorageProtocol<Key, Value>: StorageProtocol {
    /// The kind of the underlying storage.
    associatedtype UnderlyingAccess: ReadableAccess & WritableAccess

    /// The storage that does the work. It may be made anew for each call.
    var underlyingStorage: AnyStorage<UnderlyingAccess, Key, Value> { get }
}

extension ForwardingStorageProtocol {
    /// The underlying storage, as one that values are retrieved from and set to.
    public func erased() -> Storage<Key, Value> { underlyingStorage.asStorage() }

    /// The underlying storage, as one that values are retrieved from.
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> {
        underlyingStorage.asReadOnlyStorage()
    }

    /// The underlying storage, as one that values are set to.
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> {
        underlyingStorage.asWriteOnlyStorage()
    }

    /// Retrieves the value under the key, and calls `completion` once.
    @preconcurrency
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        underlyingStorage.retrieve(forKey: key, completion: completion)
    }

    /// Sets the value under the key, and calls `completion` once.
    @preconcurrency
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        underlyingStorage.set(value, forKey: key, completion: completion)
    }
}

extension RemovableStorageProtocol
where Self: ForwardingStorageProtocol, UnderlyingAccess == StorageKind.ReadWriteRemove {
    /// The underlying storage, which can remove values.
    public func asRemovableStorage() -> RemovableStorage<Key, Value> { underlyingStorage }

    /// Removes the value under the key, if there is one, and calls `completion` once.
    @preconcurrency
    public func remove(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        underlyingStorage.remove(forKey: key, completion: completion)
    }

    /// Removes every value, and calls `completion` once.
    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        underlyingStorage.removeAll(completion: completion)
    }
}
