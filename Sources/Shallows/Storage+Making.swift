internal import Tiers

// Storages of your own without a type: from closures.

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// A storage of two functions with completions. They run on the callers' threads, several at a time.
    @preconcurrency
    public init(
        storageName: String,
        retrieve: @escaping @Sendable (Key, @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void,
        set: @escaping @Sendable (Value, Key, @escaping @Sendable (ShallowsResult<Void>) -> Void) -> Void
    ) {
        self.init(
            storageName: storageName, read: ReadOnlyStorage(storageName: storageName, retrieve: retrieve),
            write: WriteOnlyStorage(storageName: storageName, set: set))
    }

    /// A storage of two asynchronous functions.
    ///
    /// ```swift
    /// let server = Storage<String, Data>(storageName: "server", retrieve: { try await download($0) }, set: { try await upload($0, as: $1) })
    /// ```
    @preconcurrency
    public init(
        storageName: String,
        retrieve: @escaping @Sendable (Key) async throws -> Value,
        set: @escaping @Sendable (Value, Key) async throws -> Void
    ) {
        self.init(
            storageName: storageName, read: ReadOnlyStorage(storageName: storageName, retrieve: retrieve),
            write: WriteOnlyStorage(storageName: storageName, set: set))
    }

    /// A storage that retrieves from one and sets to another.
    public init(storageName: String, read: ReadOnlyStorage<Key, Value>, write: WriteOnlyStorage<Key, Value>) {
        let (read, write) = (read.operations, write.operations)
        self.init(storageName, read.with(set: write.set, fireAndForget: write.fireAndForget))
    }

    /// A storage that retrieves from one and sets to another, named for the first.
    public init(read: ReadOnlyStorage<Key, Value>, write: WriteOnlyStorage<Key, Value>) {
        self.init(storageName: read.storageName, read: read, write: write)
    }

    /// A storage of any type, with its type erased.
    public init<Other: StorageProtocol>(_ storage: Other) where Other.Key == Key, Other.Value == Value {
        self = storage.erased()
    }
}

extension AnyStorage where Access == StorageKind.ReadOnly {
    /// A storage of a function with a completion. It runs on the callers' threads, several times at once.
    @preconcurrency
    public init(
        storageName: String, retrieve: @escaping @Sendable (Key, @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void
    ) {
        let identity = Identity()
        self.init(
            storageName,
            StorageOperations(
                retrieve: { key, call in .foreign(layer: storageName, key: key, call) { retrieve(key, $0) } },
                lockKey: { LockKey(of: identity, $0) }))
    }

    /// A storage of an asynchronous function.
    @preconcurrency
    public init(storageName: String, retrieve: @escaping @Sendable (Key) async throws -> Value) {
        let identity = Identity()
        self.init(
            storageName,
            StorageOperations(
                retrieve: { key, call in .foreign(layer: storageName, key: key, call) { try await retrieve(key) } },
                lockKey: { LockKey(of: identity, $0) }))
    }

    /// A storage of any type, with its type erased.
    public init<Other: ReadableStorageProtocol>(_ storage: Other) where Other.Key == Key, Other.Value == Value {
        self = storage.asReadOnlyStorage()
    }
}

extension AnyStorage where Access == StorageKind.WriteOnly {
    /// A storage of a function with a completion. It runs on the callers' threads, several times at once.
    @preconcurrency
    public init(
        storageName: String, set: @escaping @Sendable (Value, Key, @escaping @Sendable (ShallowsResult<Void>) -> Void) -> Void
    ) {
        self.init(
            storageName,
            StorageOperations(set: { value, key, call in .foreign(layer: storageName, key: key, call) { set(value, key, $0) } }))
    }

    /// A storage of an asynchronous function.
    @preconcurrency
    public init(storageName: String, set: @escaping @Sendable (Value, Key) async throws -> Void) {
        self.init(
            storageName,
            StorageOperations(set: { value, key, call in .foreign(layer: storageName, key: key, call) { try await set(value, key) } }))
    }

    /// A storage of any type, with its type erased.
    public init<Other: WritableStorageProtocol>(_ storage: Other) where Other.Key == Key, Other.Value == Value {
        self = storage.asWriteOnlyStorage()
    }
}

/// Why an ``StorageFamily/Erased/empty()`` storage neither has nor takes anything.
public enum EmptyCacheError: Error, StorageMiss {
    case cacheIsAlwaysEmpty
}

extension AnyStorage {
    /// A storage that never has a value and takes none: to compose with, and for tests. Retrieving is a miss, setting fails.
    public static func empty() -> Self {
        let name = "empty"
        return Self(
            name,
            StorageOperations(
                retrieve: { key, _ in .failure(.miss(forKey: key, layer: name, cause: EmptyCacheError.cacheIsAlwaysEmpty)) },
                set: { _, key, _ in
                    var error = ShallowsError(
                        .failed, "An empty storage takes no value.", layer: name, key: key, cause: EmptyCacheError.cacheIsAlwaysEmpty)
                    error.throwsCause = true
                    return .failure(error)
                },
                remove: { _, _ in .success(()) }, removeAll: { _ in .success(()) }))
    }
}

/// What makes a storage of functions one and the same.
final class Identity: Sendable {}
