/// What may be done with a storage: the *kind* in ``AnyStorage``'s type, of which there are no values.
///
/// ```swift
/// func load<Access: ReadableAccess>(_ storage: AnyStorage<Access, String, Data>) async throws -> Data {
///     try await storage.retrieve(forKey: "settings")
/// }
/// ```
///
/// A kind is chosen where a storage is made, and every transform keeps it: that is why each of them is written once.
public protocol StorageAccess: Sendable {}

/// Values can be retrieved.
public protocol ReadableAccess: StorageAccess {}

/// Values can be set.
public protocol WritableAccess: StorageAccess {}

/// Values can be retrieved and set: ``Storage``.
public enum ReadWrite: ReadableAccess, WritableAccess {}

/// Values can be retrieved: ``ReadOnlyStorage``.
public enum ReadOnly: ReadableAccess {}

/// Values can be set: ``WriteOnlyStorage``.
public enum WriteOnly: WritableAccess {}

/// Values can be retrieved, set and removed: ``RemovableStorage``.
public enum ReadWriteRemove: ReadableAccess, WritableAccess {}
