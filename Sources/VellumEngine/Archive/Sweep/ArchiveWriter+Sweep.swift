internal import VellumCore

// Expired entries: noted when they are written, looked for block by block, and removed in small transactions.

extension ArchiveWriter {
    /// Notes when an entry that was just written expires for every reader.
    func noteEnd(_ entryID: Int64, _ entry: Entry, lastUse: UseStamp) {
        guard entry.validity.isOwn || !retention.isUnlimited else { return }
        sweepMap.note(entryID: entryID, end: retention.end(entry.validity, lastUse: lastUse, at: entry.written))
    }

    /// Reads the policies of other readers, and schedules every block to be read once if any entry may expire.
    func prepareSweep() throws(SQLiteError) {
        try load()
        let present = Retention(policies: try allPolicies())
        let isChanged = present != retention
        retention = present
        if totals.expiring != 0 || !retention.isUnlimited {
            if isChanged || sweepMap == SweepMap() { sweepMap.readAnew(after: totals.cleared, through: totals.nextID - 1) }
        } else {
            sweepMap.removeAll()
        }
    }

    /// The policies of this process, and those of others in the file.
    func allPolicies() throws(SQLiteError) -> [RetentionPolicy] {
        var found = policies
        for policy in try RetentionTable.policies(of: id, on: connection) {
            // Under such a policy every entry would be removed.
            guard min(policy.age, policy.idle, policy.staleWindow) >= 0 else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid retention policy of an archive.")
            }
            // A policy of this process may be in the file, too; one with a longer stale window belongs to another or an earlier process.
            if !policies.contains(where: { $0.covers(policy) }) { found.append(policy) }
        }
        return found
    }

    /// Whether the file has the policies of this process, written within a day.
    func hasWrittenPolicies(at now: WallInstant) throws(SQLiteError) -> Bool {
        let recent = try RetentionTable.policies(of: id, on: connection).filter { $0.seen.isRecent(at: now) }
        return policies.allSatisfy { policy in
            recent.contains { ($0.age, $0.idle, $0.staleWindow) == (policy.age, policy.idle, policy.staleWindow) }
        }
    }

    /// Writes the policies of this process, and forgets those of programs that have not opened the archive for weeks. In a transaction.
    func writePolicies(at now: WallInstant) throws(SQLiteError) {
        try RetentionTable.deleteOld(of: id, before: now.advanced(byMilliseconds: -2 * Retention.week), on: connection)
        try RetentionTable.write(policies, of: id, at: now, on: connection)
        policiesWritten = now
        CrashPoint.reached(.policiesWritten)
    }

    /// Whether any entry of the block may have expired. If none has, notes when the first will.
    func hasEnded(in block: Int64, at now: WallInstant) throws(SQLiteError) -> Bool {
        var next = WallInstant.never
        let read = try entries(of: block)
        defer { read.reset() }
        while try read.step() {
            let row = SweepRow(read)
            next = min(next, retention.end(row.validity, lastUse: row.lastUse, at: now))
            if next <= now { return true }
        }
        sweepMap.note(block: block, end: next)
        return false
    }

    /// Removes at most `limit` expired entries of a block, and notes when the next expires. In a transaction.
    func sweep(_ block: Int64, at now: WallInstant, limit: Int) throws(SQLiteError) -> [RemovedEntry] {
        // Read again, because no other process can add a policy during this transaction.
        retention = Retention(policies: try allPolicies())
        var expired: [(entry: RemovedEntry, size: Int64)] = []
        var next = WallInstant.never
        let read = try entries(of: block)
        defer { read.reset() }
        while try read.step() {
            let row = SweepRow(read)
            let validity = row.validity
            var end = retention.end(validity, lastUse: row.lastUse, at: now)
            if end <= now {
                let entry = RemovedEntry(key: row.key, id: row.id)
                // The owner may know of a later use, and so may the file: the row has it only if the entry has an idle age of its own.
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
            try delete(entry.id, size: size, key: entry.key)
            CrashPoint.reached(.entrySwept)
        }
        sweepMap.note(block: block, end: next)
        return expired.map(\.entry)
    }

    private func entries(of block: Int64) throws(SQLiteError) -> Statement {
        let read = try statement(.datesBetween)
        let ids = SweepMap.entryIDs(of: block)
        read.bind(max(ids.lowerBound, totals.cleared + 1), at: 1)
        read.bind(min(ids.upperBound, EntryID.end(of: id)), at: 2)
        return read
    }

    func lastUse(of entry: RemovedEntry) throws(SQLiteError) -> UseStamp {
        let known = max(owner?.lastUse(ofKey: entry.key, entryID: entry.id) ?? .never, transaction.uses[entry.id] ?? .never)
        let written = try ArchiveReader(id: id, checksum: checksum, connection: connection).lastUse(ofKey: entry.key)
        return max(known, written?.stamp ?? .never)
    }
}

extension WallInstant {
    /// Whether it lies within a day of now, so that policies written then need not be written again.
    func isRecent(at now: WallInstant) -> Bool {
        let day: Int64 = 24 * 3600 * 1000
        return self > now.advanced(byMilliseconds: -day) && self < now.advanced(byMilliseconds: day)
    }
}
