/// A storage that values can be removed from, too.
///
/// ```swift
/// let memory = MemoryStorage<String, Int>()
/// try await memory.remove(forKey: "one")
/// let numbers = memory.asRemovableStorage().mapKeys { (number: Int) in String(number) }   // RemovableStorage<Int, Int>
/// ```
///
/// What is made of a ``StorageProtocol`` is a ``Storage``, as it always was. Begin with ``asRemovableStorage()``, and what is made
/// of it can remove as well, through every transform and composition.
@preconcurrency
public protocol RemovableStorageProtocol<Key, Value>: ReadableStorageProtocol, WritableStorageProtocol {
    /// Removes the value under the key, if there is one, and calls `completion` once, on any thread.
    @preconcurrency
    func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    /// Removes every value, and calls `completion` once, on any thread.
    @preconcurrency
    func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void)
    func asRemovableStorage() -> RemovableStorage<Key, Value>
}

extension RemovableStorageProtocol {
    public func asRemovableStorage() -> RemovableStorage<Key, Value> {
        AnyStorage(storageName, StorageOperations(removing: self))
    }
}

extension AnyStorage where Access == StorageKind.ReadWrite {
    @available(
        *, unavailable,
        message:
            "A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), and compose it with storages that can."
    )
    public func remove(forKey key: Key) async throws {}

    @available(
        *, unavailable,
        message:
            "A Storage may be one that cannot remove. Begin its chain with asRemovableStorage(), and compose it with storages that can."
    )
    public func removeAll() async throws {}
}
