/// The storages of one kind: a namespace, so that an extension of ``Storage`` or of one of its siblings extends that kind alone.
///
/// ```swift
/// extension Storage where Key == Filename {
///     func named(_ name: String) -> Storage<String, Value> { renaming(to: name).usingStringKeys() }
/// }
/// ```
public enum StorageKind<Access: StorageAccess> {
    /// A storage of values by keys, whatever it is made of: the one type that all others become.
    ///
    /// ```swift
    /// let storage = MemoryStorage<String, Int>().asStorage()   // Storage<String, Int>
    /// ```
    ///
    /// Written as one of its four kinds: ``Storage``, ``ReadOnlyStorage``, ``WriteOnlyStorage`` and ``RemovableStorage``. The kind is
    /// the type `Access`, of which there are no values: what may be done with a storage is checked when your code is compiled.
    ///
    /// A value of functions: copying it is cheap, and copies are one storage. Works from any thread.
    public struct Erased<Key: Sendable, Value: Sendable>: Sendable {
        /// What the storage is called: for compositions `front<->back` (both ways), `front<-back` (pulls) and `front->back` (pushes).
        public let storageName: String
        @usableFromInline let operations: StorageOperations<Key, Value>
        /// The layers of a composition, front first; none for a storage that is no composition.
        @usableFromInline let parts: [Self]
        /// Whom a set reaches, where that is not said by the parts: they are of this kind, and who is set to need not be.
        @usableFromInline let reach: [String]?

        @usableFromInline
        package init(_ storageName: String, _ operations: StorageOperations<Key, Value>, parts: [Self] = [], reach: [String]? = nil) {
            self.storageName = storageName
            self.operations = operations
            self.parts = parts
            self.reach = reach
        }

        /// The names of the storages that a set reaches, in that order.
        var leaves: [String] { reach ?? (parts.isEmpty ? [storageName] : parts.flatMap(\.leaves)) }

        /// The layers of which the storage is composed, front first; itself, where it is no composition.
        ///
        /// ```swift
        /// try await cache.layers[0].removeAll()   // purge memory, keep the disk
        /// ```
        ///
        /// Each takes this storage's keys and values, and can do what this storage can.
        @inlinable
        public var layers: [Self] { parts.isEmpty ? [self] : parts }

        /// The same storage made anew from its operations, and from those of each of its layers: what every transform is.
        @inlinable
        func transforming<OtherKey, OtherValue>(
            _ transform: (StorageOperations<Key, Value>) -> StorageOperations<OtherKey, OtherValue>
        ) -> AnyStorage<Access, OtherKey, OtherValue> {
            AnyStorage<Access, OtherKey, OtherValue>(
                storageName, transform(operations), parts: parts.map { $0.transforming(transform) }, reach: reach)
        }

        /// The same storage, as another kind.
        @inlinable
        func retyped<Other: StorageAccess>() -> AnyStorage<Other, Key, Value> {
            AnyStorage<Other, Key, Value>(storageName, operations, parts: parts.map { $0.retyped() }, reach: reach)
        }
    }
}

/// A storage of a kind that is left open: for functions that take several kinds. See ``StorageAccess``.
public typealias AnyStorage<Access: StorageAccess, Key: Sendable, Value: Sendable> = StorageKind<Access>.Erased<Key, Value>

/// A storage that values are retrieved from and set to.
public typealias Storage = StorageKind<ReadWrite>.Erased

/// A storage that values are retrieved from.
public typealias ReadOnlyStorage = StorageKind<ReadOnly>.Erased

/// A storage that values are set to.
public typealias WriteOnlyStorage = StorageKind<WriteOnly>.Erased

/// A storage that values are retrieved from, set to and removed from.
///
/// ```swift
/// let cache = memory.asRemovableStorage().combined(with: disk.asRemovableStorage().mapJSONObject(City.self))
/// try await cache.remove(forKey: "kharkiv")
/// ```
public typealias RemovableStorage = StorageKind<ReadWriteRemove>.Erased

extension AnyStorage: ErasableStorage {
    @inlinable
    public func erased() -> Self { self }
}

extension AnyStorage: ReadableStorageProtocol where Access: ReadableAccess {
    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { retyped() }
}

extension AnyStorage: WritableStorageProtocol where Access: WritableAccess {
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> { retyped() }
}

extension AnyStorage: StorageProtocol where Access == ReadWrite {}
extension AnyStorage: ReadOnlyStorageProtocol where Access == ReadOnly {}
extension AnyStorage: WriteOnlyStorageProtocol where Access == WriteOnly {}
extension AnyStorage: RemovableStorageProtocol where Access == ReadWriteRemove {
    public func asRemovableStorage() -> RemovableStorage<Key, Value> { self }
}

extension AnyStorage where Access: ReadableAccess & WritableAccess {
    /// This storage, without what only some storages can.
    public func asStorage() -> Storage<Key, Value> { retyped() }
}
