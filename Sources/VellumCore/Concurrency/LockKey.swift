/// Identifies what callers exclude each other on: an owner, such as a storage, and a key.
///
/// Keys that are not `Hashable`, and keys that are not equal to themselves, share one lock key of
/// their owner.
@usableFromInline
package struct LockKey: Hashable, Sendable {
    private enum Owner: Hashable {
        case object(ObjectIdentifier)
        case value(AnyKey)
    }

    private let owner: Owner
    private let key: AnyKey?

    /// Creates the lock key of a storage's key. The owner is the object, or the value if its type
    /// is `Hashable`, or else the type.
    package init<Key: Sendable>(of storage: some Sendable, key: Key) {
        // The object outlives the lock, because the work that waits for the lock retains it.
        if type(of: storage) is AnyObject.Type {
            owner = .object(ObjectIdentifier(storage as AnyObject))
        } else {
            owner =
                AnyKey(storage).map(Owner.value)
                ?? .object(ObjectIdentifier(type(of: storage)))
        }
        self.key = AnyKey(key)
    }

    /// Creates the lock key of an object's key, without finding out whether that is `Hashable`.
    package init(of storage: some AnyObject, hashable key: some Hashable & Sendable) {
        self.init(of: storage, erased: AnyKey(hashable: key))
    }

    /// Creates the lock key of an object's key whose type was erased before; `nil` stands for a key
    /// that is not `Hashable`.
    package init(of storage: some AnyObject, erased key: AnyKey?) {
        owner = .object(ObjectIdentifier(storage))
        self.key = key
    }

    /// Creates the lock key of an object's key.
    @usableFromInline
    package init<Key: Sendable>(of storage: some AnyObject, _ key: Key) {
        self.init(of: storage, erased: AnyKey(key))
    }
}

/// A type-erased key, compared by its own type's `==`.
// Unchecked because keys are Sendable, which `AnyHashable` does not express.
package struct AnyKey: Hashable, @unchecked Sendable {
    private let key: AnyHashable

    /// Returns `nil` for a key that is not `Hashable`, or is not equal to itself.
    package init?<Key: Sendable>(_ key: Key) {
        if Key.self == Void.self {
            self.key = 0
            return
        }
        guard let hashable = key as? any Hashable, let key = Self.erased(hashable) else {
            return nil
        }
        self.key = key
    }

    fileprivate init(hashable key: some Hashable & Sendable) { self.key = AnyHashable(key) }

    /// Compares the key by its own type, which takes a fraction of comparing two `AnyHashable`.
    private static func erased(_ key: some Hashable) -> AnyHashable? {
        key == key ? AnyHashable(key) : nil
    }
}
