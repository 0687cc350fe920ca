internal import Tiers

// Archives that replace one another: a cache whose version changed, say. What the old ones hold stays, so that two versions of
// a program do not wipe each other, but it counts toward the limit of the new one and makes room for it.

extension Writer {
    /// Makes the archive one of the family, and takes in the others. It must be added then.
    func join(_ family: String, _ archive: ArchiveWriter, at now: WallInstant) throws(SQLiteError) {
        archive.family = family
        if try !archive.isPresent(at: now) {
            try transaction { () throws(SQLiteError) in try archive.writePresence(at: now) }
        }
        for relative in try relatives(of: archive) where self.archive(relative.id) == nil {
            let new = ArchiveWriter(id: relative.id, name: relative.name, connection: connection)
            new.family = family
            new.seen = relative.seen
            add(new)
        }
    }

    /// Another archive of a family, as the file knows it.
    private struct Relative {
        var id: Int64
        var name: String
        var entries: Int64
        var seen: WallInstant

        func isUnseen(weeks: Int64, at now: WallInstant) -> Bool {
            seen.advanced(byMilliseconds: weeks * Retention.week) <= now
        }
    }

    /// The others of the family in the file.
    private func relatives(of archive: ArchiveWriter) throws(SQLiteError) -> [Relative] {
        guard let family = archive.family else { return [] }
        let find = try connection.prepare(SQL.relatives)
        find.bind(family, at: 1)
        find.bind(archive.id, at: 2)
        var found: [Relative] = []
        while try find.step() {
            found.append(
                Relative(
                    id: find.int(0), name: find.text(1) ?? "", entries: find.int(2), seen: WallInstant(rawValue: find.int(3))))
        }
        return found
    }

    /// The limit that a new archive takes from the one of its family that was opened last.
    func limit(ofFamily family: String) throws(SQLiteError) -> StoredLimit? {
        let find = try connection.prepare(SQL.limitOfFamily)
        find.bind(family, at: 1)
        guard try find.step() else { return nil }
        let limit = StoredLimit(bytes: find.int(0), isGiven: find.int(1))
        guard limit.isPossible else { throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid disk limit of an archive.") }
        return limit
    }

    /// Removes a few entries of relatives that nobody has opened for a week, and a relative that is empty after four.
    ///
    /// - Returns: Whether there are more.
    func sweepRelatives(of archive: ArchiveWriter, at now: WallInstant, limit: Int) throws(SQLiteError) -> Bool {
        for relative in try relatives(of: archive) where relative.isUnseen(weeks: relative.entries > 0 ? 1 : 4, at: now) {
            guard let writer = self.archive(relative.id), writer.tier == nil else { continue }
            let removed = try transaction { () throws(SQLiteError) -> Int in
                // Once more, now that no other process can open it.
                guard try relatives(of: archive).contains(where: { $0.id == relative.id && $0.seen == relative.seen }) else { return 0 }
                try writer.load()
                var removed = 0
                while removed < limit, try writer.removeColdest(before: UseStamp(rawValue: .max)) != nil { removed += 1 }
                if removed == 0, relative.isUnseen(weeks: 4, at: now) { try drop(writer) }
                return removed
            }
            CrashPoint.reached(.relativeSwept)
            if removed > 0 { return true }
        }
        return false
    }

    /// Drops an archive that is empty, but for the last that was added: the next one's number comes after it, so that none is used
    /// twice.
    private func drop(_ archive: ArchiveWriter) throws(SQLiteError) {
        guard try connection.int(SQL.lastArchive) ?? 0 > archive.id else { return }
        try archive.index.drop()
        CrashPoint.reached(.archiveIndexDropped)
        for sql in [SQL.deleteClaims, SQL.deleteArchive] {
            let delete = try connection.prepare(sql)
            delete.bind(archive.id, at: 1)
            try delete.run()
        }
        CrashPoint.reached(.archiveForgotten)
        try connection.execute(SQL.dropArchive(archive.id))
        CrashPoint.reached(.archiveDropped)
        forget(archive)
    }
}
