public import Foundation
public import VellumCore

/// What a storage can do: the functions that every transform and composition is made of.
///
/// The kind of an ``AnyStorage`` says which of them a caller reaches. The others fail, with the
/// documented error. Transforms change what they name by `with(…)`, and keep the rest.
@usableFromInline
package final class StorageOperations<Key: Sendable, Value: Sendable>: Sendable {
    @usableFromInline package typealias Retrieve = @Sendable (Key, Call) -> Reply<Value>
    @usableFromInline package typealias Set = @Sendable (Value, Key, Call) -> Reply<Void>
    @usableFromInline package typealias Remove = @Sendable (Key, Call) -> Reply<Void>
    @usableFromInline package typealias RemoveAll = @Sendable (Call) -> Reply<Void>

    @usableFromInline package typealias RetrieveForUpdate =
        @Sendable (Key, Call) -> Reply<UpdatableValue<Value>>

    @usableFromInline let retrieve: Retrieve
    @usableFromInline let set: Set
    @usableFromInline let remove: Remove
    @usableFromInline let removeAll: RemoveAll
    /// Retrieves a value that is about to be updated; `nil` where other processes cannot come
    /// between.
    @usableFromInline let retrieveForUpdate: RetrieveForUpdate?
    /// What two updates must have in common to exclude each other.
    @usableFromInline let lockKey: @Sendable (Key) -> LockKey?
    /// Where the failure of a set is reported that has no completion.
    @usableFromInline let fireAndForget: Call

    @inlinable
    package init(
        retrieve: @escaping Retrieve = { _, _ in .unsupported(.storageIsWriteOnly) },
        set: @escaping Set = { _, _, _ in .unsupported(.storageIsReadOnly) },
        remove: @escaping Remove = { _, _ in .unsupported(.storageCannotRemove) },
        removeAll: @escaping RemoveAll = { _ in .unsupported(.storageCannotRemove) },
        lockKey: @escaping @Sendable (Key) -> LockKey? = { _ in nil },
        fireAndForget: Call = .completing
    ) {
        self.retrieve = retrieve
        self.set = set
        self.remove = remove
        self.removeAll = removeAll
        retrieveForUpdate = nil
        self.lockKey = lockKey
        self.fireAndForget = fireAndForget
    }

    /// The operations of a storage whose values others may write while they are updated.
    package init(_ others: StorageOperations, retrieveForUpdate: RetrieveForUpdate?) {
        retrieve = others.retrieve
        set = others.set
        remove = others.remove
        removeAll = others.removeAll
        lockKey = others.lockKey
        fireAndForget = others.fireAndForget
        self.retrieveForUpdate = retrieveForUpdate
    }
}

/// A value that was retrieved for an update.
@usableFromInline
package struct UpdatableValue<Value: Sendable>: Sendable {
    let value: Value
    /// Sets the new value, unless somebody has written the key since. Returns whether it was set.
    let set: @Sendable (Value, Call) -> Reply<Bool>

    package init(_ value: Value, set: @escaping @Sendable (Value, Call) -> Reply<Bool>) {
        self.value = value
        self.set = set
    }
}

// MARK: Keeping what is not named

extension StorageOperations {
    /// These operations, with others in the place of those that are named.
    func with(
        retrieve: Retrieve? = nil,
        set: Set? = nil,
        remove: Remove? = nil,
        removeAll: RemoveAll? = nil,
        lockKey: (@Sendable (Key) -> LockKey?)? = nil,
        fireAndForget: Call? = nil
    ) -> StorageOperations {
        StorageOperations(
            StorageOperations(
                retrieve: retrieve ?? self.retrieve,
                set: set ?? self.set,
                remove: remove ?? self.remove,
                removeAll: removeAll ?? self.removeAll,
                lockKey: lockKey ?? self.lockKey,
                fireAndForget: fireAndForget ?? self.fireAndForget
            ),
            retrieveForUpdate: retrieve == nil && set == nil ? retrieveForUpdate : nil
        )
    }

    /// These operations for other values: retrieving and setting are all that depends on them.
    @inlinable
    func withValues<OtherValue: Sendable>(
        retrieve: @escaping StorageOperations<Key, OtherValue>.Retrieve,
        set: @escaping StorageOperations<Key, OtherValue>.Set
    ) -> StorageOperations<Key, OtherValue> {
        StorageOperations<Key, OtherValue>(
            retrieve: retrieve,
            set: set,
            remove: remove,
            removeAll: removeAll,
            lockKey: lockKey,
            fireAndForget: fireAndForget
        )
    }

    /// These operations under other keys: removing everything is all that does not depend on them.
    @inlinable
    func withKeys<OtherKey: Sendable>(
        retrieve: @escaping StorageOperations<OtherKey, Value>.Retrieve,
        set: @escaping StorageOperations<OtherKey, Value>.Set,
        remove: @escaping StorageOperations<OtherKey, Value>.Remove,
        lockKey: @escaping @Sendable (OtherKey) -> LockKey?
    ) -> StorageOperations<OtherKey, Value> {
        StorageOperations<OtherKey, Value>(
            retrieve: retrieve,
            set: set,
            remove: remove,
            removeAll: removeAll,
            lockKey: lockKey,
            fireAndForget: fireAndForget
        )
    }
}

// MARK: Operations that a kind does not have

/// What a storage of the kind cannot do, asked of it through
/// ``ErasableStorage/usingUnsupportedTransformation(_:)``.
public enum UnsupportedTransformationStorageError: LocalizedError {
    /// The storage can be retrieved from, and not set to.
    case storageIsReadOnly
    /// The storage can be set to, and not retrieved from.
    case storageIsWriteOnly
    /// The storage cannot remove values.
    case storageCannotRemove

    /// The text for `localizedDescription`.
    public var errorDescription: String? {
        switch self {
        case .storageIsReadOnly: "The storage can be retrieved from, and not set to."
        case .storageIsWriteOnly: "The storage can be set to, and not retrieved from."
        case .storageCannotRemove: "The storage cannot remove values."
        }
    }
}

extension Reply {
    @usableFromInline
    static func unsupported(_ error: UnsupportedTransformationStorageError) -> Reply {
        .failure(ShallowsError(error, layer: "a storage of another kind", disposition: .failure))
    }
}

// MARK: User-supplied storages

extension ReadableStorageProtocol {
    /// Asks the storage, by its function with a completion.
    var retrieval: StorageOperations<Key, Value>.Retrieve {
        { [name = storageName] key, call in
            .foreign(layer: name, key: key, call) {
                self.retrieve(forKey: key, completion: $0)
            }
        }
    }
}

extension WritableStorageProtocol {
    /// Asks the storage, by its function with a completion.
    var setting: StorageOperations<Key, Value>.Set {
        { [name = storageName] value, key, call in
            .foreign(layer: name, key: key, call) {
                self.set(value, forKey: key, completion: $0)
            }
        }
    }
}
