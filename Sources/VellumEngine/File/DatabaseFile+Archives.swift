package import Foundation
internal import Synchronization
package import VellumCore

// The archives of the file: opened for a store, with an owner, and closed.

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
    var isUnused: Bool
}

extension DatabaseFile {
    /// Opens an archive for a store of the caller.
    ///
    /// - Important: Open a name at most once at a time: an archive has one owner.
    package func archive(
        named name: String,
        version: String? = nil,
        capacity: Capacity
    ) throws(VellumError) -> DiskArchive {
        let opened = try openArchive(
            named: name,
            version: version,
            mayReplaceVersion: true,
            disk: capacity,
            otherwise: capacity
        )
        finish(opened.limits, of: opened.archive.archive)
        return opened.archive
    }

    /// An archive that was opened, and what that changed in the file.
    struct OpenedArchive {
        var archive: DiskArchive
        var limits: LimitOutcome
        var isNew: Bool
        /// The version of the cache that it held before, if that was another one.
        var replaced: ReplacedVersion?
    }

    func openArchive(
        named name: String,
        version: String?,
        mayReplaceVersion: Bool,
        disk: Capacity?,
        otherwise fallback: Capacity
    ) throws(VellumError) -> OpenedArchive {
        let normal = EntryKey(name).normalized
        let version = version.map { EntryKey($0).normalized }
        let opened = try withUsableFile { () throws(SQLiteError) in
            try log.retryingWhenFull { () throws(SQLiteError) in
                try writing.list {
                    writer throws(SQLiteError) -> (Archive, (isNew: Bool, ReplacedVersion?)) in
                    let found = try writer.archive(named: normal)
                    // An earlier handle's relaxed writes.
                    try writer.endBatch()
                    CrashPoint.reached(.archiveCommitted)
                    let archive = Archive(
                        found,
                        name: normal,
                        cacheVersion: version,
                        limit: KnownLimit(entries: (disk ?? fallback).entries)
                    )
                    guard !access.isReading else { return (archive, (false, nil)) }
                    let replaced = try version.flatMap { version throws(SQLiteError) in
                        try writer.setVersion(
                            version,
                            of: found,
                            mayReplace: mayReplaceVersion,
                            at: clock.now()
                        )
                    }
                    try writer.prepareSweep(of: archive)
                    return (archive, (found.isNew, replaced))
                }
            }
        }
        guard let (archive, (isNew, replaced)) = opened else { throw unusable }
        if access.isReading { return try openOnlyToRead(archive, version: version) }
        if archive.upkeep.withLock({ $0.sweepMap.hasUnread }) { scheduleSweep() }
        if replaced != nil { scheduleDeletingCleared() }
        do throws(VellumError) {
            let outcome = try withUsableFile { () throws(SQLiteError) in
                try setLimit(of: archive) { stored, held in
                    stored.opened(given: disk, otherwise: fallback, holding: held)
                }
            }
            archive.keep(outcome)
            return OpenedArchive(
                archive: DiskArchive(file: self, archive),
                limits: outcome,
                isNew: isNew,
                replaced: replaced
            )
        } catch {
            remove(archive)
            throw error
        }
    }

    /// Opens an archive of a file that is only read: it keeps its limit, whatever is asked for, and
    /// evicts nothing.
    private func openOnlyToRead(
        _ archive: Archive,
        version: String?
    ) throws(VellumError) -> OpenedArchive {
        do throws(VellumError) {
            let limit = try withUsableFile { () throws(SQLiteError) in
                try withWriter(of: archive) { writer throws(SQLiteError) in
                    try writer.limit(of: archive, requiring: version)
                }
            }
            guard let limit else { throw unusable }
            archive.note(limit)
            return OpenedArchive(
                archive: DiskArchive(file: self, archive),
                limits: LimitOutcome(before: limit, after: limit),
                isNew: false
            )
        } catch {
            remove(archive)
            throw error
        }
    }

    /// Logs a lowered limit. Called without a lock.
    func finish(_ outcome: LimitOutcome, of archive: Archive) {
        if outcome.isLowered { Log.limitLowered(archive.name, outcome.change) }
    }

