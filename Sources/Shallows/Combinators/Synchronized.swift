internal import VellumCore

extension ErasableStorage {
    /// Returns a storage that answers calls one after another, in the order in which they are made: for a storage of your own that
    /// does not work on several threads.
    ///
    /// A call begins when the one before it was answered. A sync call blocks its thread until then.
    public func synchronizedCalls() -> AnyStorage<Access, ErasedKey, ErasedValue> {
        let (mutex, name) = (KeyedMutex(), storageName)
        let key = LockKey(of: mutex, ())
        return erased().transforming { operations in
            operations.with(
                retrieve: { storageKey, call in mutex.run(key, layer: name, call) { operations.retrieve(storageKey, $0) } },
                set: { value, storageKey, call in mutex.run(key, layer: name, call) { operations.set(value, storageKey, $0) } },
                remove: { storageKey, call in mutex.run(key, layer: name, call) { operations.remove(storageKey, $0) } },
                removeAll: { call in mutex.run(key, layer: name, call) { operations.removeAll($0) } }
            )
        }
    }
}
