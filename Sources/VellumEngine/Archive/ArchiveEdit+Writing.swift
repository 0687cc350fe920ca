internal import Foundation
internal import VellumCore

// Writes and removals of single entries, each with its place in the index, the totals and the sweep
// map.

extension ArchiveEdit {
    func apply(_ write: ArchiveWrite) throws(SQLiteError) -> WriteOutcome {
        var outcome = WriteOutcome()
        var present = Presence.unknown
        if let condition = write.condition {
            if try overwrite(write, if: condition, &outcome) { return outcome }
            let found = try find(write.key)
            present = .searched(found)
            guard try isMet(condition, write.key, by: found) else {
                outcome.wasDeclined = true
                return outcome
            }
        }
        switch write.operation {
        case .store(let entry):
            try put(entry, write, present, onlyIfAbsent: false, &outcome)
        case .storeIfAbsent(let entry):
            try put(entry, write, present, onlyIfAbsent: true, &outcome)
        case .renew(let entry, let revision):
            try renew(entry, write, present, revision, &outcome)
            if outcome.entryID != 0 {
                try regroup(outcome.entryID, write.grouping, entry, write.key, from: revision)
            }
        case .remove, .removeExpired:
            let kind =
                if case .remove = write.operation { ChangeKind.removed } else { ChangeKind.evicted }
            if let head = try find(write.key, present) {
                outcome.wasPresent = true
                try delete(head.id, size: head.size, key: write.key, kind)
            } else {
                // Another process may have it in memory only, or load it.
                noteChange(of: write.key, kind)
            }
        case .removeUnchanged(let entryID, let revision):
            if let head = try find(write.key, present), head.id == entryID,
                head.revision == revision
            {
                outcome.wasPresent = true
                try delete(entryID, size: head.size, key: write.key, .removed)
            } else {
                outcome.wasDeclined = true
            }
        case .removeAll:
            outcome.wasPresent = state.totals.entries > 0
            try removeAll()
        case .removeGroup:
            outcome.removedCount = try removeAll(ofGroup: write.key)
        case .announcePrefix:
            noteChange(of: write.key, .prefixRemoved)
        case .require:
            break
        }
        return outcome
    }

    /// What is known of the entry under the key of a write.
    private enum Presence {
        case unknown
        /// The condition of the write has searched for it.
        case searched(EntryHead?)
    }

    private func find(_ key: EntryKey, _ presence: Presence) throws(SQLiteError) -> EntryHead? {
        switch presence {
        case .unknown: try find(key)
        case .searched(let found): found
        }
    }

    private func isMet(
        _ condition: WriteCondition,
        _ key: EntryKey,
        by present: EntryHead?
    ) throws(SQLiteError) -> Bool {
        guard let present else { return condition.isMet(by: nil, isValid: false) }
        let version = EntryVersion(
            entryID: present.id,
            written: present.validity.written,
            revision: present.revision
        )
        var lastUse = present.lastUse
        if !present.validity.isOwn, condition.expiration.idle != .max {
            lastUse = try self.lastUse(of: RemovedEntry(key: key, id: present.id))
        }
        return condition.isMet(
            by: version,
            isValid: present.validity.contains(
                condition.now,
                key,
                lastUse: lastUse,
                under: condition.expiration
            )
        )
    }

    // MARK: Storing

    private func put(
        _ entry: Entry,
        _ write: ArchiveWrite,
        _ present: Presence,
        onlyIfAbsent: Bool,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        // The store has compared the sizes; another process may have lowered the limit since.
        // Memory has no groups.
        if entry.size > capacity.bytes {
            guard write.isKeptInMemory, try keptGroups(write, of: find(write.key, present)).isEmpty
            else { throw .tooLarge }
        }
        let isKnown =
            if let known = write.known, write.condition == nil {
                try overwrite(known, write.key, entry, write.stamp, &outcome)
            } else {
                false
            }
        let found = isKnown ? nil : try find(write.key, present)
        // To make room on a full disk, the entry that is there may be evicted, with its groups.
        let kept = isOnFullDisk ? try keptGroups(write, of: found) : []
        if !isKnown {
            try put(entry, write.key, found, write.stamp, onlyIfAbsent: onlyIfAbsent, &outcome)
        }
        guard outcome.entryID != 0 else { return }
        try regroup(
            outcome.entryID,
            kept.isEmpty ? write.grouping : .groups(kept),
            entry,
            write.key,
            from: found?.revision
        )
        try makeRoom()
    }

    private func makeRoom() throws(SQLiteError) {
        // What was just written may be the oldest itself, by the clock of another process: memory
        // must not keep it alone if it has groups.
        if isOverLimit { noteRemoval(of: try evict(), .evicted) }
        CrashPoint.reached(.roomMade)
    }

