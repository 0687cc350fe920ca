package import Foundation
package import VellumCore

// The archives that a file has, whether or not anyone has opened them.

/// An archive of a file.
package struct ListedArchive: Sendable {
    package var name: String
    /// The version of the cache that it holds; `nil` if it is not one.
    package var cacheVersion: String?
    /// The version of the type that the newest object was recorded with.
    package var typeVersion: Int64
    package var usage: StorageUsage
    /// When an object was last recorded or read; `nil` if there is none.
    package var lastUsed: Date?
    /// Whether it never held an object, or was dropped since: it need not exist.
    package var isUnused: Bool
}

extension DatabaseFile {
    /// Returns the archives of the file in the order of their creation. Blocks for the disk, and reads some rows of each.
    package func archiveList() throws(VellumError) -> [ListedArchive] {
        try withUsableFile { () throws(SQLiteError) in
            for archive in writing.archives { try writeTouchesBeforeQuery(of: archive) }
        }
        var found: [ListedArchive] = []
        for row in try storedArchives() where row.name != nil { found.append(try listed(row)) }
        return found
    }

    private func storedArchives() throws(VellumError) -> [ArchiveTable.Listed] {
        let rows = try withUsableFile { () throws(SQLiteError) in
            try withWriter { (writer) throws(SQLiteError) -> [ArchiveTable.Listed] in
                let list = try writer.connection.prepare(ArchiveTable.list)
                var rows: [ArchiveTable.Listed] = []
                while try list.step() { rows.append(ArchiveTable.Listed(list)) }
                return rows
            }
        }
        guard let rows else { throw unusable }
        return rows
    }

    private func listed(_ row: ArchiveTable.Listed) throws(VellumError) -> ListedArchive {
        let archive = Archive(ArchiveTable.Found(id: row.id, hash: row.hash), name: row.name ?? "")
        return try reading(archive) { (tables) throws(SQLiteError) in try tables.listed(row) }
    }

    /// Returns the name under which the file has an archive that was renamed: `name`, unless only an archive of an earlier name exists.
    ///
    /// - Parameter earlier: Earlier names, the newest first. One without a dot stands for that name after any dot.
    /// - Throws: ``VellumError/Code/contradiction`` if it stands for several archives.
    package func name(ofArchive name: String, formerly earlier: [String]) throws(VellumError) -> String {
        guard !earlier.isEmpty, stores.open(EntryKey(name)) == nil else { return name }
        let rows = try storedArchives()
        func used(where isCandidate: (String) -> Bool) throws(VellumError) -> [String] {
            var names: [String] = []
            for row in rows {
                if let candidate = row.name, isCandidate(candidate), try !listed(row).isUnused { names.append(candidate) }
            }
            return names
        }
        let normal = EntryKey(name).normalized
        guard try used(where: { $0 == normal }).isEmpty else { return name }
        for former in earlier.map({ EntryKey($0).normalized }) {
            if let exact = try used(where: { $0 == former }).first { return exact }
            guard !former.contains(".") else { continue }
            let fitting = try used { $0.hasSuffix("." + former) }
            if fitting.count > 1 { throw .ambiguous(former, fitting).located(archive: Log.displayed(name), path: path) }
            if let only = fitting.first { return only }
        }
        return name
    }

    /// Deletes all entries of an archive, its index and its limit. Their space is returned in the background.
    ///
    /// - Returns: Whether there was such an archive.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError/Code/contradiction`` if it is open in this process.
    package func dropArchive(named name: String) throws(VellumError) -> Bool {
        try transactions.refuseWrite()
        let key = EntryKey(name)
        // No thread may open it meanwhile.
        let dropped = try stores.opening.withLock { _ throws(VellumError) -> (Bool, Commit?)? in
            guard stores.open(key) == nil else { throw VellumError.stillOpen.located(archive: Log.displayed(name), path: path) }
            return try withUsableFile { () throws(SQLiteError) in
                try log.retryingWhenFull { () throws(SQLiteError) in
                    try withWriter { (writer) throws(SQLiteError) in try writer.dropArchive(named: key.normalized) }
                }
            }
        }
        guard let (wasThere, commit) = dropped else { throw unusable }
        if let commit { didCommit(commit) }
        return wasThere
    }
}

extension Writer {
    /// - Returns: Whether there was such an archive.
    fileprivate func dropArchive(named name: String) throws(SQLiteError) -> (Bool, Commit?) {
        try commitBatch()
        guard let found = try ArchiveTable.find(name, on: connection) else { return (false, nil) }
        let archive = Archive(found, name: name)
        let (_, commit) = try transaction { (transaction) throws(SQLiteError) in
            let edit = try transaction.edit(of: archive)
            try edit.dropIndex()
            try edit.removeAll()
            edit.state.totals.limit = .unknown
            CrashPoint.reached(.archiveDropped)
        }
        return (true, commit)
    }
}

extension ArchiveTables {
    fileprivate func listed(_ row: ArchiveTable.Listed) throws(SQLiteError) -> ListedArchive {
        let usage = try totals()
        let used = usage.entries > 0 ? try RecencyTables.readNewestStamp(of: id, on: connection) : .never
        let hasHeld = try hasHeldEntries()
        let isUnused = usage.entries == 0 && (row.limit == .unknown || !hasHeld)
        return ListedArchive(
            name: row.name ?? "", cacheVersion: row.cacheVersion, typeVersion: try connection.int(EntryTable.newestVersion(id))?.value ?? 0,
            usage: usage,
            lastUsed: used > .never && used.isPossible ? used.instant.date : nil, isUnused: isUnused)
    }

    /// Whether the archive ever had an entry, apart from those that it has.
    private func hasHeldEntries() throws(SQLiteError) -> Bool {
        let load = try connection.prepare(ArchiveTotals.load)
        load.bind(id, at: 1)
        guard try load.step() else { return false }
        return ArchiveTotals(load, ofArchive: id).nextID > EntryID.zero(of: id) + 1
    }
}

extension VellumError {
    fileprivate static func ambiguous(_ former: String, _ fitting: [String]) -> VellumError {
        VellumError(
            .contradiction,
            """
            The former name '\(former)' stands for several archives: \(fitting.map(Log.displayed).joined(separator: ", ")). Give the full name of \
            one in 'formerArchiveNames'.
            """)
    }

    fileprivate static var stillOpen: VellumError {
        VellumError(.contradiction, "The archive is open in this program. Close it first, or use 'deleteAll()'.")
    }
}
