internal import Foundation
internal import VellumCore

// Writes and removals of single entries, each with its place in the index, the totals and the sweep map.

extension ArchiveWriter {
    func apply(_ write: ArchiveWrite) throws(SQLiteError) -> WriteOutcome {
        var outcome = WriteOutcome()
        if let condition = write.condition, try !isMet(condition, write.key) {
            outcome.wasDeclined = true
            return outcome
        }
        switch write.operation {
        case .store(let entry):
            try put(entry, write, onlyIfAbsent: false, &outcome)
        case .storeIfAbsent(let entry):
            try put(entry, write, onlyIfAbsent: true, &outcome)
        case .renew(let entry, let revision):
            try renew(entry, write, revision, &outcome)
        case .remove:
            if let present = try find(write.key) {
                outcome.wasPresent = true
                try delete(present.id, size: present.size, key: write.key)
            } else {
                noteChange(of: write.key)  // Another process may have it in memory only.
            }
        case .removeUnchanged(let entryID, let revision):
            if let present = try find(write.key), present.id == entryID, present.revision == revision {
                outcome.wasPresent = true
                try delete(entryID, size: present.size, key: write.key)
            } else {
                outcome.wasDeclined = true
            }
        case .removeAll:
            outcome.wasPresent = totals.entries > 0
            try removeAll()
        case .require:
            break
        }
        return outcome
    }

    private func isMet(_ condition: WriteCondition, _ key: EntryKey) throws(SQLiteError) -> Bool {
        guard let present = try find(key) else { return condition.isMet(by: nil, isValid: false) }
        let version = EntryVersion(entryID: present.id, written: present.validity.written, revision: present.revision)
        var lastUse = present.lastUse
        if !present.validity.isOwn, condition.expiration.idle != .max {
            lastUse = try self.lastUse(of: RemovedEntry(key: key, id: present.id))
        }
        return condition.isMet(
            by: version, isValid: present.validity.contains(condition.now, key, lastUse: lastUse, under: condition.expiration))
    }

    // MARK: Storing

    private func put(
        _ entry: Entry, _ write: ArchiveWrite, onlyIfAbsent: Bool, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        // The store has compared the sizes; another process may have lowered the limit since.
        guard entry.size <= capacity.bytes || write.isKeptInMemory else { throw .tooLarge }
        if let known = write.known, write.condition == nil, try overwrite(known, write.key, entry, write.stamp, &outcome) { return }
        try put(entry, write.key, write.stamp, onlyIfAbsent: onlyIfAbsent, &outcome)
    }

    private func put(
        _ entry: Entry, _ key: EntryKey, _ stamp: UseStamp, onlyIfAbsent: Bool, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        var present = try find(key)
        outcome.wasPresent = present != nil
        if onlyIfAbsent, let present, present.validity.contains(entry.written, key, lastUse: present.lastUse) {
            outcome.wasDeclined = true
            return
        }
        guard entry.size <= capacity.bytes else {
            // It is not stored and evicts nothing, but the entry that it replaces must not come back.
            if let present { try delete(present.id, size: present.size, key: key) } else { noteChange(of: key) }
            return
        }
        noteChange(of: key)
        noteGrowth(by: entry, key)
        if isOnFullDisk {
            outcome.evicted = try evict(for: entry).map(\.key)
            present = try find(key)
        }
        if let present {
            try update(present.id, key, entry)
            try didUpdate(present.id, size: present.size, entry, stamp, &outcome)
        } else {
            outcome.entryID = totals.nextID
            try insert(outcome.entryID, key, entry, stamp)
            CrashPoint.reached(.entryInserted)
            totals.nextID += 1
            totals.entries += 1
            totals.bytes += Int64(entry.size)
            try index.didStore(outcome.entryID, entry.indexed, isNew: true)
        }
        try didPut(entry, stamp, &outcome)
    }

