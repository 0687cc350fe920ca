/// What a storage can do: the functions that every transform and composition is made of.
///
/// The kind of an ``AnyStorage`` says which of them a caller reaches. The others fail, with the documented error.
@usableFromInline
package final class StorageVerbs<Key: Sendable, Value: Sendable>: Sendable {
    @usableFromInline package typealias Retrieve = @Sendable (Key, Call) -> Reply<Value>
    @usableFromInline package typealias Set = @Sendable (Value, Key, Call) -> Reply<Void>
    @usableFromInline package typealias Remove = @Sendable (Key, Call) -> Reply<Void>
    @usableFromInline package typealias RemoveAll = @Sendable (Call) -> Reply<Void>

    @usableFromInline let retrieve: Retrieve
    @usableFromInline let set: Set
    @usableFromInline let remove: Remove
    @usableFromInline let removeAll: RemoveAll
    /// What two updates must have in common to exclude each other.
    @usableFromInline let turn: @Sendable (Key) -> Turn?
    /// Whom to tell of a call whose caller wanted no answer.
    @usableFromInline let unanswered: Call

    @inlinable
    package init(
        retrieve: @escaping Retrieve = { _, _ in .unsupported(.storageIsWriteOnly) },
        set: @escaping Set = { _, _, _ in .unsupported(.storageIsReadOnly) },
        remove: @escaping Remove = { _, _ in .unsupported(.storageCannotRemove) },
        removeAll: @escaping RemoveAll = { _ in .unsupported(.storageCannotRemove) },
        turn: @escaping @Sendable (Key) -> Turn? = { _ in nil }, unanswered: Call = .completing
    ) {
        self.retrieve = retrieve
        self.set = set
        self.remove = remove
        self.removeAll = removeAll
        self.turn = turn
        self.unanswered = unanswered
    }
}

/// What a storage of the kind cannot do, asked of it through ``ErasableStorage/usingUnsupportedTransformation(_:)``.
public enum UnsupportedTransformationStorageError: Error {
    case storageIsReadOnly
    case storageIsWriteOnly
    case storageCannotRemove
}

extension Reply {
    @usableFromInline
    static func unsupported(_ error: UnsupportedTransformationStorageError) -> Reply {
        .failure(ShallowsError(error, layer: "a storage of another kind", standing: .failure))
    }
}

extension StorageVerbs {
    /// The verbs of a storage in memory: each answers when it returns.
    @inlinable
    static func answeringAtOnce(
        _ storage: some AnyObject & Sendable, missed: @escaping @Sendable (Key) -> ShallowsError,
        retrieve: @escaping @Sendable (Key) -> Value?, set: @escaping @Sendable (Value, Key) -> Void,
        remove: @escaping @Sendable (Key) -> Void, removeAll: @escaping @Sendable () -> Void
    ) -> StorageVerbs {
        StorageVerbs(
            retrieve: { key, _ in
                guard let value = retrieve(key) else { return .failure(missed(key)) }
                return .success(value)
            },
            set: { value, key, _ in .success(set(value, key)) },
            remove: { key, _ in .success(remove(key)) },
            removeAll: { _ in .success(removeAll()) },
            turn: { Turn(of: storage, $0) })
    }
}

// The verbs of a storage that someone else wrote, by the two functions of its protocol.

extension StorageVerbs {
    convenience init<Storage: ReadableStorageProtocol>(reading storage: Storage) where Storage.Key == Key, Storage.Value == Value {
        self.init(retrieve: Self.retrieve(from: storage), turn: { Turn(of: storage, key: $0) })
    }

    convenience init<Storage: WritableStorageProtocol>(writing storage: Storage) where Storage.Key == Key, Storage.Value == Value {
        self.init(set: Self.set(to: storage), turn: { Turn(of: storage, key: $0) })
    }

    convenience init<Reading: ReadableStorageProtocol, Writing: WritableStorageProtocol>(
        reading: Reading, writing: Writing
    ) where Reading.Key == Key, Reading.Value == Value, Writing.Key == Key, Writing.Value == Value {
        self.init(retrieve: Self.retrieve(from: reading), set: Self.set(to: writing), turn: { Turn(of: reading, key: $0) })
    }

    private static func retrieve<Storage: ReadableStorageProtocol>(
        from storage: Storage
    ) -> Retrieve where Storage.Key == Key, Storage.Value == Value {
        let name = storage.storageName
        return { key, call in
            .foreign(layer: name, key: key, call) { storage.retrieve(forKey: key, completion: $0) }
        }
    }

    private static func set<Storage: WritableStorageProtocol>(
        to storage: Storage
    ) -> Set where Storage.Key == Key, Storage.Value == Value {
        let name = storage.storageName
        return { value, key, call in
            .foreign(layer: name, key: key, call) { storage.set(value, forKey: key, completion: $0) }
        }
    }
}