    /// Changes the disk limit of an archive and evicts entries above it, in small transactions.
    /// Call ``finish(_:of:)`` afterwards.
    ///
    /// - Parameter newLimit: Returns the new limit for the stored one and the number of bytes held.
    func setLimit(
        of archive: Archive,
        _ newLimit: (_ stored: StoredLimit, _ held: Int64) -> StoredLimit
    ) throws(SQLiteError) -> LimitOutcome {
        // Usually the limit is unchanged and not exceeded: then nothing is written.
        let unchanged = try log.retryingWhenFull { () throws(SQLiteError) in
            try withWriter(of: archive) { writer throws(SQLiteError) -> LimitOutcome? in
                try writer.endBatch()
                writer.forgetContents()
                let totals = try writer.contents(of: archive).totals
                let capacity = archive.limit.capacity(of: totals.limit)
                let isOver = capacity.isExceeded(
                    byBytes: Int(totals.bytes),
                    entries: Int(totals.entries)
                )
                let isSame = newLimit(totals.limit, totals.bytes) == totals.limit
                return isSame && !isOver
                    ? LimitOutcome(before: totals.limit, after: totals.limit) : nil
            }
        }
        if let unchanged { return unchanged }
        var outcome: LimitOutcome?
        while true {
            let before = outcome
            let step = try inTransaction(archive) { edit throws(SQLiteError) in
                try edit.setLimit { stored, held in
                    before == nil ? newLimit(stored, held) : stored
                }
            }
            guard let step else { throw archive.unlisted }
            archive.note(step.after)
            CrashPoint.reached(.shrinkBatchCommitted)
            outcome = before?.followed(by: step) ?? step
            if !step.isOver { break }
            // Nothing was left to evict, although the totals exceed the limit: they are damaged.
            if step.removed.isEmpty { throw .corrupt("The archive's totals are wrong.") }
        }
        guard let outcome else { throw .closedArchive }
        return outcome
    }

    /// How many bytes of the file are in no use. A part of them is returned to the file system in
    /// the background.
    package func unusedSize() throws(VellumError) -> DataSize {
        let pages = try withUsableWriter { writer throws(SQLiteError) in
            let connection = writer.connection
            return try (connection.int(SQL.freePageCount) ?? 0).value
                * (connection.int(SQL.pageSize) ?? 0).value
        }
        return DataSize(bytes: Int(pages))
    }

    /// The events of opening the file that no store has received.
    package var openingEvents: [StoreEvent] { opening.withLock { $0.events } }

    /// Returns the names of the archives in the file, in the order of their creation.
    package func archiveNames() throws(VellumError) -> [String] {
        try storedArchives().map { $0.name ?? "" }
    }

    /// Sets the owner of an archive, and reports the events of opening the file to the first one.
    func attach(_ owner: any ArchiveOwner, to archive: Archive) {
        let outcome = archive.setOwner(owner)
        do throws(SQLiteError) {
            let newest = try withWriter(of: archive) { writer throws(SQLiteError) in
                let newest = try RecencyTables.readNewestStamp(
                    of: archive.id,
                    on: writer.connection
                )
                // Later uses count on from it.
                try newest.check()
                return newest
            }
            if let newest { owner.raiseStamp(to: newest) }
        } catch {
            Log.error("The eviction order of an archive could not be read.", error)
        }
        // Whoever only looks at an archive takes nothing away.
        guard archive.isListed else { return }
        let events = opening.withLock { opening in
            defer { opening.events = [] }
            return opening.events
        }
        for event in events { owner.archiveDidReport(event) }
        guard let outcome else { return }
        if outcome.isLowered {
            owner.archiveDidReport(.limitLowered(outcome.change))
        } else if !outcome.removed.isEmpty {
            owner.archiveDidRemove(outcome.removed, .evicted)
        }
    }

    /// Commits relaxed writes and removes an archive that is being closed.
    func remove(_ archive: Archive) {
        // A forked child must not write to its parent's file.
        guard location.isOfThisProcess else { return }
        stores.remove(archive)
        writing.remove(archive) { writer in
            do throws(SQLiteError) {
                try writer.endBatch()  // It may hold this archive's writes and totals.
            } catch {
                Log.error(
                    "Relaxed writes could not be committed when an archive was closed.",
                    error
                )
            }
        }
    }
}