    /// Changes the dates of an entry that still has this revision. The index has no dates.
    private func renew(_ entry: Entry, _ write: ArchiveWrite, _ revision: UInt32, _ outcome: inout WriteOutcome) throws(SQLiteError) {
        guard let present = try find(write.key), present.id == entry.id, present.revision == revision else {
            return outcome.wasDeclined = true
        }
        noteChange(of: write.key)
        // A date where there was none makes the row longer.
        transaction.splitPages += 16
        transaction.newContent += 32
        let renew = try statement(.renewEntry)
        try withContent(write.key, entry) { (content) throws(SQLiteError) in try EntryTable.runRenew(renew, entry.id, content) }
        CrashPoint.reached(.entryUpdated)
        outcome.wasPresent = true
        outcome.entryID = entry.id
        transaction.uses[entry.id] = write.stamp
        if entry.validity.isOwn { totals.expiring = 1 }
        noteEnd(entry.id, entry, lastUse: write.stamp)
    }

    /// Overwrites an entry that memory knows, without looking for it.
    ///
    /// - Returns: Whether it is still there, as memory knows it.
    private func overwrite(
        _ known: KnownEntry, _ key: EntryKey, _ entry: Entry, _ stamp: UseStamp, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) -> Bool {
        guard !isOnFullDisk, entry.size <= capacity.bytes, known.id > totals.cleared, known.id < EntryID.end(of: id) else { return false }
        let update = try statement(.updateKnown)
        try withContent(key, entry) { (content) throws(SQLiteError) in
            try EntryTable.runUpdate(update, known.id, content, knownSize: known.size)
        }
        guard changesCount == 1 else { return false }
        outcome.wasPresent = true
        noteChange(of: key)
        noteGrowth(by: entry, key)
        try didUpdate(known.id, size: Int64(known.size), entry, stamp, &outcome)
        try didPut(entry, stamp, &outcome)
        return true
    }

    /// - Parameter size: That of the entry that was overwritten.
    private func didUpdate(
        _ entryID: Int64, size: Int64, _ entry: Entry, _ stamp: UseStamp, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        CrashPoint.reached(.entryUpdated)
        totals.bytes += Int64(entry.size) - size
        if Int64(entry.size) != size { hasChangedEntries = true }
        transaction.uses[entryID] = stamp
        outcome.entryID = entryID
        try index.didStore(entryID, entry.indexed, isNew: false)
    }

    private func didPut(_ entry: Entry, _ stamp: UseStamp, _ outcome: inout WriteOutcome) throws(SQLiteError) {
        if entry.validity.isOwn { totals.expiring = 1 }
        noteEnd(outcome.entryID, entry, lastUse: stamp)
        CrashPoint.reached(.entryIndexed)
        outcome.evicted += try evict().map(\.key)
        CrashPoint.reached(.roomMade)
    }

    /// Storing an entry splits a page on each level of two trees at most, besides the pages of its key and its value.
    private func noteGrowth(by entry: Entry, _ key: EntryKey) {
        transaction.splitPages += 16
        transaction.newContent += Int64(entry.size + key.normalized.utf8.count)
        if index.state != nil { transaction.hasUnknownGrowth = true }
    }

    /// The place in the eviction order of an entry of another file. Not later than now: every use from now on has a later stamp.
    private func stamp(of entry: Entry, at now: WallInstant) -> UseStamp {
        let last = min(max(UseStamp(startOf: entry.written), entry.lastUse), UseStamp(startOf: now))
        return UseStamp(rawValue: (last.rawValue & ~0xFFFFF) + totals.nextID & 0xFFFFF)
    }

    /// Copies an entry of a damaged or foreign file.
    func salvage(_ entry: Entry, _ key: EntryKey, at now: WallInstant) throws(SQLiteError) {
        let stamp = stamp(of: entry, at: now)
        var outcome = WriteOutcome()
        try put(entry, key, stamp, onlyIfAbsent: false, &outcome)
    }

