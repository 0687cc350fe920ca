internal import Synchronization
internal import VellumCore

// Expired entries: noted when they are written, looked for block by block, and removed in small
// transactions.

extension ArchiveEdit {
    /// Notes when an entry that was just written expires for every reader.
    func noteEnd(_ entryID: Int64, _ entry: Entry, lastUse: UseStamp) {
        let validity = entry.validity
        guard validity.isOwn || archive.mayExpire.load(ordering: .relaxed) else { return }
        archive.upkeep.withLock { upkeep in
            guard validity.isOwn || !upkeep.retention.isUnlimited else { return }
            upkeep.sweepMap.note(
                entryID: entryID,
                end: upkeep.retention.end(validity, lastUse: lastUse, at: entry.written)
            )
        }
        archive.mayExpire.store(true, ordering: .relaxed)
    }

    /// Writes the policies of this process, and forgets those of programs that have not opened the
    /// archive for weeks.
    func writePolicies(at now: WallInstant) throws(SQLiteError) {
        try RetentionTable.deleteOld(
            of: id,
            before: now.advanced(byMilliseconds: -2 * Retention.week),
            on: connection
        )
        try RetentionTable.write(
            archive.upkeep.withLock { $0.policies },
            of: id,
            at: now,
            on: connection
        )
        archive.upkeep.withLock { $0.policiesWritten = now }
        CrashPoint.reached(.policiesWritten)
    }

    /// Removes at most `limit` expired entries of a block, and notes when the next expires.
    func sweep(_ block: Int64, at now: WallInstant, limit: Int) throws(SQLiteError) {
        // Read again, because no other process can add a policy during this transaction.
        let retention = Retention(policies: try tables.allPolicies(of: archive))
        var expired: [(entry: RemovedEntry, size: Int64)] = []
        var next = WallInstant.never
        let read = try tables.dates(of: block, after: state.totals.cleared)
        defer { read.reset() }
        while try read.step() {
            let row = SweepRow(read)
            let validity = row.validity
            var end = retention.end(validity, lastUse: row.lastUse, at: now)
            if end <= now {
                let entry = RemovedEntry(key: row.key, id: row.id)
                // The owner may know of a later use, and so may the file: the row has it only if
                // the entry has an idle age of its own.
                end = retention.end(validity, lastUse: try lastUse(of: entry), at: now)
                if end <= now, expired.count < limit {
                    expired.append((entry, row.size))
                    continue
                }
            }
            next = min(next, end)
        }
        read.reset()
        for (entry, size) in expired {
            try delete(entry.id, size: size, key: entry.key, .evicted)
            CrashPoint.reached(.entrySwept)
        }
        archive.upkeep.withLock { upkeep in
            upkeep.retention = retention
            upkeep.sweepMap.note(block: block, end: next)
        }
        noteRemoval(of: expired.map(\.entry), .expired)
    }

    func lastUse(of entry: RemovedEntry) throws(SQLiteError) -> UseStamp {
        let known = max(
            archive.owner?.lastUse(ofKey: entry.key, entryID: entry.id) ?? .never,
            state.uses[entry.id] ?? .never
        )
        let written = try tables.lastUse(ofKey: entry.key, after: state.totals.cleared)
        return max(known, written?.stamp ?? .never)
    }
}

extension ArchiveTables {
    /// The policies of this process, and those of others in the file.
    func allPolicies(of archive: Archive) throws(SQLiteError) -> [RetentionPolicy] {
        let own = archive.upkeep.withLock { $0.policies }
        var found = own
        for policy in try RetentionTable.policies(of: id, on: connection) {
            // Under such a policy every entry would be removed.
            guard min(policy.age, policy.idle, policy.staleWindow) >= 0 else {
                throw .corrupt("Invalid retention policy of an archive.")
            }
            // A policy of this process may be in the file, too; one with a longer stale window
            // belongs to another or an earlier process.
            if !own.contains(where: { $0.covers(policy) }) { found.append(policy) }
        }
        return found
    }

    /// Whether the file has the policies of this process, written within a day.
    func hasWrittenPolicies(of archive: Archive, at now: WallInstant) throws(SQLiteError) -> Bool {
        let recent = try RetentionTable.policies(of: id, on: connection).filter {
            $0.seen.isRecent(at: now)
        }
        return archive.upkeep.withLock { $0.policies }.allSatisfy { policy in
            recent.contains {
                $0.age == policy.age
                    && $0.idle == policy.idle
                    && $0.staleWindow == policy.staleWindow
            }
        }
    }

    /// Whether any entry of the block may have expired. If none has, notes when the first will.
    func hasEnded(
        in block: Int64,
        of archive: Archive,
        after cleared: Int64,
        at now: WallInstant
    ) throws(SQLiteError) -> Bool {
        let retention = archive.upkeep.withLock { $0.retention }
        var next = WallInstant.never
        let read = try dates(of: block, after: cleared)
        defer { read.reset() }
        while try read.step() {
            let row = SweepRow(read)
            next = min(next, retention.end(row.validity, lastUse: row.lastUse, at: now))
            if next <= now { return true }
        }
        archive.upkeep.withLock { $0.sweepMap.note(block: block, end: next) }
        return false
    }

    fileprivate func dates(of block: Int64, after cleared: Int64) throws(SQLiteError) -> Statement {
        let read = try statement(.datesBetween)
        let ids = SweepMap.entryIDs(of: block)
        read.bind(max(ids.lowerBound, cleared + 1), at: 1)
        read.bind(min(ids.upperBound, EntryID.end(of: id)), at: 2)
        return read
    }
}

extension Writer {
    /// Reads the policies of other readers, and schedules every block to be read once if any entry
    /// may expire.
    func prepareSweep(of archive: Archive) throws(SQLiteError) {
        let totals = try contents(of: archive).totals
        let present = Retention(policies: try tables(of: archive).allPolicies(of: archive))
        archive.upkeep.withLock { upkeep in
            let isChanged = present != upkeep.retention
            upkeep.retention = present
            if totals.expiring != 0 || !present.isUnlimited {
                if isChanged || upkeep.sweepMap == SweepMap() {
                    upkeep.sweepMap.readAnew(after: totals.cleared, through: totals.nextID - 1)
                }
                archive.mayExpire.store(true, ordering: .relaxed)
            } else {
                upkeep.sweepMap.removeAll()
            }
        }
    }
}

extension WallInstant {
    /// Whether it lies within a day of now, so that policies written then need not be written
    /// again.
    func isRecent(at now: WallInstant) -> Bool {
        let day: Int64 = 24 * 3600 * 1000
        return self > now.advanced(byMilliseconds: -day) && self < now.advanced(byMilliseconds: day)
    }
}