extension Writer {
    /// The limit of an archive, which must hold this version of a cache, if one is given.
    fileprivate func limit(
        of archive: Archive,
        requiring version: String?
    ) throws(SQLiteError) -> StoredLimit {
        if let version, try ArchiveTable.version(of: archive.id, on: connection)?.version != version
        {
            throw .versionReplaced
        }
        return try contents(of: archive).totals.limit
    }

    /// Returns an archive, and creates it if it is missing.
    ///
    /// - Parameter limit: The limit of a new archive.
    func archive(
        named name: String,
        withLimit limit: StoredLimit = .unknown
    ) throws(SQLiteError) -> ArchiveTable.Found {
        if let found = try ArchiveTable.find(name, on: connection) { return found }
        if connection.access.isReading { throw .noSuchArchive }
        return try transaction { _ throws(SQLiteError) in
            // Checked again, now that no other process can add it.
            if let found = try ArchiveTable.find(name, on: connection) { return found }
            guard var added = try ArchiveTable.insert(name, limit, on: connection) else {
                throw .closedArchive
            }
            added.isNew = true
            CrashPoint.reached(.archiveAdded)
            return added
        }.0
    }
}

extension ArchiveEdit {
    /// Changes the limit, and evicts some of the entries above it.
    fileprivate func setLimit(
        _ newLimit: (StoredLimit, Int64) -> StoredLimit
    ) throws(SQLiteError) -> LimitOutcome {
        let before = state.totals.limit
        let held = usage.bytes
        let after = newLimit(before, Int64(held))
        state.totals.limit = after
        let removed = try evict(atMost: isOnFullDisk ? 16 : 512)
        return LimitOutcome(
            before: before,
            after: after,
            removed: removed,
            removedBytes: held - usage.bytes,
            isOver: isOverLimit
        )
    }
}

// The archives that a file has, whether or not anyone has opened them.

extension DatabaseFile {
    /// Returns the archives of the file in the order of their creation. Blocks for the disk, and
    /// reads some rows of each.
    package func archiveList() throws(VellumError) -> [ListedArchive] {
        try withUsableFile { () throws(SQLiteError) in
            for archive in writing.archives { try writeTouchesBeforeQuery(of: archive) }
        }
        var found: [ListedArchive] = []
        for row in try storedArchives() where row.name != nil { found.append(try listed(row)) }
        return found
    }

    package func storedArchives() throws(VellumError) -> [ArchiveTable.Listed] {
        try withUsableWriter { writer throws(SQLiteError) in
            let list = try writer.connection.prepare(ArchiveTable.list)
            var rows: [ArchiveTable.Listed] = []
            while try list.step() { rows.append(ArchiveTable.Listed(list)) }
            return rows
        }
    }

    /// Returns the archive of a name; `nil` if there is none.
    ///
    /// - Complexity: O(log archives).
    package func storedArchive(named name: String) throws(VellumError) -> ArchiveTable.Found? {
        let normal = EntryKey(name).normalized
        return try withUsableWriter { writer throws(SQLiteError) in
            try ArchiveTable.find(normal, on: writer.connection)
        }
    }

    private func listed(_ row: ArchiveTable.Listed) throws(VellumError) -> ListedArchive {
        let archive = Archive(
            ArchiveTable.Found(id: row.id, hash: row.hash),
            name: row.name ?? ""
        )
        return try reading(archive) { tables throws(SQLiteError) in try tables.listed(row) }
    }

    /// Returns the name under which the file has an archive that was renamed: `name`, unless only
    /// an archive of an earlier name exists.
    ///
    /// - Parameter earlier: Earlier names, the newest first. One without a dot stands for that name
    ///   after any dot.
    /// - Throws: ``VellumError/Code/contradiction`` if it stands for several archives.
    package func name(
        ofArchive name: String,
        formerly earlier: [String]
    ) throws(VellumError) -> String {
        guard !earlier.isEmpty, stores.open(EntryKey(name)) == nil else { return name }
        let rows = try storedArchives()
        func used(where isCandidate: (String) -> Bool) throws(VellumError) -> [String] {
            var names: [String] = []
            for row in rows {
                if let candidate = row.name, isCandidate(candidate), try !listed(row).isUnused {
                    names.append(candidate)
                }
            }
            return names
        }
        let normal = EntryKey(name).normalized
        guard try used(where: { $0 == normal }).isEmpty else { return name }
        for former in earlier.map({ EntryKey($0).normalized }) {
            if let exact = try used(where: { $0 == former }).first { return exact }
            guard !former.contains(".") else { continue }
            let fitting = try used { $0.hasSuffix("." + former) }
            if fitting.count > 1 {
                throw .ambiguous(former, fitting).located(archive: Log.displayed(name), path: path)
            }
            if let only = fitting.first { return only }
        }
        return name
    }

