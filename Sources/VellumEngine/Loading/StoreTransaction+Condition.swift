internal import VellumCore

extension StoreTransaction {
    /// Makes the first write depend on a condition, and all others on the first: either all writes are carried out or none.
    mutating func setCondition(_ condition: WriteCondition) {
        for index in writes.indices {
            writes[index].condition = index == 0 ? condition : WriteCondition(following: condition)
        }
    }

    /// Adds the removal of an expired entry. It does not count as a write: a load of the key goes on.
    mutating func removeExpired<Value>(_ key: EntryKey, in store: Store<Value>) {
        add(.remove, key, to: store) { outcome, _ in
            guard !outcome.wasDeclined else { return MemoryUpdate(didChange: false) {} }
            let effects = store.memory.remove(key)
            let wasThere = outcome.wasPresent || !effects.payloads.isEmpty
            return MemoryUpdate(didChange: wasThere) {
                store.release(effects)
                if wasThere { store.didRemove([key], .expired) }
            }
        }
    }
}
