internal import VellumCore

/// What two updates must have in common to exclude each other: the storage and the key, where keys can be compared.
@usableFromInline
package struct Turn: Hashable, Sendable {
    private enum Owner: Hashable {
        case object(ObjectIdentifier)
        case value(KeyIdentity)
    }

    private let owner: Owner
    private let key: KeyIdentity?

    /// The turn of a key of a storage: of that object; of that value, where values of its type can be compared, else of all of them.
    init<Key: Sendable>(of storage: some Sendable, key: Key) {
        // An object stays where it is as long as someone waits for its turn, because what it waits with holds it.
        if type(of: storage) is AnyObject.Type {
            owner = .object(ObjectIdentifier(storage as AnyObject))
        } else {
            owner = KeyIdentity(storage).map(Owner.value) ?? .object(ObjectIdentifier(type(of: storage)))
        }
        self.key = KeyIdentity(key)
    }

    @usableFromInline
    package init<Key: Sendable>(of storage: some AnyObject, _ key: Key) {
        owner = .object(ObjectIdentifier(storage))
        self.key = KeyIdentity(key)
    }
}

/// A key, compared as its type compares it.
@usableFromInline
struct KeyIdentity: Hashable, @unchecked Sendable {  // Unchecked because keys are Sendable, which `AnyHashable` does not remember.
    private let key: AnyHashable

    /// - Returns: `nil` for a key that cannot be compared, or that is not even equal to itself.
    init?<Key: Sendable>(_ key: Key) {
        if Key.self == Void.self {
            self.key = 0
            return
        }
        guard let hashable = key as? AnyHashable, hashable == hashable else { return nil }
        self.key = hashable
    }
}
