internal import VellumCore

// Archives that replace one another: a cache whose version changed, say. What the old ones hold stays, so that two versions of
// a program do not wipe each other, but it counts toward the limit of the new one and makes room for it.

extension WriteConnection {
    /// Makes the archive one of the family, and takes in the others. It must be added then.
    func join(_ versionGroup: String, _ archive: ArchiveWriter, at now: WallInstant) throws(SQLiteError) {
        archive.versionGroup = versionGroup
        if try !archive.isPresent(at: now) {
            try transaction { () throws(SQLiteError) in try archive.writeHeartbeat(at: now) }
        }
        for sibling in try siblings(of: archive) where self.archive(sibling.id) == nil {
            let new = ArchiveWriter(id: sibling.id, name: sibling.name, connection: connection)
            new.versionGroup = versionGroup
            new.seen = sibling.seen
            add(new)
        }
    }

    /// Another archive of a family, as the file knows it.
    private struct Sibling {
        var id: Int64
        var name: String
        var entries: Int64
        var seen: WallInstant

        func isUnseen(weeks: Int64, at now: WallInstant) -> Bool {
            seen.advanced(byMilliseconds: weeks * Retention.week) <= now
        }
    }

    /// The others of the family in the file.
    private func siblings(of archive: ArchiveWriter) throws(SQLiteError) -> [Sibling] {
        guard let versionGroup = archive.versionGroup else { return [] }
        let find = try connection.prepare(SQL.siblings)
        find.bind(versionGroup, at: 1)
        find.bind(archive.id, at: 2)
        var found: [Sibling] = []
        while try find.step() {
            found.append(
                Sibling(
                    id: find.int(0), name: find.text(1) ?? "", entries: find.int(2), seen: WallInstant(rawValue: find.int(3))))
        }
        return found
    }

    /// The limit that a new archive takes from the one of its family that was opened last.
    func limit(ofFamily versionGroup: String) throws(SQLiteError) -> StoredLimit? {
        let find = try connection.prepare(SQL.limitOfVersionGroup)
        find.bind(versionGroup, at: 1)
        guard try find.step() else { return nil }
        let limit = StoredLimit(bytes: find.int(0), isGiven: find.int(1))
        guard limit.isPossible else { throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid disk limit of an archive.") }
        return limit
    }

    /// Removes a few entries of siblings that nobody has opened for a week, and a relative that is empty after four.
    ///
    /// - Returns: Whether there are more.
    func sweepRelatives(of archive: ArchiveWriter, at now: WallInstant, limit: Int) throws(SQLiteError) -> Bool {
        for sibling in try siblings(of: archive) where sibling.isUnseen(weeks: sibling.entries > 0 ? 1 : 4, at: now) {
            guard let writer = self.archive(sibling.id), writer.diskArchive == nil else { continue }
            let removed = try transaction { () throws(SQLiteError) -> Int in
                // Once more, now that no other process can open it.
                guard try siblings(of: archive).contains(where: { $0.id == sibling.id && $0.seen == sibling.seen }) else { return 0 }
                try writer.load()
                var removed = 0
                while removed < limit, try writer.removeColdest(before: UseStamp(rawValue: .max)) != nil { removed += 1 }
                if removed == 0, sibling.isUnseen(weeks: 4, at: now) { try drop(writer) }
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
        for sql in [SQL.deletePolicies, SQL.deleteArchive] {
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
