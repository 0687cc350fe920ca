// Following the changes of other processes.

extension MemoryCache {
    /// Whether memory reflects all announced changes of the disk. One atomic load.
    @inlinable
    func isFresh(_ part: borrowing Part) -> Bool {
        guard let generation else { return true }
        return generation.value == part.lastSeenGeneration
    }

    /// Looks the key up after following new changes.
    @usableFromInline
    func useAfterCatchingUp(_ key: EntryKey, at now: WallInstant, under expiration: Expiration, notifiesDisk: inout Bool) -> Payload? {
        withFreshPart(of: key) { use(key, at: now, under: expiration, notifiesDisk: &notifiesDisk, in: &$0, index(of: key)) }
    }

    /// Runs `body` inside the lock of the key's part, after dropping entries that other processes changed.
    @inlinable
    func withFreshPart<Result: Sendable>(of key: EntryKey, _ body: (inout Part) -> Result) -> Result {
        var forgotten: [Payload] = []
        // Released outside the lock.
        defer { withExtendedLifetime(forgotten) {} }
        return parts.update(index(of: key)) { part in
            if !isFresh(part) { catchUp(&part, &forgotten) }
            return body(&part)
        }
    }

    /// Runs `body` with each part, after dropping entries that other processes changed.
    func withFreshParts(_ body: (inout Part) -> Void) {
        var forgotten: [Payload] = []
        defer { withExtendedLifetime(forgotten) {} }
        parts.updateAll { part in
            if !isFresh(part) { catchUp(&part, &forgotten) }
            body(&part)
        }
    }

    /// Records the generation that a commit of this process created.
    ///
    /// - Returns: Whether no later change by another process is known.
    @inlinable
    func take(_ change: OwnChange?, in part: inout Part) -> Bool {
        guard let change else { return true }
        if part.lastSeenGeneration == change.previous { part.lastSeenGeneration = change.last }
        return part.lastSeenGeneration <= change.last
    }

    /// Records in every part the generation that a commit of this process created: they have nothing to drop for it.
    @inlinable
    func takeEverywhere(_ change: OwnChange?) {
        guard change != nil else { return }
        for index in 0..<parts.count { parts.withLock(index) { _ = take(change, in: &$0) } }
    }

    /// Drops the entries of a part that other processes changed since the last call.
    @usableFromInline
    func catchUp(_ part: inout Part, _ forgotten: inout [Payload]) {
        guard let feed, let generation else { return }
        let now = generation.value
        let changes = feed.changes(after: part.lastSeenGeneration, through: now)
        part.lastSeenGeneration = now
        guard case .keys(let hashes) = changes else { return forgetEverything(&part, &forgotten) }
        guard !hashes.isEmpty else { return }
        // A reader of any part may have read before a change.
        shared.withLock { shared in
            for hash in hashes { shared.versions.invalidateTickets(Self.stripe(of: hash)) }
        }
        if part.keysByHash.map({ $0.count > 2 * part.list.count + 1024 }) ?? true {
            part.keysByHash = KeysByHash(part.list.list.slots.keys, hash: hash)
        }
        for hash in hashes {
            guard let found = part.keysByHash?.key(hash) else { continue }
            if found.isShared { return forgetEverything(&part, &forgotten) }
            guard let key = found.key, let item = part.list.remove(key) else { continue }
            // The key may still refer to the same entry with new contents, so its last use is kept.
            if item.entryID != 0, item.isDirty { shared.withLock { $0.recency.add(entryID: item.entryID, stamp: item.stamp) } }
            forgotten.append(item.payload)
        }
    }

    /// Adds the key to the table by hash, if other processes have made changes.
    @usableFromInline
    func follow(_ key: EntryKey, in part: inout Part) {
        guard let count = part.keysByHash?.count else { return }
        if count > 2 * part.list.count + 1024 {
            part.keysByHash = nil  // Rebuilt when it is needed again.
        } else {
            part.keysByHash?.add(key)
        }
    }

    private func forgetEverything(_ part: inout Part, _ forgotten: inout [Payload]) {
        shared.withLock { shared in
            shared.versions.invalidateTickets()
            for use in part.list.pendingDirty() { shared.recency.add(entryID: use.entryID, stamp: use.stamp) }
        }
        forgotten += part.list.removeAll()
        part.keysByHash = nil
    }
}

extension MemoryCache: WatchedKeys {
    package func watch(_ key: EntryKey) -> UInt64 { shared.withLock { $0.versions.watch(key) } }

    package func unwatch(_ key: EntryKey) { shared.withLock { $0.versions.unwatch(key) } }

    package func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        shared.withLock { $0.versions.isUnchanged(key, since: version) }
    }
}
