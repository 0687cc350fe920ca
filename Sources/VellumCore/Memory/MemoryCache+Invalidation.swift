// Following the changes of other processes.

extension MemoryCache {
    /// Whether memory reflects all announced changes of the disk. One atomic load.
    @inlinable
    func isFresh(_ contents: borrowing Contents) -> Bool {
        guard let generation else { return true }
        return generation.value == contents.lastSeenGeneration
    }

    /// Runs `body` inside the lock of this thread, after dropping entries that other processes changed.
    @inlinable
    func readFresh<Result>(_ body: (UnsafePointer<Contents>) -> Result) -> Result {
        while true {
            let result = contents.read { contents, _ in isFresh(contents.pointee) ? body(contents) as Result? : nil }
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
        guard case .keys(let hashes) = changes else { return forgetEverything(&contents, &forgotten) }
        for hash in hashes {
            contents.versions.invalidateTickets(stripe(of: hash))
            for key in contents.entries.list.keys(hash: hash) where self.hash.of(key) == hash {
                guard let item = contents.entries.remove(key, hash: hash) else { continue }
                // The key may still refer to the same entry with new contents, so its last use is kept.
                contents.keepUse(of: item)
                forgotten.append(item.payload)
            }
        }
    }

    private func forgetEverything(_ contents: inout Contents, _ forgotten: inout [Payload]) {
        contents.versions.invalidateTickets()
        for use in contents.entries.allDirty() { contents.recency.add(entryID: use.entryID, stamp: use.stamp) }
        forgotten += contents.entries.removeAll()
    }
}

/// Keys whose writes are noticed: those of a ``MemoryCache``.
package protocol WatchedKeys: AnyObject, Sendable {
    /// Adds a watcher of the key until ``unwatch(_:)``, and returns the key's version.
    func watch(_ key: EntryKey) -> UInt64

    func unwatch(_ key: EntryKey)

    /// Whether no caller wrote or removed the watched key since it had that version.
    func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool
}

extension MemoryCache: WatchedKeys {
    package func watch(_ key: EntryKey) -> UInt64 { contents.write { contents, _ in contents.versions.watch(key) } }

    package func unwatch(_ key: EntryKey) { contents.write { contents, _ in contents.versions.unwatch(key) } }

    package func isUnchanged(_ key: EntryKey, since version: UInt64) -> Bool {
        contents.read { contents, _ in contents.pointee.versions.isUnchanged(key, since: version) }
    }
}
