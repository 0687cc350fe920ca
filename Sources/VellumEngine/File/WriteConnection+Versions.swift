internal import VellumCore

/// A version of a cache that was replaced when the cache was opened with another one.
struct ReplacedVersion: Sendable {
    var change: VersionChange
    /// Whether the replaced version was not an hour old. Only once in the lifetime of a connection, for a warning.
    var isSecondWithinAnHour: Bool
}

extension WriteConnection {
    /// Stores the version of the cache that an archive holds, and empties the archive if it holds another one, in one transaction. Nothing is
    /// written if the archive holds this version already.
    ///
    /// - Parameters:
    ///   - archive: A writer that the caller is about to add.
    ///   - mayReplace: Whether the archive may be emptied.
    /// - Returns: What was replaced; `nil` for an empty archive, and for one that holds this version.
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive may not be emptied.
    /// - Complexity: O(1). The entries are deleted in the background.
    func setVersion(
        _ version: String, of archive: ArchiveWriter, mayReplace: Bool, at now: WallInstant
    ) throws(SQLiteError) -> ReplacedVersion? {
        if try ArchiveTable.version(of: archive.id, on: connection)?.version == version { return nil }
        let open = archives[archive.id]
        // Listed while it changes, so that other processes are notified.
        archives.add(archive)
        do throws(SQLiteError) {
            let replaced = try transaction { () throws(SQLiteError) in
                // Read again, because no other process can change it during this transaction.
                try storeVersion(version, of: archive, mayReplace: mayReplace, at: now)
            }
            CrashPoint.reached(.versionReplaced)
            open?.versionWasReplaced()
            return replaced
        } catch {
            if let open { archives.add(open) } else { archives.remove(archive.id) }
            throw error
        }
    }

    private func storeVersion(
        _ version: String, of archive: ArchiveWriter, mayReplace: Bool, at now: WallInstant
    ) throws(SQLiteError) -> ReplacedVersion? {
        let present = try ArchiveTable.version(of: archive.id, on: connection)
        guard present?.version != version else { return nil }
        try archive.load()
        let removed = archive.held
        guard present != nil || removed.entries > 0 else {
            // Nothing was cleared yet.
            try ArchiveTable.setVersion(version, since: WallInstant(rawValue: 0), of: archive.id, on: connection)
            return nil
        }
        guard mayReplace else { throw .versionReplaced }
        try archive.removeAll()
        CrashPoint.reached(.versionEmptied)
        try RetentionTable.deleteAll(of: archive.id, on: connection)
        try ArchiveTable.setVersion(version, since: now, of: archive.id, on: connection)
        guard removed.entries > 0 else { return nil }
        let isYoung =
            present.map { $0.since.rawValue > 0 && $0.since > now.advanced(byMilliseconds: -3_600_000) && $0.since <= now } ?? false
        return ReplacedVersion(
            change: VersionChange(from: present?.version, to: version, removed: removed),
            isSecondWithinAnHour: isYoung && warnedOfVersions.insert(archive.id).inserted)
    }
}
