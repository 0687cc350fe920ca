/// A storage that can also remove values.
///
/// ```swift
/// let memory = MemoryStorage<String, Int>()
/// try await memory.remove(forKey: "one")
/// let numbers = memory.asRemovableStorage().mapKeys { (number: Int) in String(number) }   // RemovableStorage<Int, Int>
/// ```
///
/// Transforms of a ``StorageProtocol`` return a ``Storage``, which cannot remove. Begin with ``asRemovableStorage()``, and every
/// transform and composition returns a storage that can.
@preconcurrency
public protocol RemovableStorageProtocol<Key, Value>: ReadableStorageProtocol, WritableStorageProtocol {
    /// Removes the value under the key, if there is one, and calls `completion` once, on any thread.
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
        AnyStorage(storageName, StorageOperations(removing: self))
    }
}

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// Unavailable: only storages that begin with ``RemovableStorageProtocol/asRemovableStorage()`` can remove.
    @available(
        *, unavailable,
        message:
            "A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), and compose it with storages that can."
    )
    public func remove(forKey key: Key) async throws {}

    /// Unavailable: only storages that begin with ``RemovableStorageProtocol/asRemovableStorage()`` can remove.
    @available(
        *, unavailable,
        message:
            "A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), and compose it with storages that can."
    )
    public func removeAll() async throws {}
}
