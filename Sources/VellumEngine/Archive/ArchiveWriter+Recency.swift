internal import VellumCore

// How the disk learns of uses: in batches, in transactions of their own, never by an UPDATE for a read.

extension ArchiveWriter {
    /// Writes uses, sorted by entry so that neighbours share pages.
    func write(_ uses: [Touch]) throws(SQLiteError) {
        for use in uses.sorted(by: { $0.row < $1.row }) {
            if use.row <= row.settled {
                try moveUse(row: use.row, stamp: use.stamp)
            } else if try entryExists(use.row) {
                // Its turn to be settled has not come, but its use must not be lost with this process.
                try addUse(row: use.row, stamp: use.stamp)
            }
        }
        try trimMarks(Int64(uses.count) * 4)
    }

    /// Writes the first use of an entry that has none, or a later one.
    func addUse(row number: Int64, stamp: UseStamp) throws(SQLiteError) {
        let insert = try statement(.insertTouch)
        insert.bind(number, at: 1)
        insert.bind(0, at: 2)
        try insert.run()
        CrashPoint.reached(.useAdded)
        try moveUse(row: number, stamp: stamp)
    }

    /// Moves the last use of an entry to a later stamp, if the entry is still there.
    func moveUse(row number: Int64, stamp: UseStamp) throws(SQLiteError) {
        var stamp = stamp
        while try update(row: number, to: stamp) {
            guard try !addRecency(stamp, row: number) else { return }
            stamp = UseStamp(rawValue: stamp.rawValue &+ 1)  // Another process took the same stamp.
        }
    }

    private func update(row number: Int64, to stamp: UseStamp) throws(SQLiteError) -> Bool {
        let update = try statement(.updateTouch)
        update.bind(number, at: 1)
        update.bind(stamp.rawValue, at: 2)
        try update.run()
        CrashPoint.reached(.useMoved)
        return changes() == 1
    }

    private func addRecency(_ stamp: UseStamp, row number: Int64) throws(SQLiteError) -> Bool {
        let add = try statement(.addRecency)
        add.bind(stamp.rawValue, at: 1)
        add.bind(number, at: 2)
        try add.run()
        guard changes() == 1 else { return false }
        change { $0.marks += 1 }
        return true
    }

    func removeMark(_ stamp: UseStamp) throws(SQLiteError) {
        let delete = try statement(.deleteRecency)
        delete.bind(stamp.rawValue, at: 1)
        try delete.run()
        CrashPoint.reached(.markRemoved)
        // Who removes the oldest until none is left would go on for ever.
        guard changes() == 1 else { throw SQLiteError(code: SQLiteError.corrupt, message: "A mark that is there cannot be found.") }
        change { $0.marks -= 1 }
    }

    private func entryExists(_ number: Int64) throws(SQLiteError) -> Bool {
        let exists = try statement(.entryExists)
        defer { exists.reset() }
        exists.bind(number, at: 1)
        return try exists.step()
    }

    /// Looks at `count` marks for those that are no longer the last use of anything, when most of them are.
    ///
    /// Goes on where it stopped, so that the search costs O(1) for each use that was ever written.
    private func trimMarks(_ count: Int64) throws(SQLiteError) {
        guard row.marks > 2 * row.entries + 1024 else { return }
        var dead: [UseStamp] = []
        var seen: Int64 = 0
        let after = try statement(.recencyAfter)
        after.bind(trimmedMarks, at: 1)
        after.bind(count, at: 2)
        defer { after.reset() }
        while try after.step() {
            seen += 1
            trimmedMarks = after.int(0)
            if after.optionalInt(1) != trimmedMarks { dead.append(UseStamp(rawValue: trimmedMarks)) }
        }
        after.reset()
        for stamp in dead { try removeMark(stamp) }
        if seen < count { trimmedMarks = 0 }
    }
}