    /// The entry under the key, with the last use that the file or the owner knows.
    func find(_ key: EntryKey) throws(SQLiteError) -> EntryHead? {
        let find = try statement(.findEntry)
        defer { find.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            find.bind(bytes, at: 1)
            find.bind(checksum.storedHash(ofKey: bytes), at: 2)
            find.bind(totals.cleared, at: 3)
            guard try find.step() else { return nil }
            var head = EntryHead(find)
            if head.validity.idle != .max { head.lastUse = max(head.lastUse, owner?.lastUse(ofKey: key, entryID: head.id) ?? .never) }
            return head
        }
    }

    private func insert(_ entryID: Int64, _ key: EntryKey, _ entry: Entry, _ stamp: UseStamp) throws(SQLiteError) {
        let insert = try statement(.insertEntry)
        try withContent(key, entry) { (content) throws(SQLiteError) in
            try EntryTable.runInsert(insert, entryID, content, stamp: stamp)
        }
    }

    func update(_ entryID: Int64, _ key: EntryKey, _ entry: Entry) throws(SQLiteError) {
        let update = try statement(.updateEntry)
        try withContent(key, entry) { (content) throws(SQLiteError) in try EntryTable.runUpdate(update, entryID, content) }
    }

    /// Calls `body` with the bytes of key and value in place, and their checksum.
    private func withContent(
        _ key: EntryKey, _ entry: Entry, _ body: (EntryContent) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let (written, expires, idle) = (entry.written.rawValue, entry.expires?.rawValue, entry.idle)
        try key.withBytes { (keyBytes) throws(SQLiteError) in
            let result = entry.bytes.withUnsafeBytes { bytes -> Result<Void, SQLiteError> in
                let content = EntryContent(
                    key: keyBytes, bytes: bytes, written: written, expires: expires, idle: idle, typeVersion: entry.typeVersion,
                    sums: checksum.sums(of: entry, key: keyBytes))
                return Result { () throws(SQLiteError) in try body(content) }
            }
            try result.get()
        }
    }

    // MARK: Removing

    func delete(_ entryID: Int64, size: Int64, key: EntryKey) throws(SQLiteError) {
        noteChange(of: key)
        transaction.hasUnknownGrowth = true
        let delete = try statement(.deleteEntry)
        delete.bind(entryID, at: 1)
        try delete.run()
        CrashPoint.reached(.entryDeleted)
        let deleteTouch = try statement(.deleteTouch)
        deleteTouch.bind(entryID, at: 1)
        try deleteTouch.run()
        CrashPoint.reached(.touchDeleted)
        try index.didRemove(entryID)
        CrashPoint.reached(.deletionIndexed)
        transaction.uses[entryID] = nil
        totals.entries -= 1
        totals.bytes -= size
        hasChangedEntries = true
        transaction.bytesRemoved += size
    }

    /// Removes all entries at once. What they take in the file is returned in the background, by ``removeCleared(limit:)``.
    func removeAll() throws(SQLiteError) {
        try index.didRemoveAll()
        transaction.changed.insertAll()
        transaction.uses.removeAll()
        transaction.bytesRemoved += totals.bytes
        totals.entries = 0
        totals.bytes = 0
        totals.cleared = totals.nextID - 1
        totals.lowWater = totals.cleared
        totals.expiring = 0
        hasChangedEntries = true
        transaction.hasEmptied = true
    }

    /// Deletes up to `limit` entries that were there when the archive was emptied, and what is known of their use. In a transaction.
    func removeCleared(limit: Int64) throws(SQLiteError) {
        for kind in [StaticStatement.deleteFirstTouches, .deleteFirst] {
            let delete = try statement(kind)
            delete.bind(EntryID.zero(of: id), at: 1)
            delete.bind(totals.cleared, at: 2)
            delete.bind(limit, at: 3)
            try delete.run()
            CrashPoint.reached(.clearedDeleted)
        }
        let delete = try statement(.deleteFirstRecency)
        delete.bind(id, at: 1)
        delete.bind(totals.cleared, at: 2)
        delete.bind(limit, at: 3)
        try delete.run()
        totals.recencyRecords -= changesCount
    }
}
