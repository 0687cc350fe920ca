public import VellumCore

// Following the changes of other processes.

extension MemoryCache {
    /// Whether memory reflects all announced changes of the disk. One atomic load.
    @inlinable
    func isFresh(_ state: borrowing State) -> Bool {
        guard let generation else { return true }
        return generation.value == state.lastSeenGeneration
    }

    /// Looks the key up after following new changes.
    @usableFromInline
    func useAfterCatchingUp(_ key: EntryKey, at now: WallInstant, under expiration: Expiration, notifiesDisk: inout Bool) -> Payload? {
        withFreshState { use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk, in: &$0) }
    }

    /// Runs `body` inside the lock, after dropping entries that other processes changed.
    func withFreshState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        var forgotten: [Payload] = []
        // Released outside the lock.
        defer { withExtendedLifetime(forgotten) {} }
        return state.withLock { state in
            if !isFresh(state) { catchUp(&state, &forgotten) }
            return body(&state)
        }
    }

    /// Records the generation that a commit of this process created.
    ///
    /// - Returns: Whether no later change by another process is known.
    @usableFromInline
    func take(_ change: OwnChange?, in state: inout State) -> Bool {
        guard let change else { return true }
        if state.lastSeenGeneration == change.previous { state.lastSeenGeneration = change.last }
        return state.lastSeenGeneration <= change.last
    }

    /// Drops the entries that other processes changed since the last call.
    @usableFromInline
    func catchUp(_ state: inout State, _ forgotten: inout [Payload]) {
        guard let feed, let generation else { return }
        let now = generation.value
        let changes = feed.changes(after: state.lastSeenGeneration, through: now)
        state.lastSeenGeneration = now
        guard case .keys(let hashes) = changes else { return forgetEverything(&state, &forgotten) }
        guard !hashes.isEmpty else { return }
        if state.keysByHash.map({ $0.count > 2 * state.list.count + 1024 }) ?? true {
            state.keysByHash = KeysByHash(state.list.list.keys.lazy.compactMap { $0 })
        }
        for hash in hashes {
            state.versions.invalidateTickets(Self.stripe(of: hash))
            guard let found = state.keysByHash?.key(hash) else { continue }
            if found.isShared { return forgetEverything(&state, &forgotten) }
            guard let key = found.key, let item = state.list.remove(key) else { continue }
            // The key may still refer to the same entry with new contents, so its last use is kept.
            if item.entryID != 0, item.isDirty { state.recency.add(entryID: item.entryID, stamp: item.stamp) }
            forgotten.append(item.payload)
        }
    }

    /// Adds the key to the table by hash, if other processes have made changes.
    @usableFromInline
    func follow(_ key: EntryKey, in state: inout State) {
        guard let count = state.keysByHash?.count else { return }
        if count > 2 * state.list.count + 1024 {
            state.keysByHash = nil  // Rebuilt when it is needed again.
        } else {
            state.keysByHash?.add(key)
        }
    }

    /// Adds a watcher of the key until ``unwatch(_:)``, and returns the key's current version.
    func watch(_ key: EntryKey) -> UInt64 { state.withLock { $0.versions.watch(key) } }

    func unwatch(_ key: EntryKey) { state.withLock { $0.versions.unwatch(key) } }

    /// Whether no caller wrote or removed the watched key since it had that version.
    func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        state.withLock { $0.versions.isUnchanged(key, since: version) }
    }

    private func forgetEverything(_ state: inout State, _ forgotten: inout [Payload]) {
        state.versions.invalidateTickets()
        for use in state.list.pendingDirty() { state.recency.add(entryID: use.entryID, stamp: use.stamp) }
        forgotten += state.list.removeAll()
        state.keysByHash = nil
    }
}
