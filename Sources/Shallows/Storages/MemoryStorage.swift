public import Foundation
public import VellumCore

/// A dictionary as a storage: values in memory, without a limit, until the process ends.
///
/// ```swift
/// let memory = MemoryStorage<String, Int>()
/// memory.storage["one"] = 1
/// let one = try await memory.retrieve(forKey: "one")
/// ```
///
/// Write the types of keys and values, unless the other layers of a composition imply them:
/// `MemoryStorage()` alone does not compile.
///
/// Answers synchronously, on the caller's thread. ``LRUStorage`` has limits.
///
/// - Complexity: O(1) for every call.
public final class MemoryStorage<Key: Hashable & Sendable, Value: Sendable>:
    ForwardingStorageProtocol, RemovableStorageProtocol
{
    /// `memory-storage-` and the types of keys and values.
    public let storageName = "memory-storage-\(Key.self):\(Value.self)"
    @usableFromInline let contents: ReadMostly<Contents, Void>

    /// Not copyable, so that a reader does not retain the dictionary: its count of references is a
    /// line of memory that every other reader would have to wait for.
    @usableFromInline
    struct Contents: ~Copyable, Sendable {
        @usableFromInline var values: [Key: Value]

        init(values: [Key: Value]) { self.values = values }

        @inlinable
        borrowing func value(forKey key: Key) -> Value? { values[key] }
    }

    /// Creates a storage with these values.
    public init(storage: [Key: Value] = [:]) {
        contents = ReadMostly(Contents(values: storage))
    }

    /// All values. Reading copies nothing until one of the copies changes.
    ///
    /// Reading and then writing is not atomic: use ``ErasableStorage/update(forKey:_:completion:)``
    /// where others change the values, too.
    public var storage: [Key: Value] {
        get { contents.read { contents, _ in contents.pointee.values } }
        set {
            // Released outside the lock, because values may run code when they are released.
            var old = newValue
            contents.write { contents, _ in swap(&contents.values, &old) }
        }
    }

    /// The storage as transforms and compositions use it.
    @inlinable
    public var underlyingStorage: RemovableStorage<Key, Value> {
        AnyStorage(
            storageName,
            StorageOperations(
                retrieve: { key, _ in self.found(key) },
                set: { value, key, _ in .success(self.replace(value, key)) },
                remove: { key, _ in .success(self.replace(nil, key)) },
                removeAll: { _ in .success(self.storage = [:]) },
                lockKey: { LockKey(of: self, $0) }
            )
        )
    }

    @inlinable
    func found(_ key: Key) -> Reply<Value> {
        guard let value = contents.read({ contents, _ in contents.pointee.value(forKey: key) })
        else {
            return .failure(.missed(key, storageName))
        }
        return .success(value)
    }

    // Without the underlying storage, because making that allocates.

    /// Retrieves the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func retrieve(
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Value>) -> Void
    ) {
        if let value = contents.read(
            { contents, _ in contents.pointee.value(forKey: key) }
        ) {
            completion(.success(value))
        } else {
            completion(.failure(MemoryStorageError.noValue))
        }
    }

    /// Sets the value under the key, and calls `completion` synchronously.
    @preconcurrency
    @inlinable
    public func set(
        _ value: Value,
        forKey key: Key,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        replace(value, key)
        completion(.success(()))
    }

    @inlinable
    func replace(_ value: Value?, _ key: Key) {
        // A key that is not equal to itself, such as NaN, would never be found again, nor removed.
        guard key == key else { return }
        var old = value
        contents.write { contents, _ in swap(&contents.values[key], &old) }
        withExtendedLifetime(old) {}  // Released outside the lock.
    }
}

/// Why a storage in memory has no value to return.
public enum MemoryStorageError: LocalizedError, StorageMiss {
    /// There is no value under the key.
    case noValue

    /// The text for `localizedDescription`.
    public var errorDescription: String? { "There is no value under the key." }
}

extension ShallowsError {
    @usableFromInline
    static func missed(_ key: any Sendable, _ layer: String) -> ShallowsError {
        .miss(forKey: key, layer: layer, cause: MemoryStorageError.noValue)
    }
}
