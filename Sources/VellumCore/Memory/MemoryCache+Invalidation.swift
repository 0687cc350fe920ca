// Following the changes of other processes.

extension MemoryCache {
    /// Whether memory reflects all announced changes of the disk. One atomic load.
    @inlinable
    func isFresh(_ contents: borrowing Contents) -> Bool {
        guard let generation else { return true }
        return generation.value == contents.lastSeenGeneration
    }

    /// Runs `body` inside the lock of this thread, after dropping entries that other processes
    /// changed.
    @inlinable
    func readFresh<Result>(_ body: (UnsafePointer<Contents>) -> Result) -> Result {
        while true {
            let result = contents.read { contents, _ in
                isFresh(contents.pointee) ? body(contents) as Result? : nil
            }
            if let result { return result }
            catchUp()
        }
    }

    /// Drops the entries that other processes changed since the last call.
    @usableFromInline
    func catchUp() {
        var forgotten: [Payload] = []
        // Released outside the lock.
        defer { withExtendedLifetime(forgotten) {} }
        contents.write { contents, _ in
            if !isFresh(contents) { catchUp(&contents, &forgotten) }
        }
    }

    @usableFromInline
    func catchUp(_ contents: inout Contents, _ forgotten: inout [Payload]) {
        guard let feed, let generation else { return }
        let now = generation.value
        let changes = feed.changes(after: contents.lastSeenGeneration, through: now)
        contents.lastSeenGeneration = now
        if !contents.watched.isEmpty { contents.watched.record(changes, hash) }
        guard changes.isOfSingleKeys else { return forgetEverything(&contents, &forgotten) }
        for change in changes.single {
            contents.versions.invalidateTickets(stripe(of: change.hash))
            for key in keys(of: change, contents) {
                guard let item = contents.entries.remove(key, hash: hash.of(key)) else { continue }
                // The key may still refer to the same entry with new contents, so its last use is
                // kept.
                contents.keepUse(of: item)
                forgotten.append(item.payload)
            }
        }
    }

    private func keys(of change: ChangedKeys.Key, _ contents: borrowing Contents) -> [EntryKey] {
        if change.kind == .groupRemoved { return [] }
        guard change.kind == .prefixRemoved else {
            return contents.entries.list.keys(hash: change.hash).filter {
                hash.of($0) == change.hash
            }
        }
        // Rows are announced one by one. Nobody but this process knows what only memory has.
        guard contents.entries.memoryOnlyCount > 0 else { return [] }
        return contents.entries.list.newest { $0.entryID == 0 }.map(\.key).filter {
            $0.hasPrefix(change.hash, hash)
        }
    }

    private func forgetEverything(_ contents: inout Contents, _ forgotten: inout [Payload]) {
        contents.versions.invalidateTickets()
        for use in contents.entries.allDirty() {
            contents.recency.add(entryID: use.entryID, stamp: use.stamp)
        }
        forgotten += contents.entries.removeAll()
    }
}

extension MemoryCache {
    /// Whether surely no caller, of any process, has written or removed the key since the ticket
    /// was issued. Others of its stripe count, too.
    @usableFromInline package func isUnchanged(
        _ key: EntryKey,
        since ticket: WriteVersions.Ticket
    ) -> Bool {
        contents.read { contents, _ in
            contents.pointee.versions.isCurrent(ticket)
                && announced(key, contents.pointee, groups: []) == .unchanged
        }
    }

    /// What others have announced of a key that memory does not reflect yet. Only looked at: to
    /// drop entries would release payloads, and the caller may have the lock of the writer.
    private func announced(
        _ key: EntryKey,
        _ contents: borrowing Contents,
        groups: @autoclosure () -> [UInt64]
    ) -> WatchedKeys.Standing {
        guard let feed, let generation, !isFresh(contents) else { return .unchanged }
        return feed.changes(after: contents.lastSeenGeneration, through: generation.value).standing(
            of: key,
            groups(),
            hash
        )
    }
}

extension MemoryCache: KeyWatching {
    package func watch(_ key: EntryKey, groups: [EntryKey]) -> UInt64 {
        let groups = groups.map(hash.of)
        let hash = hash.of(key)
        var forgotten: [Payload] = []
        // Released outside the lock.
        defer { withExtendedLifetime(forgotten) {} }
        return contents.write { contents, _ in
            // What was announced before is no change since.
            if !isFresh(contents) { catchUp(&contents, &forgotten) }
            return contents.watched.watch(
                key,
                hash,
                groups: groups,
                isChanging: feed?.isChanging(key) ?? false
            )
        }
    }

    package func unwatch(_ key: EntryKey) {
        let hash = hash.of(key)
        contents.write { contents, _ in contents.watched.unwatch(hash) }
    }

    package func standing(of key: EntryKey, since version: UInt64) -> WatchedKeys.Standing {
        let keyHash = hash.of(key)
        return contents.read { contents, _ in
            let watched = contents.pointee.watched
            return max(
                watched.standing(of: keyHash, since: version),
                announced(key, contents.pointee, groups: watched.groups(of: keyHash))
            )
        }
    }
}
