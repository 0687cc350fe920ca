package import VellumCore

// Memory may hold a value in the form in which it came from the disk; whoever makes more of it puts that in its place.

extension Store {
    /// Puts another form of the same value in the place of what memory holds under the key. Not a use; the disk is not told.
    ///
    /// - Parameter isStill: Whether what memory holds is what the new form was made from. Runs inside the memory's lock: it may
    ///   compare identities, and run no code of a user's. What is replaced must be released by the caller, who still holds it.
    package func refine(_ key: EntryKey, to value: Value, where isStill: (Value) -> Bool) {
        guard keepsValues else { return }
        memory.exchange(key) { present in
            if case .value(let old) = present, isStill(old) { .value(value) } else { nil }
        }
    }
}