    /// Returns the archives of the same type name in other modules that nobody has open here: the
    /// type may have been renamed or moved.
    package func namesakes(of name: String) throws(VellumError) -> [String] {
        func short(_ name: String) -> Substring {
            name.lastIndex(of: ".").map { name[name.index(after: $0)...] } ?? name[...]
        }
        let normal = EntryKey(name).normalized
        var names: [String] = []
        for row in try storedArchives() {
            guard let other = row.name, other != normal, short(other) == short(normal),
                stores.open(EntryKey(other)) == nil, try !listed(row).isUnused
            else { continue }
            names.append(other)
        }
        return names
    }

    /// Deletes all entries of an archive, its index and its limit. Their space is returned in the
    /// background.
    ///
    /// - Returns: Whether there was such an archive.
    /// - Complexity: O(log n).
    /// - Throws: ``VellumError/Code/contradiction`` if it is open in this process.
    package func dropArchive(named name: String) throws(VellumError) -> Bool {
        try transactions.refuseWrite()
        let key = EntryKey(name)
        // No thread may open it meanwhile.
        let dropped = try stores.opening.withLongLock { _ throws(VellumError) -> (Bool, Commit?)? in
            guard stores.open(key) == nil else {
                throw VellumError.stillOpen.located(archive: Log.displayed(name), path: path)
            }
            return try withUsableFile { () throws(SQLiteError) in try drop(key) }
        }
        guard let (wasThere, commit) = dropped else { throw unusable }
        if let commit { didCommit(commit) }
        return wasThere
    }

    private func drop(_ key: EntryKey) throws(SQLiteError) -> (Bool, Commit?)? {
        try log.retryingWhenFull { () throws(SQLiteError) in
            try withWriter { writer throws(SQLiteError) in
                try writer.dropArchive(named: key.normalized)
            }
        }
    }
}

extension Writer {
    /// - Returns: Whether there was such an archive.
    fileprivate func dropArchive(named name: String) throws(SQLiteError) -> (Bool, Commit?) {
        try endBatch()
        guard let found = try ArchiveTable.find(name, on: connection) else { return (false, nil) }
        let archive = Archive(found, name: name)
        defer { forget(archive) }
        // One that was dropped keeps its row.
        let totals = try contents(of: archive).totals
        guard totals.entries > 0 || totals.limit != .unknown else { return (false, nil) }
        let (_, commit) = try transaction { transaction throws(SQLiteError) in
            let edit = try transaction.edit(of: archive)
            try edit.dropIndex()
            try edit.removeSizing()
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
        let used =
            usage.entries > 0 ? try RecencyTables.readNewestStamp(of: id, on: connection) : .never
        let hasHeld = try hasHeldEntries()
        let isUnused = usage.entries == 0 && (row.limit == .unknown || !hasHeld)
        return ListedArchive(
            name: row.name ?? "",
            cacheVersion: row.cacheVersion,
            typeVersion: try connection.int(EntryTable.newestVersion(id))?.value ?? 0,
            usage: usage,
            lastUsed: used > .never && used.isPossible ? used.instant.date : nil,
            isUnused: isUnused
        )
    }

    /// Whether the archive ever had an entry, apart from those that it has.
    private func hasHeldEntries() throws(SQLiteError) -> Bool {
        try loadTotals()?.nextID ?? 0 > EntryID.zero(of: id) + 1
    }
}

extension VellumError {
    fileprivate static func ambiguous(_ former: String, _ fitting: [String]) -> VellumError {
        VellumError(
            .contradiction,
            """
            The former name '\(former)' stands for several archives: \
            \(fitting.map(Log.displayed).joined(separator: ", ")). Give the full name of one in \
            'formerArchiveNames'.
            """
        )
    }

    fileprivate static var stillOpen: VellumError {
        VellumError(
            .contradiction,
            "The archive is open in this program. Close it first, or use 'deleteAll()'."
        )
    }
}
