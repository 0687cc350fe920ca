public import VellumCore

/// A dictionary: values in memory, without a limit, until the process ends.
///
/// ```swift
/// let memory = MemoryStorage<String, Int>()
/// memory.storage["one"] = 1
/// let one = try await memory.retrieve(forKey: "one")
/// ```
///
/// Answers at once, on the caller's thread. ``LRUStorage`` is the one with limits.
///
/// - Complexity: O(1) for every verb.
public final class MemoryStorage<Key: Hashable & Sendable, Value: Sendable>: StorageProtocol, RemovableStorageProtocol {
    public let storageName = "memory-storage-\(Key.self):\(Value.self)"
    @usableFromInline let contents: Locked<[Key: Value]>

    public init(storage: [Key: Value] = [:]) {
        contents = Locked(storage)
    }

    /// Everything in it. Getting copies nothing until one of the copies changes.
    ///
    /// Getting and setting are two steps: use ``ErasableStorage/update(forKey:_:completion:)`` where others change it, too.
    public var storage: [Key: Value] {
        get { contents.withLock { $0 } }
        set {
            // Released outside the lock: values may have code that runs when they go.
            var old = newValue
            contents.withLock { swap(&$0, &old) }
        }
    }

    @inlinable
    public func erased() -> Storage<Key, Value> { AnyStorage(storageName, verbs) }

    public func asReadOnlyStorage() -> ReadOnlyStorage<Key, Value> { AnyStorage(storageName, verbs) }
    public func asWriteOnlyStorage() -> WriteOnlyStorage<Key, Value> { AnyStorage(storageName, verbs) }
    public func asRemovableStorage() -> RemovableStorage<Key, Value> { AnyStorage(storageName, verbs) }

    @inlinable var verbs: StorageVerbs<Key, Value> {
        StorageVerbs(
            retrieve: { key, _ in
                guard let value = self.contents.withLock({ $0[key] }) else { return .failure(.missed(key, self.storageName)) }
                return .success(value)
            },
            set: { value, key, _ in .success(self.replace(value, key)) },
            remove: { key, _ in .success(self.replace(nil, key)) },
            removeAll: { _ in .success(self.storage = [:]) },
            turn: { Turn(of: self, $0) })
    }

    @preconcurrency
    @inlinable
    public func retrieve(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) {
        if let value = contents.withLock({ $0[key] }) {
            completion(.success(value))
        } else {
            completion(.failure(MemoryStorageError.noValue))
        }
    }

    @preconcurrency
    @inlinable
    public func set(_ value: Value, forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        replace(value, key)
        completion(.success(()))
    }

    @preconcurrency
    public func remove(forKey key: Key, completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        replace(nil, key)
        completion(.success(()))
    }

    @preconcurrency
    public func removeAll(completion: @escaping @Sendable (ShallowsResult<Void>) -> Void) {
        storage = [:]
        completion(.success(()))
    }

    @inlinable
    func replace(_ value: Value?, _ key: Key) {
        var old = value
        contents.withLock { swap(&$0[key], &old) }
        withExtendedLifetime(old) {}  // Released outside the lock.
    }
}

/// Why a storage in memory answers no value.
public enum MemoryStorageError: Error, StorageMiss {
    case noValue
}

extension ShallowsError {
    @usableFromInline
    static func missed(_ key: any Sendable, _ layer: String) -> ShallowsError {
        .miss(forKey: key, layer: layer, cause: MemoryStorageError.noValue)
    }
}
