internal import Tiers

// Archives that replace one another: a cache whose version changed, say. What the old ones hold stays, so that two versions of
// a program do not wipe each other, but it counts toward the limit of the new one and makes room for it.

extension Writer {
    /// Makes the archive one of the family, and the others its elders.
    func join(_ family: String, _ archive: ArchiveWriter, at now: WallInstant) throws(SQLiteError) {
        archive.family = family
        if try !archive.isPresent(at: now) {
            try transaction { () throws(SQLiteError) in try archive.writePresence(at: now) }
        }
        archive.elders = []
        for relative in try relatives(of: archive) {
            archive.elders.append(relative.archive)
            // Both may be open at once: then each makes room for the other.
            if relative.archive.tier != nil { relative.archive.elders.append(archive) }
        }
    }

    /// The others of the family, those first that were not opened for the longest.
    private func relatives(of archive: ArchiveWriter) throws(SQLiteError) -> [(archive: ArchiveWriter, seen: WallInstant)] {
        guard let family = archive.family else { return [] }
        let find = try connection.prepare(SQL.relatives)
        find.bind(family, at: 1)
        find.bind(archive.id, at: 2)
        var found: [(archive: ArchiveWriter, seen: WallInstant)] = []
        while try find.step() {
            let relative =
                known(find.int(0))
                ?? ArchiveWriter(
                    id: find.int(0), name: find.text(1) ?? "", capacity: .unlimited, connection: connection)
            found.append((relative, WallInstant(rawValue: find.int(3))))
        }
        return found
    }

    private func known(_ id: Int64) -> ArchiveWriter? {
        archive(id) ?? allArchives.lazy.flatMap(\.elders).first { $0.id == id }
    }

    /// Removes a few entries of relatives that nobody has opened for a week, and a relative that is empty after four.
    ///
    /// - Returns: Whether there are more.
    func sweepRelatives(of archive: ArchiveWriter, at now: WallInstant, limit: Int) throws(SQLiteError) -> Bool {
        for (relative, seen) in try relatives(of: archive) where relative.tier == nil {
            let unseen = { (weeks: Int64) in seen.advanced(byMilliseconds: weeks * Retention.week) <= now }
            guard unseen(1) else { continue }
            let removed = try transaction { () throws(SQLiteError) -> Int in
                try relative.load()
                // Once more: another process may have opened it.
                var removed = 0
                while removed < limit, try relative.removeColdest(before: UseStamp(rawValue: .max)) != nil { removed += 1 }
                try relative.store()
                if removed == 0, unseen(4) { try drop(relative) }
                return removed
            }
            if removed > 0 { return true }
        }
        return false
    }

    private func drop(_ archive: ArchiveWriter) throws(SQLiteError) {
        for sql in [SQL.deleteClaims, SQL.deleteArchive] {
            let delete = try connection.prepare(sql)
            delete.bind(archive.id, at: 1)
            try delete.run()
        }
        try connection.execute(SQL.dropArchive(archive.id))
        for other in allArchives { other.elders.removeAll { $0 === archive } }
    }
}
