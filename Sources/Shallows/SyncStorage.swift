internal import Tiers

/// A storage whose operations give their answer when they return: made by ``ErasableStorage/makeSyncStorage()``.
///
/// ```swift
/// let strings = DiskStorage.main.folder("strings", in: .cachesDirectory).mapString(withEncoding: .utf8).makeSyncStorage()
/// let existing = try strings.retrieve(forKey: "hello")
/// ```
///
/// Storages of this module do their work on the calling thread: nothing waits for another thread, and no queue is needed, which is
/// why this is safe on every thread, inside tasks too. For a storage of your own that answers later, the thread is blocked until it
/// does; inside a task, where that could stop every other task, the call fails with `wouldBlock` instead.
public struct AnySyncStorage<Access: StorageAccess, Key: Sendable, Value: Sendable>: Sendable {
    public let storageName: String
    @usableFromInline let operations: StorageOperations<Key, Value>

    @usableFromInline
    init(_ storageName: String, _ operations: StorageOperations<Key, Value>) {
        self.storageName = storageName
        self.operations = operations
    }
}

/// A storage that values are retrieved from and set to, at once.
public typealias SyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<StorageKind.ReadWrite, Key, Value>

/// A storage that values are retrieved from, at once.
public typealias ReadOnlySyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<StorageKind.ReadOnly, Key, Value>

/// A storage that values are set to, at once.
public typealias WriteOnlySyncStorage<Key: Sendable, Value: Sendable> = AnySyncStorage<StorageKind.WriteOnly, Key, Value>

extension ErasableStorage {
    /// This storage with operations that give their answer when they return.
    @inlinable
    public func makeSyncStorage() -> AnySyncStorage<Access, ErasedKey, ErasedValue> {
        AnySyncStorage(storageName + "-sync", erased().operations)
    }
}

extension AnySyncStorage where Access: ReadableAccess {
    /// The value under the key.
    ///
    /// - Throws: What the layer threw that had the last word. That there is no value is an error here: a ``StorageMiss``.
    @inlinable
    public func retrieve(forKey key: Key) throws -> Value { try operations.retrieve(key, .waiting).waitForValue() }

    /// The value under the key; `nil` if there is none.
    ///
    /// - Throws: ``ShallowsError`` for every failure, whoever's it is, and for nothing else.
    @inlinable
    public func retrieveIfPresent(forKey key: Key) throws(ShallowsError) -> Value? {
        switch operations.retrieve(key, .waiting).wait() {
        case .success(let value): return value
        case .failure(let error):
            guard error.isMiss else { throw error }
            return nil
        }
    }
}

extension AnySyncStorage where Access: WritableAccess {
    /// Sets the value under the key.
    @inlinable
    public func set(_ value: Value, forKey key: Key) throws { try operations.set(value, key, .waiting).waitForValue() }
}

extension AnySyncStorage where Access == StorageKind.ReadWriteRemove {
    /// Removes the value under the key from every layer. That there is none is no error.
    public func remove(forKey key: Key) throws { try operations.remove(key, .waiting).waitForValue() }

    /// Removes every value from every layer.
    public func removeAll() throws { try operations.removeAll(.waiting).waitForValue() }
}

extension AnySyncStorage where Access: ReadableAccess, Key == Void {
    public func retrieve() throws -> Value { try retrieve(forKey: ()) }
    public func retrieveIfPresent() throws(ShallowsError) -> Value? { try retrieveIfPresent(forKey: ()) }
}

extension AnySyncStorage where Access: WritableAccess, Key == Void {
    public func set(_ value: Value) throws { try set(value, forKey: ()) }
}

// Of functions of your own.

extension AnySyncStorage where Access == StorageKind.ReadWrite {
    @preconcurrency
    public init(
        storageName: String, retrieve: @escaping @Sendable (Key) throws -> Value,
        set: @escaping @Sendable (Value, Key) throws -> Void
    ) {
        self.init(storageName, .immediate(storageName, retrieve: retrieve, set: set))
    }
}

extension AnySyncStorage where Access == StorageKind.ReadOnly {
    @preconcurrency
    public init(storageName: String, retrieve: @escaping @Sendable (Key) throws -> Value) {
        self.init(storageName, .immediate(storageName, retrieve: retrieve))
    }
}

extension AnySyncStorage where Access == StorageKind.WriteOnly {
    @preconcurrency
    public init(storageName: String, set: @escaping @Sendable (Value, Key) throws -> Void) {
        self.init(storageName, .immediate(storageName, set: set))
    }
}

extension StorageOperations {
    /// The operations of functions that answer when they return.
    static func immediate(
        _ layer: String, retrieve: (@Sendable (Key) throws -> Value)? = nil, set: (@Sendable (Value, Key) throws -> Void)? = nil
    ) -> StorageOperations {
        let identity = Identity()
        return StorageOperations(
            retrieve: { key, _ in
                guard let retrieve else { return .unsupported(.storageIsWriteOnly) }
                return .answered(layer, key) { try retrieve(key) }
            },
            set: { value, key, _ in
                guard let set else { return .unsupported(.storageIsReadOnly) }
                return .answered(layer, key) { try set(value, key) }
            },
            lockKey: { LockKey(of: identity, $0) })
    }
}

extension Reply {
    /// What a function of a user's own answers when it returns.
    static func answered(_ layer: String, _ key: any Sendable, _ answer: () throws -> Value) -> Reply {
        do { return .success(try answer()) } catch {
            return .failure(ShallowsError(error, layer: layer, key: key, disposition: .unknown))
        }
    }

    /// The outcome of a call that waits.
    @inlinable
    package func wait() -> Outcome<Value> {
        switch self {
        case .now(let outcome): outcome
        case .later(let promise): promise.wait()  // Never: a layer that is asked so answers when it returns.
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
