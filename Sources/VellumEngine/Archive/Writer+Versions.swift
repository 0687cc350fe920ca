internal import VellumCore

/// A version of a cache that was replaced when the cache was opened with another one.
struct ReplacedVersion: Sendable {
    var change: VersionChange
    /// Whether the replaced version was not an hour old. Only once while the file is open, for a
    /// warning.
    var isSecondWithinAnHour: Bool
}

extension Writer {
    /// Stores the version of the cache that an archive holds, and empties the archive if it holds
    /// another one, in one transaction. Nothing is written if the archive holds this version
    /// already (decision 61).
    ///
    /// - Parameter mayReplace: Whether the archive may be emptied.
    /// - Returns: What was replaced; `nil` for an empty archive, and for one that holds this
    ///   version.
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive may not be emptied.
    /// - Complexity: O(1). The entries are deleted in the background.
    func setVersion(
        _ version: String,
        of found: ArchiveTable.Found,
        mayReplace: Bool,
        at now: WallInstant
    ) throws(SQLiteError) -> ReplacedVersion? {
        if try ArchiveTable.version(of: found.id, on: connection)?.version == version { return nil }
        // Whatever version it holds.
        let archive = Archive(found, name: "")
        let (replaced, _) = try transaction { transaction throws(SQLiteError) in
            // Read again, because no other process can change it during this transaction.
            try storeVersion(version, of: archive, transaction, mayReplace: mayReplace, at: now)
        }
        CrashPoint.reached(.versionReplaced)
        return replaced
    }

    private func storeVersion(
        _ version: String,
        of archive: Archive,
        _ transaction: Transaction,
        mayReplace: Bool,
        at now: WallInstant
    ) throws(SQLiteError) -> ReplacedVersion? {
        let present = try ArchiveTable.version(of: archive.id, on: connection)
        guard present?.version != version else { return nil }
        let edit = try transaction.edit(of: archive)
        let removed = edit.usage
        guard present != nil || removed.entries > 0 else {
            // Nothing was cleared yet.
            try ArchiveTable.setVersion(
                version,
                since: WallInstant(rawValue: 0),
                of: archive.id,
                on: connection
            )
            return nil
        }
        guard mayReplace else { throw .versionReplaced }
        try edit.removeAll()
        try edit.removeSizing()
        CrashPoint.reached(.versionEmptied)
        try RetentionTable.deleteAll(of: archive.id, on: connection)
        try ArchiveTable.setVersion(version, since: now, of: archive.id, on: connection)
        guard removed.entries > 0 else { return nil }
        let isYoung =
            present.map {
                $0.since.rawValue > 0 && $0.since > now.advanced(byMilliseconds: -3_600_000)
                    && $0.since <= now
            } ?? false
        return ReplacedVersion(
            change: VersionChange(from: present?.version, to: version, removed: removed),
            isSecondWithinAnHour: isYoung && lasting.warnedOfVersions.insert(archive.id).inserted
        )
    }
}
