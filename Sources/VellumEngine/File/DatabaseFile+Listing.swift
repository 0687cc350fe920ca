package import Foundation
package import VellumCore

// The archives that a file has, whether or not anyone has opened them.

/// An archive of a file.
package struct ListedArchive: Sendable {
    package var name: String
    /// The version of the type that the newest object was recorded with.
    package var typeVersion: Int64
    package var usage: StorageUsage
    /// When an object was last recorded or read; `nil` if that is not known.
    package var lastUsed: Date?
    /// Whether it never held an object, or was dropped since: it need not exist.
    package var isUnused: Bool
}

extension DatabaseFile {
    /// Returns the archives of the file in the order of their creation. Blocks for the disk, and other writers while it reads some rows of each.
    package func archiveList() throws(VellumError) -> [ListedArchive] {
        try withUsableFile { () throws(SQLiteError) in
            do throws(SQLiteError) {
                try writeAllTouches()
            } catch {
                // Then `lastUsed` lacks the uses that only memory knows.
                guard [.diskFull, .busy, .readOnly].contains(VellumError(error).code) else { throw error }
            }
        }
        return try storedArchives()
    }

    private func storedArchives() throws(VellumError) -> [ListedArchive] {
        let list = try withUsableFile { () throws(SQLiteError) in
            try withWriter { (writer) throws(SQLiteError) -> [ListedArchive] in
                try writer.commitBatch()
                var found: [ListedArchive] = []
                let list = try writer.connection.prepare(ArchiveTable.list)
                while try list.step() {
                    if let archive = try writer.listed(ArchiveTable.Listed(list)) { found.append(archive) }
                }
                return found
            }
        }
        guard let list else { throw .closed }
        return list
    }

    /// Returns the name under which the file has an archive that was renamed: `name`, unless only an archive of an earlier name exists.
    ///
    /// - Parameter earlier: Earlier names, the newest first. One without a dot stands for that name after any dot.
    /// - Throws: ``VellumError/Code/contradiction`` if it stands for several archives.
    package func name(ofArchive name: String, formerly earlier: [String]) throws(VellumError) -> String {
        guard !earlier.isEmpty, stores.open(EntryKey(name)) == nil else { return name }
        let present = try storedArchives().filter { !$0.isUnused }.map(\.name)
        let normal = EntryKey(name).normalized
        guard !present.contains(normal) else { return name }
        for former in earlier.map({ EntryKey($0).normalized }) {
            if present.contains(former) { return former }
            guard !former.contains(".") else { continue }
            let fitting = present.filter { $0.hasSuffix("." + former) }
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
        let key = EntryKey(name)
        let state = try stores.opening.withLock { _ throws(VellumError) -> WriteState?? in
            guard stores.open(key) == nil else { throw VellumError.stillOpen.located(archive: Log.displayed(name), path: path) }
            return try withUsableFile { () throws(SQLiteError) in
                try retryingWhenFull { () throws(SQLiteError) in
                    try withWriter { (writer) throws(SQLiteError) -> WriteState? in
                        guard try writer.dropArchive(named: key.normalized) else { return nil }
                        return WriteState(writer)
                    }
                }
            }
        }
        guard let state else { throw .closed }
        guard let state else { return false }
        scheduleMaintenance(state)
        return true
    }
}

extension WriteConnection {
    fileprivate func listed(_ row: ArchiveTable.Listed) throws(SQLiteError) -> ListedArchive? {
        guard let name = row.name else { return nil }
        let reader = ArchiveReader(id: row.id, checksum: Checksum(archiveName: name), connection: connection)
        let usage = try reader.totals()
        let stamp = try connection.int(RecencyTables.newestStamp(row.id)) ?? 0
        let hasHeld = try reader.hasHeldEntries()
        let isNew = try connection.int(EntryTable.hasRows(row.id)) == 0 && !hasHeld
        let isUnused = usage.entries == 0 && (row.limit == .unknown || isNew)
        return ListedArchive(
            name: name, typeVersion: try connection.int(EntryTable.newestVersion(row.id)) ?? 0, usage: usage,
            lastUsed: stamp > 0 && usage.entries > 0 ? UseStamp(rawValue: stamp).instant.date : nil, isUnused: isUnused)
    }

    fileprivate func dropArchive(named name: String) throws(SQLiteError) -> Bool {
        try commitBatch()
        guard let id = try ArchiveTable.find(name, on: connection) else { return false }
        let known = self.archive(id)
        let archive = known ?? ArchiveWriter(id: id, name: name, connection: connection)
        // Listed while it changes, so that other processes are told.
        if known == nil { add(archive) }
        defer { if known == nil { forget(archive) } }
        try transaction { () throws(SQLiteError) in
            try archive.load()
            try archive.index.drop()
            try archive.removeAll()
            archive.totals.limit = .unknown
            CrashPoint.reached(.archiveDropped)
        }
        return true
    }
}

extension ArchiveReader {
    /// Whether there ever was an entry.
    fileprivate func hasHeldEntries() throws(SQLiteError) -> Bool {
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
