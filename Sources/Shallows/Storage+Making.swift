public import Foundation
internal import VellumCore

// Storages made of closures.

extension AnyStorage where Access == StorageKind.ReadWrite {
    /// Creates a storage of two functions with completions. They run on the callers' threads,
    /// concurrently.
    @preconcurrency
    public init(
        storageName: String,
        retrieve:
            @escaping @Sendable (Key, @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void,
        set:
            @escaping @Sendable (Value, Key, @escaping @Sendable (ShallowsResult<Void>) -> Void) ->
            Void
    ) {
        self.init(
            storageName: storageName,
            read: ReadOnlyStorage(storageName: storageName, retrieve: retrieve),
            write: WriteOnlyStorage(storageName: storageName, set: set)
        )
    }

    /// Creates a storage of two asynchronous functions.
    ///
    /// ```swift
    /// let server = Storage<String, Data>(
    ///     storageName: "server", retrieve: { try await download($0) },
    ///     set: { try await upload($0, as: $1) })
    /// ```
    @preconcurrency
    public init(
        storageName: String,
        retrieve: @escaping @Sendable (Key) async throws -> Value,
        set: @escaping @Sendable (Value, Key) async throws -> Void
    ) {
        self.init(
            storageName: storageName,
            read: ReadOnlyStorage(storageName: storageName, retrieve: retrieve),
            write: WriteOnlyStorage(storageName: storageName, set: set)
        )
    }

    /// Creates a storage that retrieves from one storage and sets to another.
    public init(
        storageName: String,
        read: ReadOnlyStorage<Key, Value>,
        write: WriteOnlyStorage<Key, Value>
    ) {
        let read = read.operations
        let write = write.operations
        self.init(storageName, read.with(set: write.set, fireAndForget: write.fireAndForget))
    }

    /// Creates a storage that retrieves from one storage and sets to another, with the name of the
    /// first.
    public init(read: ReadOnlyStorage<Key, Value>, write: WriteOnlyStorage<Key, Value>) {
        self.init(storageName: read.storageName, read: read, write: write)
    }

    /// Creates a storage from one of any type.
    public init<Other: StorageProtocol>(_ storage: Other)
    where Other.Key == Key, Other.Value == Value {
        self = storage.erased()
    }
}

extension AnyStorage where Access == StorageKind.ReadOnly {
    /// Creates a storage of a function with a completion. It runs on the callers' threads,
    /// concurrently.
    @preconcurrency
    public init(
        storageName: String,
        retrieve:
            @escaping @Sendable (Key, @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void
    ) {
        let identity = Identity()
        self.init(
            storageName,
            StorageOperations(
                retrieve: { key, call in
                    .foreign(layer: storageName, key: key, call) { retrieve(key, $0) }
                },
                lockKey: { LockKey(of: identity, $0) }
            )
        )
    }

    /// Creates a storage of an asynchronous function.
    @preconcurrency
    public init(storageName: String, retrieve: @escaping @Sendable (Key) async throws -> Value) {
        let identity = Identity()
        self.init(
            storageName,
            StorageOperations(
                retrieve: { key, call in
                    .foreign(layer: storageName, key: key, call) { try await retrieve(key) }
                },
                lockKey: { LockKey(of: identity, $0) }
            )
        )
    }

    /// Creates a storage from one of any type.
    public init<Other: ReadableStorageProtocol>(_ storage: Other)
    where Other.Key == Key, Other.Value == Value {
        self = storage.asReadOnlyStorage()
    }
}

extension AnyStorage where Access == StorageKind.WriteOnly {
    /// Creates a storage of a function with a completion. It runs on the callers' threads,
    /// concurrently.
    @preconcurrency
    public init(
        storageName: String,
        set:
            @escaping @Sendable (Value, Key, @escaping @Sendable (ShallowsResult<Void>) -> Void) ->
            Void
    ) {
        self.init(
            storageName,
            StorageOperations(set: { value, key, call in
                .foreign(layer: storageName, key: key, call) { set(value, key, $0) }
            })
        )
    }

    /// Creates a storage of an asynchronous function.
    @preconcurrency
    public init(storageName: String, set: @escaping @Sendable (Value, Key) async throws -> Void) {
        self.init(
            storageName,
            StorageOperations(set: { value, key, call in
                .foreign(layer: storageName, key: key, call) { try await set(value, key) }
            })
        )
    }

    /// Creates a storage from one of any type.
    public init<Other: WritableStorageProtocol>(_ storage: Other)
    where Other.Key == Key, Other.Value == Value {
        self = storage.asWriteOnlyStorage()
    }
}

/// The error of an ``StorageFamily/Erased/empty()`` storage.
public enum EmptyCacheError: LocalizedError, StorageMiss {
    /// The storage has no value and takes none.
    case cacheIsAlwaysEmpty

    /// The text for `localizedDescription`.
    public var errorDescription: String? { "The storage has no value and takes none." }
}

extension AnyStorage {
    /// Returns a storage that has no value and takes none: for tests, and to compose with.
    /// Retrieving is a miss, setting fails.
    public static func empty() -> Self {
        let name = "empty"
        return Self(
            name,
            StorageOperations(
                retrieve: { key, _ in
                    .failure(
                        .miss(forKey: key, layer: name, cause: EmptyCacheError.cacheIsAlwaysEmpty)
                    )
                },
                set: { _, key, _ in
                    var error = ShallowsError(
                        .failed,
                        "An empty storage takes no value.",
                        layer: name,
                        key: key,
                        cause: EmptyCacheError.cacheIsAlwaysEmpty
                    )
                    error.throwsCause = true
                    return .failure(error)
                },
                remove: { _, _ in .success(()) },
                removeAll: { _ in .success(()) }
            )
        )
    }
}

/// The identity of a storage of functions, of which copies are one storage.
final class Identity: Sendable {}
