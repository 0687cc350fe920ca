/// A table of objects that does not retain them.
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

    /// Returns the object of the key, or inserts `new` if there is none.
    ///
    /// The caller releases `new` outside the lock, because its `deinit` may take the lock.
    package func object(forKey key: Key, else new: Object) -> Object {
        entries.withLock { entries in
            if let object = entries[key]?.object { return object }
            entries[key] = Entry(new)
            return new
        }
    }

    /// Removes the object of the key, unless another object has replaced it. Called from the
    /// object's `deinit`.
    package func removeValue(forKey key: Key, ifHolding id: ObjectIdentifier) {
        entries.withLock { entries in
            if entries[key]?.id == id { entries[key] = nil }
        }
    }
}
