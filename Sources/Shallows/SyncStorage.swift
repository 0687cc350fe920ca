internal import VellumCore

/// A storage with functions that answer when they return. See
/// ``ErasableStorage/makeSyncStorage()``.
///
/// ```swift
/// let strings = DiskStorage.main.folder("strings", in: .cachesDirectory)
///     .mapString(withEncoding: .utf8).makeSyncStorage()
/// let existing = try strings.retrieve(forKey: "hello")
/// ```
///
/// Storages of this module do their work on the calling thread, and wait for no other thread: calls
/// are safe on any thread, also inside tasks. A storage of your own that answers later blocks the
/// thread until it does; inside a task, where that could stop every other task, the call fails with
/// `wouldBlock` instead.
public struct AnySyncStorage<Access: StorageAccess, Key: Sendable, Value: Sendable>: Sendable {
    /// The name of the storage.
    public let storageName: String
    @usableFromInline let operations: StorageOperations<Key, Value>

    @usableFromInline
    init(_ storageName: String, _ operations: StorageOperations<Key, Value>) {
        self.storageName = storageName
        self.operations = operations
    }
}

/// A storage that values are retrieved from and set to, synchronously.
public typealias SyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<
    StorageKind.ReadWrite, Key, Value
>

/// A storage that values are retrieved from, synchronously.
public typealias ReadOnlySyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<
    StorageKind.ReadOnly, Key, Value
>

/// A storage that values are set to, synchronously.
public typealias WriteOnlySyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<
    StorageKind.WriteOnly, Key, Value
>

extension ErasableStorage {
    /// Returns this storage with functions that answer when they return.
    @inlinable
    public func makeSyncStorage() -> AnySyncStorage<Access, ErasedKey, ErasedValue> {
        AnySyncStorage(storageName + "-sync", erased().operations)
    }
}

extension AnySyncStorage where Access: ReadableAccess {
    /// Returns the value under the key. Blocks the thread if a user-supplied storage answers later.
    ///
    /// - Throws: The error of the last layer that was asked; a ``StorageMiss`` if there is no
    ///   value.
    @inlinable
    public func retrieve(forKey key: Key) throws -> Value {
        try operations.retrieve(key, .waiting).waitForValue()
    }

    /// Returns the value under the key, or `nil` if there is none. Blocks the thread if a
    /// user-supplied storage answers later.
    ///
    /// - Throws: A ``ShallowsError`` for every failure; the error of a user-supplied storage is its
    ///   cause.
    @inlinable
    public func retrieveIfPresent(forKey key: Key) throws(ShallowsError) -> Value? {
        try operations.retrieve(key, .waiting).wait().valueIfPresent()
    }
}

extension AnySyncStorage where Access: WritableAccess {
    /// Sets the value under the key. Blocks the thread if a user-supplied storage answers later.
    @inlinable
    public func set(_ value: Value, forKey key: Key) throws {
        try operations.set(value, key, .waiting).waitForValue()
    }
}

extension AnySyncStorage where Access == StorageKind.ReadWriteRemove {
    /// Removes the value under the key from every layer, if there is one. Blocks the thread if a
    /// user-supplied storage answers later.
    public func remove(forKey key: Key) throws {
        try operations.remove(key, .waiting).waitForValue()
    }

    /// Removes every value from every layer. Blocks the thread if a user-supplied storage answers
    /// later.
    public func removeAll() throws { try operations.removeAll(.waiting).waitForValue() }
}

extension AnySyncStorage where Access: ReadableAccess, Key == Void {
    /// Returns the value. See ``retrieve(forKey:)``.
    public func retrieve() throws -> Value { try retrieve(forKey: ()) }
    /// Returns the value, or `nil` if there is none. See ``retrieveIfPresent(forKey:)``.
    public func retrieveIfPresent() throws(ShallowsError) -> Value? {
        try retrieveIfPresent(forKey: ())
    }
}

extension AnySyncStorage where Access: WritableAccess, Key == Void {
    /// Sets the value. See ``set(_:forKey:)``.
    public func set(_ value: Value) throws { try set(value, forKey: ()) }
}

// MARK: Sync storages made of closures

extension AnySyncStorage where Access == StorageKind.ReadWrite {
    /// Creates a storage of two functions, which run on the callers' threads, concurrently.
    @preconcurrency
    public init(
        storageName: String,
        retrieve: @escaping @Sendable (Key) throws -> Value,
        set: @escaping @Sendable (Value, Key) throws -> Void
    ) {
        let identity = Identity()
        self.init(
            storageName,
            StorageOperations(
                retrieve: { key, _ in .answered(storageName, key) { try retrieve(key) } },
                set: { value, key, _ in
                    .answered(storageName, key) { try set(value, key) }
                },
                lockKey: { LockKey(of: identity, $0) }
            )
        )
    }
}

extension AnySyncStorage where Access == StorageKind.ReadOnly {
    /// Creates a storage of a function, which runs on the callers' threads, concurrently.
    @preconcurrency
    public init(storageName: String, retrieve: @escaping @Sendable (Key) throws -> Value) {
        self.init(
            storageName,
            StorageOperations(retrieve: { key, _ in
                .answered(storageName, key) { try retrieve(key) }
            })
        )
    }
}

extension AnySyncStorage where Access == StorageKind.WriteOnly {
    /// Creates a storage of a function, which runs on the callers' threads, concurrently.
    @preconcurrency
    public init(storageName: String, set: @escaping @Sendable (Value, Key) throws -> Void) {
        self.init(
            storageName,
            StorageOperations(set: { value, key, _ in
                .answered(storageName, key) { try set(value, key) }
            })
        )
    }
}

extension Reply {
    /// The answer of a user-supplied function that answers when it returns.
    static func answered(
        _ layer: String,
        _ key: any Sendable,
        _ answer: () throws -> Value
    ) -> Reply {
        do { return .success(try answer()) } catch {
            return .failure(ShallowsError(error, layer: layer, key: key, disposition: .unknown))
        }
    }

    /// The outcome of a call that blocks.
    @inlinable
    package func wait() -> Outcome<Value> {
        switch self {
        case .now(let outcome): outcome
        // Not reached: layers answer such calls when they return.
        case .later(let promise): promise.wait()
        }
    }

    @inlinable
    consuming func waitForValue() throws -> Value {
        switch consume self {
        case .now(.success(let value)): return value
        case .now(.failure(let error)): throw error.underlyingError
        case .later(let promise): return try promise.wait().value()
        }
    }
}
