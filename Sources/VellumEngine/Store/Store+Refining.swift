package import VellumCore

// Replaces a value in memory with another form of it, for example one that is decoded further.

extension Store {
    /// Replaces what memory holds under the key with another form of the same value. Affects neither the eviction order nor the disk.
    ///
    /// - Parameter isStill: Whether the value in memory is the one from which the new form was made. Runs inside the memory's lock: it may
    ///   compare identities, and must not run user-supplied code. The caller still retains the replaced value, and releases it.
    package func refine(_ key: EntryKey, to value: Value, where isStill: (Value) -> Bool) {
        guard keepsValues else { return }
        memory.exchange(key) { present in
            if case .value(let old) = present, isStill(old) { .value(value) } else { nil }
        }
    }
}
