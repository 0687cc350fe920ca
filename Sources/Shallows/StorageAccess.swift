/// What a storage can do: the *kind* in the type of an ``AnyStorage``.
///
/// ```swift
/// func load<Access: ReadableAccess>(_ storage: AnyStorage<Access, String, Data>) async throws -> Data {
///     try await storage.retrieve(forKey: "settings")
/// }
/// ```
///
/// A kind is chosen where a storage is made, and every transform keeps it. Kinds have no values; they are the cases of ``StorageKind``.
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