    private func put(
        _ entry: Entry,
        _ key: EntryKey,
        _ found: EntryHead?,
        _ stamp: UseStamp,
        onlyIfAbsent: Bool,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        var present = found
        outcome.wasPresent = present != nil
        if onlyIfAbsent, let present,
            present.validity.contains(entry.written, key, lastUse: present.lastUse)
        {
            outcome.wasDeclined = true
            return
        }
        guard entry.size <= capacity.bytes else {
            // It is not stored and evicts nothing, but the entry that it replaces must not come
            // back.
            if let present {
                try delete(present.id, size: present.size, key: key, .written)
            } else {
                noteChange(of: key, .written)
            }
            return
        }
        noteChange(of: key, .written)
        noteGrowth(by: entry, key)
        if isOnFullDisk {
            noteRemoval(of: try evict(for: entry), .evicted)
            present = try find(key)
        }
        if let present {
            try update(present.id, key, entry)
            try didUpdate(present.id, size: present.size, entry, stamp, &outcome)
        } else {
            outcome.entryID = state.totals.nextID
            try EntryTable.runInsert(
                try statement(.insertEntry),
                outcome.entryID,
                key,
                entry,
                checksum.sums(of: entry, key: key),
                stamp: stamp
            )
            CrashPoint.reached(.entryInserted)
            state.totals.nextID += 1
            state.totals.entries += 1
            state.totals.bytes += Int64(entry.size)
            try indexStored(outcome.entryID, entry.indexed, isNew: true)
        }
        try didPut(entry, stamp, &outcome)
    }

    /// Changes the dates of an entry that still has this revision. The index has no dates.
    private func renew(
        _ entry: Entry,
        _ write: ArchiveWrite,
        _ present: Presence,
        _ revision: UInt32,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        guard let present = try find(write.key, present), present.id == entry.id,
            present.revision == revision
        else {
            return outcome.wasDeclined = true
        }
        noteChange(of: write.key, .written)
        // A date where there was none makes the row longer.
        state.splitPages += 16
        state.newContent += 32
        try EntryTable.runRenew(
            try statement(.renewEntry),
            entry.id,
            entry,
            checksum.sums(of: entry, key: write.key)
        )
        CrashPoint.reached(.entryUpdated)
        outcome.wasPresent = true
        outcome.entryID = entry.id
        state.uses[entry.id] = write.stamp
        if entry.validity.isOwn { state.totals.expiring = 1 }
        noteEnd(entry.id, entry, lastUse: write.stamp)
    }

    /// Overwrites an entry whose value was read in memory, without looking for it.
    ///
    /// - Returns: Whether the condition is met and memory knows the row.
    private func overwrite(
        _ write: ArchiveWrite,
        if condition: WriteCondition,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) -> Bool {
        // Rows of groups name the revision, which memory does not have.
        guard case .store(let entry) = write.operation, let known = write.known,
            !state.contents.hasMembers,
            condition.isMet(byKnown: known.id),
            try overwrite(known, write.key, entry, write.stamp, &outcome)
        else { return false }
        try makeRoom()
        return true
    }

    /// Overwrites an entry that memory knows, without looking for it.
    ///
    /// - Returns: Whether it is still there, as memory knows it.
    private func overwrite(
        _ known: KnownEntry,
        _ key: EntryKey,
        _ entry: Entry,
        _ stamp: UseStamp,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) -> Bool {
        guard !isOnFullDisk, entry.size <= capacity.bytes, known.id > state.totals.cleared,
            known.id < EntryID.end(of: id)
        else {
            return false
        }
        try EntryTable.runUpdate(
            try statement(.updateKnown),
            known,
            key,
            entry,
            checksum.sums(of: entry, key: key)
        )
        guard changesCount == 1 else { return false }
        outcome.wasPresent = true
        noteChange(of: key, .written)
        noteGrowth(by: entry, key)
        try didUpdate(known.id, size: Int64(known.size), entry, stamp, &outcome)
        try didPut(entry, stamp, &outcome)
        return true
    }

    /// - Parameter size: That of the entry that was overwritten.
    private func didUpdate(
        _ entryID: Int64,
        size: Int64,
        _ entry: Entry,
        _ stamp: UseStamp,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        CrashPoint.reached(.entryUpdated)
        state.totals.bytes += Int64(entry.size) - size
        if Int64(entry.size) != size { state.contents.hasChangedEntries = true }
        state.uses[entryID] = stamp
        outcome.entryID = entryID
        try indexStored(entryID, entry.indexed, isNew: false)
    }

    private func didPut(
        _ entry: Entry,
        _ stamp: UseStamp,
        _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        if entry.validity.isOwn { state.totals.expiring = 1 }
        noteEnd(outcome.entryID, entry, lastUse: stamp)
        CrashPoint.reached(.entryIndexed)
    }

