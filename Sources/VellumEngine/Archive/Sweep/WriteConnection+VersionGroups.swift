internal import VellumCore

// Archives that replace one another, such as the versions of a cache. The entries of the old ones stay, so that two versions of a program
// do not erase each other's, but they count toward the limit of the new one and are evicted first.

extension WriteConnection {
    /// Makes the archive one of the version group, and adds a writer for each sibling. The caller then adds the archive.
    func join(_ versionGroup: String, _ archive: ArchiveWriter, at now: WallInstant) throws(SQLiteError) {
        archive.versionGroup = versionGroup
        if try !archive.hasRecentHeartbeat(at: now) {
            try transaction { () throws(SQLiteError) in try archive.writeHeartbeat(at: now) }
        }
        for sibling in try siblings(of: archive) where self.archive(sibling.id) == nil {
            let new = ArchiveWriter(id: sibling.id, name: sibling.name, connection: connection)
            new.versionGroup = versionGroup
            new.seen = sibling.seen
            add(new)
        }
    }

    private func siblings(of archive: ArchiveWriter) throws(SQLiteError) -> [ArchiveTable.Sibling] {
        guard let versionGroup = archive.versionGroup else { return [] }
        return try ArchiveTable.siblings(of: archive.id, in: versionGroup, on: connection)
    }

    /// The limit that a new archive inherits from the archive of its version group that was open last.
    func limit(ofVersionGroup versionGroup: String) throws(SQLiteError) -> StoredLimit? {
        guard let limit = try ArchiveTable.limit(ofVersionGroup: versionGroup, on: connection) else { return nil }
        guard limit.isPossible else { throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid disk limit of an archive.") }
        return limit
    }

    /// Removes a few entries of siblings that were not open for a week, and an empty sibling after four.
    ///
    /// - Returns: Whether there are more.
    func sweepSiblings(of archive: ArchiveWriter, at now: WallInstant, limit: Int) throws(SQLiteError) -> Bool {
        for sibling in try siblings(of: archive) where sibling.isUnseen(weeks: sibling.entries > 0 ? 1 : 4, at: now) {
            guard let writer = self.archive(sibling.id), writer.openArchive == nil else { continue }
            let removed = try transaction { () throws(SQLiteError) -> Int in
                // Read again, because no other process can open it during this transaction.
                guard try siblings(of: archive).contains(where: { $0.id == sibling.id && $0.seen == sibling.seen }) else { return 0 }
                try writer.load()
                var removed = 0
                while removed < limit, try writer.removeOldest(before: UseStamp(rawValue: .max)) != nil { removed += 1 }
                if removed == 0, sibling.isUnseen(weeks: 4, at: now) { try drop(writer) }
                return removed
            }
            CrashPoint.reached(.siblingSwept)
            if removed > 0 { return true }
        }
        return false
    }

    /// Drops an empty archive, unless it was the last that was added: the number of the next archive must be greater than all before.
    private func drop(_ archive: ArchiveWriter) throws(SQLiteError) {
        guard try connection.int(ArchiveTable.lastID) ?? 0 > archive.id, try connection.int(EntryTable.hasRows(archive.id)) == 0 else {
            return
        }
        try archive.index.drop()
        CrashPoint.reached(.archiveIndexDropped)
        for sql in [RetentionTable.deleteAll, ArchiveTable.delete] {
            let delete = try connection.prepare(sql)
            delete.bind(archive.id, at: 1)
            try delete.run()
        }
        CrashPoint.reached(.archiveForgotten)
        forget(archive)
    }
}

extension ArchiveTable.Sibling {
    fileprivate func isUnseen(weeks: Int64, at now: WallInstant) -> Bool {
        seen.advanced(byMilliseconds: weeks * Retention.week) <= now
    }
}
