public import VellumCore

// How the tier follows what other processes change below it.

extension MemoryCache {
    /// Whether everything here is what the disk holds. One atomic load.
    @inlinable
    func isFresh(_ state: borrowing State) -> Bool {
        guard let generation else { return true }
        return generation.value == state.lastSeenGeneration
    }

    /// A use by a reader who found that something changed.
    @usableFromInline
    func useAfterCatchingUp(_ key: EntryKey, at now: WallInstant, under expiration: Expiration, notifiesDisk: inout Bool) -> Payload? {
        withFreshShelf { use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk, in: &$0) }
    }

    /// Runs `body` inside the lock, after what others changed was forgotten.
    func withFreshShelf<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        var forgotten: [Payload] = []
        // Released where no lock is held.
        defer { withExtendedLifetime(forgotten) {} }
        return state.withLock { state in
            if !isFresh(state) { catchUp(&state, &forgotten) }
            return body(&state)
        }
    }

    /// Notes that a commit of this process made a generation.
    ///
    /// - Returns: Whether what was committed is still the last that is known here.
    @usableFromInline
    func take(_ change: OwnChange?, in state: inout State) -> Bool {
        guard let change else { return true }
        if state.lastSeenGeneration == change.previous { state.lastSeenGeneration = change.last }
        return state.lastSeenGeneration <= change.last
    }

    /// Forgets what others changed since the last time.
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
            state.generations[Self.stripe(of: hash)] &+= 1  // A reader may be on its way up with what was there.
            guard let found = state.keysByHash?.key(hash) else { continue }
            if found.isShared { return forgetEverything(&state, &forgotten) }
            guard let key = found.key, let item = state.list.remove(key) else { continue }
            // What is under the key now may be the same entry, overwritten: it was used.
            if item.row != 0, item.isDirty { state.recency.add(row: item.row, stamp: item.stamp) }
            forgotten.append(item.payload)
        }
    }

    /// Makes sure that changes of a key by others will be heard of, once there was one.
    @usableFromInline
    func follow(_ key: EntryKey, in state: inout State) {
        guard let count = state.keysByHash?.count else { return }
        if count > 2 * state.list.count + 1024 {
            state.keysByHash = nil  // Made anew when it is needed again.
        } else {
            state.keysByHash?.add(key)
        }
    }

    private func forgetEverything(_ state: inout State, _ forgotten: inout [Payload]) {
        for stripe in state.generations.indices { state.generations[stripe] &+= 1 }
        for use in state.list.pendingDirty() { state.recency.add(row: use.row, stamp: use.stamp) }
        forgotten += state.list.removeAll()
        state.keysByHash = nil
    }
}
