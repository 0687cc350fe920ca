/// What two callers must have in common to exclude each other: an owner, such as a storage, and a key.
///
/// Keys that cannot be compared, and keys that are not equal to themselves, count as one key of their owner.
@usableFromInline
package struct LockKey: Hashable, Sendable {
    private enum Owner: Hashable {
        case object(ObjectIdentifier)
        case value(AnyKey)
    }

    private let owner: Owner
    private let key: AnyKey?

    /// The lock key of a key of a storage: of that object; of that value, where values of its type can be compared; else of its type.
    package init<Key: Sendable>(of storage: some Sendable, key: Key) {
        // The object outlives the lock, because the work that waits for the lock holds it.
        if type(of: storage) is AnyObject.Type {
            owner = .object(ObjectIdentifier(storage as AnyObject))
        } else {
            owner = AnyKey(storage).map(Owner.value) ?? .object(ObjectIdentifier(type(of: storage)))
        }
        self.key = AnyKey(key)
    }

    /// The lock key of a key of an object, whose type was erased before; `nil` for a key that cannot be compared.
    package init(of storage: some AnyObject, erased key: AnyKey?) {
        owner = .object(ObjectIdentifier(storage))
        self.key = key
    }

    /// The lock key of a key of an object.
    @usableFromInline
    package init<Key: Sendable>(of storage: some AnyObject, _ key: Key) {
        owner = .object(ObjectIdentifier(storage))
        self.key = AnyKey(key)
    }
}

/// A key whose type is erased, compared as its type compares it.
package struct AnyKey: Hashable, @unchecked Sendable {  // Unchecked because keys are Sendable, which `AnyHashable` does not express.
    private let key: AnyHashable

    /// - Returns: `nil` for a key that cannot be compared, or that is not equal to itself.
    package init?<Key: Sendable>(_ key: Key) {
        if Key.self == Void.self {
            self.key = 0
            return
        }
        guard let hashable = key as? AnyHashable, hashable == hashable else { return nil }
        self.key = hashable
    }
}