    /// Storing an entry splits a page on each level of two trees at most, besides the pages of its
    /// key and its value.
    private func noteGrowth(by entry: Entry, _ key: EntryKey) {
        state.splitPages += 16
        state.newContent += Int64(entry.size + key.normalized.utf8.count)
        if index != nil { state.hasUnknownGrowth = true }
    }

    /// The place in the eviction order of an entry of another file. Not later than now: every use
    /// from now on has a later stamp.
    private func stamp(of entry: Entry, at now: WallInstant) -> UseStamp {
        let last = min(
            max(UseStamp(startOf: entry.written), entry.lastUse),
            UseStamp(startOf: now)
        )
        return UseStamp(rawValue: (last.rawValue & ~0xFFFFF) + state.totals.nextID & 0xFFFFF)
    }

    /// Copies an entry of a damaged or foreign file.
    func salvage(
        _ stored: StoredEntry,
        in groups: [EntryKey],
        at now: WallInstant
    ) throws(SQLiteError) {
        let entry = stored.entry
        let key = stored.key
        var outcome = WriteOutcome()
        try put(
            entry,
            key,
            try find(key),
            stamp(of: entry, at: now),
            onlyIfAbsent: false,
            &outcome
        )
        if outcome.entryID != 0 {
            try put(groups, outcome.entryID, checksum.sums(of: entry, key: key))
        }
    }

    /// The entry under the key, with the last use that the file or the owner knows.
    func find(_ key: EntryKey) throws(SQLiteError) -> EntryHead? {
        let find = try statement(.findEntry)
        defer { find.reset() }
        find.bind(checksum.storedHash(ofKey: key), at: 1)
        find.bind(state.totals.cleared, at: 2)
        while try find.step() {
            guard var head = EntryHead(find, of: key), !isRemoved(head.id) else { continue }
            if head.validity.idle != .max {
                head.lastUse = max(
                    head.lastUse,
                    archive.owner?.lastUse(ofKey: key, entryID: head.id) ?? .never
                )
            }
            return head
        }
        return nil
    }

    func update(_ entryID: Int64, _ key: EntryKey, _ entry: Entry) throws(SQLiteError) {
        try EntryTable.runUpdate(
            try statement(.updateEntry),
            entryID,
            entry,
            checksum.sums(of: entry, key: key)
        )
    }

    // MARK: Removing

    /// - Returns: Whether the entry had groups.
    @discardableResult
    func delete(
        _ entryID: Int64,
        size: Int64,
        key: EntryKey,
        _ kind: ChangeKind
    ) throws(SQLiteError) -> Bool {
        noteChange(of: key, kind)
        state.hasUnknownGrowth = true
        state.uses[entryID] = nil
        state.totals.entries -= 1
        state.totals.bytes -= size
        state.contents.hasChangedEntries = true
        state.bytesRemoved += size
        guard removed == nil else {
            removed?.insert(entryID)
            return false
        }
        return try deleteRows(of: entryID)
    }

    /// - Returns: Whether the entry had groups.
    @discardableResult
    func deleteRows(of entryID: Int64) throws(SQLiteError) -> Bool {
        try statement(.deleteEntry).run(entryID)
        CrashPoint.reached(.entryDeleted)
        try statement(.deleteTouch).run(entryID)
        CrashPoint.reached(.touchDeleted)
        try indexRemoved(entryID)
        CrashPoint.reached(.deletionIndexed)
        return state.contents.hasMembers ? try removeMembers(entryID) : false
    }

    /// Whether the transaction has removed the entry, whose rows are still there.
    func isRemoved(_ entryID: Int64) -> Bool { removed?.contains(entryID) ?? false }

    /// Removes all entries at once. What they take in the file is returned in the background, by
    /// ``removeCleared(limit:)``.
    func removeAll() throws(SQLiteError) {
        try indexRemovedAll()
        state.changed.insert(all: .removed)
        state.uses.removeAll()
        state.bytesRemoved += state.totals.bytes
        state.totals.entries = 0
        state.totals.bytes = 0
        state.totals.cleared = state.totals.nextID - 1
        state.totals.lowWater = state.totals.cleared
        state.totals.expiring = 0
        state.contents.hasChangedEntries = true
        state.hasEmptied = true
    }

    /// Deletes up to `limit` entries that were there when the archive was emptied, and what is
    /// known of their use. In a transaction.
    func removeCleared(limit: Int64) throws(SQLiteError) {
        let members = state.contents.hasMembers ? [ArchiveStatement.deleteFirstMembers] : []
        for kind in members + [.deleteFirstTouches, .deleteFirst] {
            try statement(kind).run(EntryID.zero(of: id), state.totals.cleared, limit)
            CrashPoint.reached(.clearedDeleted)
        }
        try statement(.deleteFirstRecency).run(id, state.totals.cleared, limit)
        state.totals.recencyRecords -= changesCount
    }
}
