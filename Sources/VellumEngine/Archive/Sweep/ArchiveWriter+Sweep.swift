internal import VellumCore

// What nobody wants any more: noted when it is written, looked for by block, and removed in small transactions.

extension ArchiveWriter {
    /// Notes when an entry that was just written will not be wanted any more.
    func noteEnd(_ number: Int64, _ entry: Entry, lastUse: UseStamp) {
        guard entry.validity.isOwn || !retention.isUnlimited else { return }
        sweepMap.note(row: number, end: retention.end(entry.validity, lastUse: lastUse, at: entry.written))
    }

    /// Learns from the file what others said, and wants every row read once if any may end.
    func beginSweeping() throws(SQLiteError) {
        try load()
        let present = Retention(policies: try claimsInFile())
        let isChanged = present != retention
        retention = present
        if row.expiring != 0 || !retention.isUnlimited {
            if isChanged || sweepMap == SweepMap() { sweepMap.readAnew(through: row.next - 1) }
        } else {
            sweepMap.removeAll()
        }
    }

    /// The claims of others as they are in the file, and those of this process.
    func claimsInFile() throws(SQLiteError) -> [RetentionPolicy] {
        let read = try connection.prepare(SQL.policies)
        read.bind(id, at: 1)
        var found = policies
        while try read.step() {
            let setRetention = RetentionPolicy(
                age: read.int(0), idle: read.int(1), staleWindow: read.int(2), seen: WallInstant(rawValue: read.int(3)))
            // Everything would leave that nobody wants.
            guard min(setRetention.age, setRetention.idle, setRetention.staleWindow) >= 0 else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "A setRetention on an archive is none.")
            }
            // One of ours stands there, too; one with a longer grace is someone else's, or of an earlier run.
            if !policies.contains(where: { $0.covers(setRetention) }) { found.append(setRetention) }
        }
        return found
    }

    /// Whether the file knows since today that this process has the archive open, and what it wants of it.
    func isPresent(at now: WallInstant) throws(SQLiteError) -> Bool {
        let read = try connection.prepare(SQL.policies)
        read.bind(id, at: 1)
        var written: [RetentionPolicy] = []
        while try read.step() {
            guard WallInstant(rawValue: read.int(3)).isRecent(at: now) else { continue }
            written.append(RetentionPolicy(age: read.int(0), idle: read.int(1), staleWindow: read.int(2), seen: .never))
        }
        guard policies.allSatisfy(written.contains) else { return false }
        guard let versionGroup else { return true }
        let find = try connection.prepare(SQL.versionGroup)
        find.bind(id, at: 1)
        return try find.step() && find.text(0) == versionGroup && WallInstant(rawValue: find.int(1)).isRecent(at: now)
    }

    /// Writes that down. In a transaction.
    func writeHeartbeat(at now: WallInstant) throws(SQLiteError) {
        let delete = try connection.prepare(SQL.deleteOldPolicies)
        delete.bind(now.advanced(byMilliseconds: -2 * Retention.week).rawValue, at: 1)
        try delete.run()
        let store = try connection.prepare(SQL.storePolicy)
        for setRetention in policies {
            store.bind(id, at: 1)
            store.bind(setRetention.age, at: 2)
            store.bind(setRetention.idle, at: 3)
            store.bind(setRetention.staleWindow, at: 4)
            store.bind(now.rawValue, at: 5)
            try store.run()
        }
        if let versionGroup {
            let join = try connection.prepare(SQL.storeVersionGroup)
            join.bind(id, at: 1)
            join.bind(versionGroup, at: 2)
            join.bind(now.rawValue, at: 3)
            try join.run()
        }
        presenceWritten = now
        CrashPoint.reached(.presenceWritten)
    }

    /// Whether anything in the block may not be wanted any more. If nothing is, notes when the first will not be.
    func hasEnded(in block: Int64, at now: WallInstant) throws(SQLiteError) -> Bool {
        var next = WallInstant.never
        let read = try rows(of: block)
        defer { read.reset() }
        while try read.step() {
            next = min(next, retention.end(read.validity, lastUse: UseStamp(rawValue: read.int(5)), at: now))
            if next <= now { return true }
        }
        sweepMap.note(block: block, end: next)
        return false
    }

    /// Removes what is not wanted any more in a block, at most `limit` entries, and notes when the next will not be. In a
    /// transaction.
    func sweep(_ block: Int64, at now: WallInstant, limit: Int) throws(SQLiteError) -> [RemovedEntry] {
        // Once more, now that no other process can say that it wants what is here.
        retention = Retention(policies: try claimsInFile())
        var unwanted: [(entry: RemovedEntry, bytes: Int64)] = []
        var next = WallInstant.never
        let read = try rows(of: block)
        defer { read.reset() }
        while try read.step() {
            var end = retention.end(read.validity, lastUse: UseStamp(rawValue: read.int(5)), at: now)
            if end <= now {
                let entry = RemovedEntry(key: EntryKey(String(decoding: read.bytes(6), as: UTF8.self)), row: read.int(0))
                // There may be a later use: memory knows of it, or the file, which was asked only where the age is the entry's own.
                end = retention.end(read.validity, lastUse: try latestUse(of: entry), at: now)
                if end <= now, unwanted.count < limit {
                    unwanted.append((entry, read.int(1)))
                    continue
                }
            }
            next = min(next, end)
        }
        read.reset()
        for (entry, bytes) in unwanted {
            try delete(row: entry.row, bytes: bytes, key: entry.key)
            CrashPoint.reached(.entrySwept)
        }
        sweepMap.note(block: block, end: next)
        return unwanted.map(\.entry)
    }

    private func rows(of block: Int64) throws(SQLiteError) -> Statement {
        let read = try statement(.datesBetween)
        let rows = SweepMap.rows(of: block)
        read.bind(rows.lowerBound, at: 1)
        read.bind(rows.upperBound, at: 2)
        return read
    }

    func latestUse(of entry: RemovedEntry) throws(SQLiteError) -> UseStamp {
        let told = max(owner?.latestUse(ofKey: entry.key, row: entry.row) ?? .never, usesInTransaction[entry.row] ?? .never)
        let noted = try ArchiveReader(id: id, checksum: checksum, connection: connection).lastUse(ofKey: entry.key)
        return max(told, noted?.stamp ?? .never)
    }
}

// A row of `SQL.datesBetween`.
extension Statement {
    fileprivate var validity: Validity {
        Validity(
            written: WallInstant(rawValue: int(2)), expires: optionalInt(3).map(WallInstant.init(rawValue:)), idle: optionalInt(4))
    }
}

extension WallInstant {
    /// Whether it lies within a day of now: then what was written down of it need not be written again.
    func isRecent(at now: WallInstant) -> Bool {
        let day: Int64 = 24 * 3600 * 1000
        return self > now.advanced(byMilliseconds: -day) && self < now.advanced(byMilliseconds: day)
    }
}
