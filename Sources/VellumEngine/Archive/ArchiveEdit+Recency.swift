internal import Foundation
internal import VellumCore

// Uses are written in batches, in transactions of their own. A read never causes an UPDATE.

extension ArchiveEdit {
    /// Writes touches, sorted by entry so that neighbours share pages.
    func write(_ touches: [Touch]) throws(SQLiteError) {
        for touch in touches.sorted(by: { $0.entryID < $1.entryID }) {
            if touch.entryID <= state.totals.cleared {
                continue
            } else if touch.entryID <= state.totals.lowWater {
                try moveTouch(touch.entryID, to: touch.stamp)
            } else if try entryExists(touch.entryID) {
                // The low-water mark has not reached it, but its use must survive this process.
                try addTouch(touch.entryID, at: touch.stamp)
            }
        }
        try trimRecencyLog(Int64(touches.count) * 4)
    }

    /// Writes the touch of an entry that may have none yet.
    func addTouch(_ entryID: Int64, at stamp: UseStamp) throws(SQLiteError) {
        try statement(.insertTouch).run(entryID, 0)
        CrashPoint.reached(.touchAdded)
        try moveTouch(entryID, to: stamp)
    }

    /// Moves the touch of an entry to a later stamp, if the entry is still there.
    func moveTouch(_ entryID: Int64, to stamp: UseStamp) throws(SQLiteError) {
        var stamp = stamp
        while try updateTouch(entryID, to: stamp) {
            guard try !addRecency(stamp, of: entryID) else { return }
            stamp = UseStamp(rawValue: stamp.rawValue &+ 1)  // Another process used the same stamp.
        }
    }

    private func updateTouch(_ entryID: Int64, to stamp: UseStamp) throws(SQLiteError) -> Bool {
        try statement(.updateTouch).run(entryID, stamp.rawValue)
        CrashPoint.reached(.touchMoved)
        return changesCount == 1
    }

    private func addRecency(_ stamp: UseStamp, of entryID: Int64) throws(SQLiteError) -> Bool {
        try statement(.insertRecency).run(id, stamp.rawValue, entryID)
        guard changesCount == 1 else { return false }
        state.totals.recencyRecords += 1
        return true
    }

    func removeRecency(_ stamp: UseStamp) throws(SQLiteError) {
        try statement(.deleteRecency).run(id, stamp.rawValue)
        CrashPoint.reached(.recencyDeleted)
        // A caller that removes the oldest record until there is none would never end.
        guard changesCount == 1 else {
            throw .corrupt("A record of the recency log cannot be found.")
        }
        state.totals.recencyRecords -= 1
    }

    private func entryExists(_ entryID: Int64) throws(SQLiteError) -> Bool {
        let exists = try statement(.entryExists)
        defer { exists.reset() }
        exists.bind(entryID, at: 1)
        return try exists.step()
    }

    /// Removes the obsolete ones of the next `count` records of the log, if most of its records are
    /// obsolete.
    ///
    /// Continues where it stopped, so that the search costs O(1) for each use that was ever
    /// written.
    private func trimRecencyLog(_ count: Int64) throws(SQLiteError) {
        guard state.totals.recencyRecords > 2 * state.totals.entries + 1024 else { return }
        var obsolete: [UseStamp] = []
        var seen: Int64 = 0
        var through = archive.upkeep.withLock { $0.trimmedThrough }
        let after = try statement(.recencyAfter)
        after.bind(id, at: 1)
        after.bind(through.rawValue, at: 2)
        after.bind(count, at: 3)
        defer { after.reset() }
        while try after.step() {
            seen += 1
            let record = RecencyRecord(after)
            through = record.stamp
            if record.isObsolete { obsolete.append(record.stamp) }
        }
        after.reset()
        for stamp in obsolete { try removeRecency(stamp) }
        archive.upkeep.withLock { $0.trimmedThrough = seen < count ? .never : through }
    }

    // MARK: Other limits

    /// The limit on disk, or what is there without one, in bytes.
    var sizeOfDisk: Int { capacity.bytes == .max ? usage.bytes : capacity.bytes }

    /// Replaces what is known of other limits.
    func write(_ sizing: Sizing, at now: WallInstant) throws(SQLiteError) {
        let text: String
        do {
            text = String(decoding: try CodableFormat.json.encode(sizing), as: UTF8.self)
        } catch {
            throw .corrupt("The sizes of an archive cannot be written: \(codingReason(error)).")
        }
        if try connection.int(SizingTable.isThere) == 0 {
            try connection.execute(SizingTable.create)
            try connection.execute(Features.addSizing)
        }
        let write = try connection.prepare(SizingTable.write, id, now.rawValue)
        write.bind(text, at: 3)
        try write.run()
    }

    /// Forgets what is known of other limits: what was used is gone.
    func removeSizing() throws(SQLiteError) {
        guard try connection.int(SizingTable.isThere) ?? 0 > 0 else { return }
        try connection.prepare(SizingTable.remove, id).run()
    }
}
