/// Objects by key, each for as long as someone else holds it.
///
/// An object removes itself when it is deinitialized: ``removeValue(forKey:ifHolding:)``.
package final class WeakTable<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
    // A class, because the compiler of Swift 6.3 misreads an optional struct with a weak reference.
    private final class Entry {
        weak var object: Object?
        let id: ObjectIdentifier

        init(_ object: Object) {
            self.object = object
            id = ObjectIdentifier(object)
        }
    }

    private let entries = Locked<[Key: Entry]>([:])

    package init() {}

    /// The object of the key. If there is none, `new` becomes it.
    ///
    /// `new` is released by the caller, outside the lock: its `deinit` may take that.
    package func object(forKey key: Key, else new: Object) -> Object {
        entries.withLock { entries in
            if let object = entries[key]?.object { return object }
            entries[key] = Entry(new)
            return new
        }
    }

    /// Removes the object of the key, unless a new one has taken its place. Called from its `deinit`.
    package func removeValue(forKey key: Key, ifHolding id: ObjectIdentifier) {
        entries.withLock { entries in
            if entries[key]?.id == id { entries[key] = nil }
        }
    }
}
