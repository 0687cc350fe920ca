// How the tier follows what other processes change below it.

extension MemoryTier {
    /// Whether everything here is what the disk holds. One atomic load.
    @inlinable
    func isFresh(_ shelf: borrowing Shelf) -> Bool {
        guard let generation else { return true }
        return generation.value == shelf.heard
    }

    /// A use by a reader who found that something changed.
    @usableFromInline
    func useAfterCatchingUp(_ key: EntryKey, at now: WallInstant, under expiration: Expiration, wakesDisk: inout Bool) -> Payload? {
        withFreshShelf { use(key, at: now, under: expiration, wakesDisk: &wakesDisk, in: &$0) }
    }

    /// Runs `body` inside the lock, after what others changed was forgotten.
    func withFreshShelf<Result: Sendable>(_ body: (inout Shelf) -> Result) -> Result {
        var forgotten: [Payload] = []
        // Released where no lock is held.
        defer { withExtendedLifetime(forgotten) {} }
        return shelf.withLock { shelf in
            if !isFresh(shelf) { catchUp(&shelf, &forgotten) }
            return body(&shelf)
        }
    }

    /// Notes that a commit of this process made a generation.
    ///
    /// - Returns: Whether what was committed is still the last that is known here.
    @usableFromInline
    func take(_ change: OwnChange?, in shelf: inout Shelf) -> Bool {
        guard let change else { return true }
        if shelf.heard == change.previous { shelf.heard = change.last }
        return shelf.heard <= change.last
    }

    /// Forgets what others changed since the last time.
    @usableFromInline
    func catchUp(_ shelf: inout Shelf, _ forgotten: inout [Payload]) {
        guard let feed, let generation else { return }
        let now = generation.value
        let changes = feed.changes(after: shelf.heard, through: now)
        shelf.heard = now
        guard case .keys(let hashes) = changes else { return forgetEverything(&shelf, &forgotten) }
        guard !hashes.isEmpty else { return }
        if shelf.keysByHash.map({ $0.count > 2 * shelf.list.count + 1024 }) ?? true {
            shelf.keysByHash = KeysByHash(shelf.list.keys.lazy.compactMap { $0 })
        }
        for hash in hashes {
            shelf.generations[Self.stripe(of: hash)] &+= 1  // A reader may be on its way up with what was there.
            guard let found = shelf.keysByHash?.key(hash) else { continue }
            if found.isShared { return forgetEverything(&shelf, &forgotten) }
            guard let key = found.key, let item = shelf.list.remove(key) else { continue }
            // What is under the key now may be the same entry, overwritten: it was used.
            if item.row != 0, item.isUntold { shelf.backlog.add(row: item.row, stamp: item.stamp) }
            forgotten.append(item.payload)
        }
    }

    /// Makes sure that changes of a key by others will be heard of, once there was one.
    @usableFromInline
    func follow(_ key: EntryKey, in shelf: inout Shelf) {
        guard let count = shelf.keysByHash?.count else { return }
        if count > 2 * shelf.list.count + 1024 {
            shelf.keysByHash = nil  // Made anew when it is needed again.
        } else {
            shelf.keysByHash?.add(key)
        }
    }

    private func forgetEverything(_ shelf: inout Shelf, _ forgotten: inout [Payload]) {
        for stripe in shelf.generations.indices { shelf.generations[stripe] &+= 1 }
        for use in shelf.list.pendingUntold() { shelf.backlog.add(row: use.row, stamp: use.stamp) }
        forgotten += shelf.list.removeAll()
        shelf.keysByHash = nil
    }
}
