// Decision 21.

/// The storages of one kind: a namespace, so that an extension of ``Storage``, or of another kind,
/// extends that kind alone.
///
/// ```swift
/// extension Storage where Key == Filename {
///     func named(_ name: String) -> Storage<String, Value> {
///         renaming(to: name).usingStringKeys()
///     }
/// }
/// ```
public enum StorageFamily<Access: StorageAccess> {
    /// A storage of values by keys, with its type erased: the type that all transforms and
    /// compositions return.
    ///
    /// ```swift
    /// // Storage<String, Int>
    /// let storage = MemoryStorage<String, Int>().asStorage()
    /// ```
    ///
    /// Written as one of its four kinds: ``Storage``, ``ReadOnlyStorage``, ``WriteOnlyStorage`` and
    /// ``RemovableStorage``. The compiler checks that only what the kind can do is asked of it.
    ///
    /// Copying it is cheap, and copies are one storage. It can be used on any thread.
    public struct Erased<Key: Sendable, Value: Sendable>: Sendable {
        /// The name of the storage: for compositions `front<->back` (both ways), `front<-back`
        /// (pulls) and `front->back` (pushes).
        public let storageName: String
        @usableFromInline let operations: StorageOperations<Key, Value>
        /// The layers of a composition, front first; empty for any other storage.
        @usableFromInline let parts: [Self]
        /// The names of the storages that a set reaches, where the parts do not say it: a storage
        /// that is set to may be of another kind.
        @usableFromInline let reach: [String]?

        @usableFromInline
        package init(
            _ storageName: String,
            _ operations: StorageOperations<Key, Value>,
            parts: [Self] = [],
            reach: [String]? = nil
        ) {
            self.storageName = storageName
            self.operations = operations
            self.parts = parts
            self.reach = reach
        }

        /// The names of the storages that a set reaches, in that order.
        @usableFromInline var leaves: [String] {
            reach ?? (parts.isEmpty ? [storageName] : parts.flatMap(\.leaves))
        }

        /// The layers of a composition, front first; the storage itself, if it is no composition.
        ///
        /// ```swift
        /// try await cache.layers[0].removeAll()   // purge memory, keep the disk
        /// ```
        ///
        /// Each takes this storage's keys and values, and can do what this storage can.
        @inlinable
        public var layers: [Self] { parts.isEmpty ? [self] : parts }

        /// Transforms the operations of the storage, and those of each of its layers: what every
        /// transform is made of.
        @inlinable
        func transforming<OtherKey, OtherValue>(
            _ transform: (StorageOperations<Key, Value>) -> StorageOperations<OtherKey, OtherValue>
        ) -> AnyStorage<Access, OtherKey, OtherValue> {
            AnyStorage<Access, OtherKey, OtherValue>(
                storageName,
                transform(operations),
                parts: parts.map { $0.transforming(transform) },
                reach: reach
            )
        }

        /// The same storage, as another kind.
        @inlinable
        func retyped<Other: StorageAccess>() -> AnyStorage<Other, Key, Value> {
            AnyStorage<Other, Key, Value>(
                storageName,
                operations,
                parts: parts.map { $0.retyped() },
                reach: reach
            )
        }
    }
}

/// A storage of any kind: for functions that take several kinds. See ``StorageAccess``.
public typealias AnyStorage<Access: StorageAccess, Key: Sendable, Value: Sendable> = StorageFamily<
    Access
>.Erased<Key, Value>

/// A storage that values are retrieved from and set to.
public typealias Storage = StorageFamily<StorageKind.ReadWrite>.Erased

/// A storage that values are retrieved from.
public typealias ReadOnlyStorage = StorageFamily<StorageKind.ReadOnly>.Erased

/// A storage that values are set to.
public typealias WriteOnlyStorage = StorageFamily<StorageKind.WriteOnly>.Erased

/// A storage that values are retrieved from, set to and removed from.
///
/// ```swift
/// let cache = memory.asRemovableStorage()
///     .combined(with: disk.asRemovableStorage().mapJSONObject(City.self))
/// try await cache.remove(forKey: "kharkiv")
/// ```
public typealias RemovableStorage = StorageFamily<StorageKind.ReadWriteRemove>.Erased

extension AnyStorage: ErasableStorage {
    /// Returns this storage.
    @inlinable
    public func erased() -> Self { self }
}

extension AnyStorage: ReadableStorageProtocol where Access: ReadableAccess {
    /// Returns this storage, to be retrieved from.
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { retyped() }
}

extension AnyStorage: WritableStorageProtocol where Access: WritableAccess {
    /// Returns this storage, to be set to.
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> { retyped() }
}

extension AnyStorage: StorageProtocol where Access == StorageKind.ReadWrite {}
extension AnyStorage: ReadOnlyStorageProtocol where Access == StorageKind.ReadOnly {}
extension AnyStorage: WriteOnlyStorageProtocol where Access == StorageKind.WriteOnly {}
extension AnyStorage: RemovableStorageProtocol where Access == StorageKind.ReadWriteRemove {
    /// Returns this storage.
    public func asRemovableStorage() -> RemovableStorage<Key, Value> { self }
}

extension AnyStorage where Access: ReadableAccess & WritableAccess {
    /// Returns this storage, to be retrieved from and set to.
    public func asStorage() -> Storage<Key, Value> { retyped() }
}

/// What a storage can do: the *kind* in the type of an ``AnyStorage``.
///
/// ```swift
/// func load<Access: ReadableAccess>(
///     _ storage: AnyStorage<Access, String, Data>
/// ) async throws -> Data {
///     try await storage.retrieve(forKey: "settings")
/// }
/// ```
///
/// A kind is chosen where a storage is made, and every transform keeps it. Kinds have no values;
/// they are the cases of ``StorageKind``.
public protocol StorageAccess: Sendable {}

/// A kind of storage that values can be retrieved from.
public protocol ReadableAccess: StorageAccess {}

/// A kind of storage that values can be set to.
public protocol WritableAccess: StorageAccess {}

/// The kinds of storages.
public enum StorageKind {
    /// Values can be retrieved and set: ``Storage``.
    public enum ReadWrite: ReadableAccess, WritableAccess {}

    /// Values can be retrieved: ``ReadOnlyStorage``.
    public enum ReadOnly: ReadableAccess {}

    /// Values can be set: ``WriteOnlyStorage``.
    public enum WriteOnly: WritableAccess {}

    /// Values can be retrieved, set and removed: ``RemovableStorage``.
    public enum ReadWriteRemove: ReadableAccess, WritableAccess {}
}
