internal import Foundation
internal import Synchronization
internal import VellumCore

/// The connection of this process that writes to the file, what it has prepared for the archives,
/// and what its last commit left behind.
///
/// Guarded by ``WriterLock``, so Swift's checks for exclusive access are off. A file that is
/// suspended has none.
final class Writer {
    let connection: Connection
    /// What outlives a writer: the next one continues with it when the file is resumed.
    @exclusivity(unchecked) var lasting: Lasting
    /// The open transaction of relaxed writes, if there is one. Readers cannot see it.
    @exclusivity(unchecked) private(set) var batch: Transaction? {
        didSet { openBatch.exists.store(batch != nil, ordering: .releasing) }
    }
    private let openBatch: OpenBatch

    /// Where changes are announced to other processes; `nil` for a file that only this process
    /// uses, such as a new one being salvaged.
    private let changesFile: ChangesFile?
    let statements: Statements
    let pageSize: Int64
    @exclusivity(unchecked) private var tables: [Int64: ArchiveTables] = [:]
    /// What the last commit left, as far as this process knows.
    @exclusivity(unchecked) private var left = Left()
    /// For how many bytes of the file room was made, in the file and in the log; 0 if it is
    /// unknown. A checkpoint may have taken it from the file since.
    @exclusivity(unchecked) var bytesWithRoom: Int64 = 0

    struct Statements {
        let begin: Statement
        let commit: Statement
        let pageCount: Statement
    }

    struct Lasting {
        /// The number of transactions committed so far, which a sync of the log covers.
        var commits: UInt64 = 0
        /// The number of threads that retry a write which failed because the disk was full. While
        /// it is not zero, entries are evicted before others are inserted, and by the uses in the
        /// file alone, because writing the others takes space.
        var retriesOnFullDisk = 0
        /// The number of those for which a few rows are all that the log has room to delete.
        var marksRemovals = 0
        /// Archives of which a warning was logged, because two versions of a cache replaced each
        /// other.
        var warnedOfVersions: Set<Int64> = []
    }

    /// For how many milliseconds it waits for another process under the lock of this one. Longer
    /// waits are without it (``WriterLock``).
    static let patience: Int64 = 10

    private struct Left {
        /// SQLite's counter of commits; another process has written if it is another one.
        var dataVersion: UInt32?
        /// Grows whenever another process has written: what was read before is outdated.
        var era: UInt64 = 0
        /// Grows with each write: what readers on this connection know is outdated.
        var snapshot: UInt64 = 0
        /// The number of bytes removed since space was last returned to the file system.
        var bytesRemoved: Int64 = 0
        /// Whether there may be rows to delete: of entries that were there when their archive was
        /// emptied, and of those in ``RemovedTable``.
        var mayHoldCleared = false
        /// What a batch has made due that was committed before something else began.
        /// ``DatabaseFile/commitBatch()`` or the next commit says it.
        var untold: Commit.Due?
    }

    /// - Parameters:
    ///   - openBatch: Shows whether there is an open transaction of relaxed writes.
    ///   - lasting: What an earlier writer of the file has left.
    init(
        _ connection: Connection,
        notifying changesFile: ChangesFile? = nil,
        openBatch: OpenBatch = OpenBatch(),
        _ lasting: Lasting = Lasting()
    ) throws(SQLiteError) {
        self.connection = connection
        self.openBatch = openBatch
        self.changesFile = changesFile
        self.lasting = lasting
        statements = Statements(
            begin: try connection.prepare(SQL.beginWriting),
            commit: try connection.prepare(SQL.commit),
            pageCount: try connection.prepare(SQL.pageCount)
        )
        pageSize = try connection.int(SQL.pageSize)?.value ?? 4096
        connection.watchLog()
        connection.busyHandler.milliseconds = Self.patience
    }

    deinit { openBatch.exists.store(false, ordering: .releasing) }

    /// Counts a commit that is not one of ``transaction(_:)``: of another process, so that a sync
    /// of the log covers it, or of a statement that commits by itself.
    func countCommit() { lasting.commits += 1 }

    /// Whether transactions take as little space as possible.
    var isOnFullDisk: Bool { lasting.retriesOnFullDisk > 0 }

    /// Whether the file was set aside.
    var isFileRetired: Bool { changesFile?.page.isRetired ?? false }

    // MARK: Archives

    /// The tables of an archive, as the open transaction sees them.
    func tables(of archive: Archive) -> ArchiveTables {
        if let tables = tables[archive.id], tables.checksum == archive.checksum { return tables }
        let new = ArchiveTables(id: archive.id, checksum: archive.checksum, connection: connection)
        tables[archive.id] = new
        return new
    }

    /// Forgets an archive that was closed.
    func forget(_ archive: Archive) { tables[archive.id] = nil }

    /// What the archive holds, with relaxed writes that are not committed yet.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of
    ///   the cache.
    func contents(of archive: Archive) throws(SQLiteError) -> ArchiveContents {
        for edit in batch?.edits ?? [] where edit.archive === archive { return edit.state.contents }
        return try contents(of: archive, tables(of: archive))
    }

    /// What the archive holds without open relaxed writes.
    func contents(
        of archive: Archive,
        _ tables: ArchiveTables
    ) throws(SQLiteError) -> ArchiveContents {
        if let known = tables.contents, known.era == left.era { return known }
        var contents = try tables.readContents(of: archive)
        contents.era = left.era
        tables.contents = contents
        return contents
    }

    /// Reads what archives hold again when they are used next.
    func forgetContents() { left.era += 1 }

    /// Runs `body` with the tables of an archive, which show the open transaction.
    func reading(
        _ archive: Archive,
        _ body: (ArchiveTables) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        // An archive that is only listed leaves nothing behind.
        let isKept = archive.isListed || tables[archive.id] != nil
        defer { if !isKept { forget(archive) } }
        do throws(SQLiteError) {
            let isHiding = try hideRemoved()
            defer { if isHiding { showRemoved() } }
            try body(try tablesForReading(archive))
        } catch {
            noticeLostBatch()
            throw error
        }
    }

    /// The same, so that no commit of another process falls between two reads.
    func readingInOneSnapshot(
        _ archive: Archive,
        _ body: (ArchiveTables) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        guard batch == nil else { return try reading(archive, body) }
        try connection.execute(SQL.begin)
        do throws(SQLiteError) {
            try reading(archive, body)
            try connection.execute(SQL.commit)
        } catch {
            rollBack()
            throw error
        }
    }

    /// One copy for all callers of ``reading(_:_:)``, whose closures are compiled into it.
    @inline(never)
    private func tablesForReading(_ archive: Archive) throws(SQLiteError) -> ArchiveTables {
        let tables = tables(of: archive)
        // Without an open transaction another process may have written since the last call.
        if batch == nil { left.snapshot += 1 }
        tables.snapshot = left.snapshot
        // The totals of a transaction are in memory until it is committed, and a reader reads their
        // row.
        for edit in batch?.edits ?? [] where edit.id == archive.id { try edit.store() }
        if let version = archive.cacheVersion { try tables.require(version: version) }
        return tables
    }

    var mayHoldCleared: Bool { left.mayHoldCleared }

    func forgetRemovals() { left.bytesRemoved = 0 }

    /// Deletes up to `limit` entries that were removed on a full disk, or were there when their
    /// archive was emptied.
    ///
    /// - Returns: Whether any were deleted, so that there may be more.
    func deleteCleared(limit: Int64) throws(SQLiteError) -> Bool {
        if mayHaveRemoved, try deleteRemoved(limit: Int(limit)) { return true }
        guard let id = try findCleared() else { return false }
        try editUnnamed(id) { edit throws(SQLiteError) in try edit.removeCleared(limit: limit) }
        return true
    }

    /// Runs `body` in a transaction with an archive that need not be open.
    private func editUnnamed(
        _ id: Int64,
        deletesRemoved: Bool = false,
        _ body: (ArchiveEdit) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        // What is prepared for the archive is for its name.
        let named = tables.removeValue(forKey: id)
        defer {
            named?.contents = nil
            tables[id] = named
        }
        _ = try transaction(deletesRemoved: deletesRemoved) { transaction throws(SQLiteError) in
            // It need not hold the version for which it is open. Nothing is looked for by its key.
            let unnamed = Archive(
                ArchiveTable.Found(id: id, hash: SeededHash(seed: 0)),
                name: ""
            )
            try body(transaction.edit(of: unnamed))
        }
    }

    // MARK: Entries removed on a full disk

    func hasRemoved() throws(SQLiteError) -> Bool {
        try connection.int(Features.hasRemovals) ?? 0 > 0
    }

    /// Whether ``RemovedTable`` may have rows.
    private var mayHaveRemoved: Bool { (changesFile?.page.removals ?? 0) & 1 == 1 }

    /// Whether an earlier process has left rows that are to be deleted.
    func findLeftRows() throws(SQLiteError) -> Bool {
        if try hasRemoved() {
            changesFile?.page.beginRemovals()
            left.mayHoldCleared = true
            return true
        }
        return try findCleared() != nil
    }

    /// Notes what was removed, for whoever deletes its rows.
    func markRemovals(_ ids: [Int64]) throws(SQLiteError) {
        guard !ids.isEmpty else { return }
        try RemovedTable.write(ids, on: connection)
        // Before the commit: a reader looks for them in the first snapshot that has them.
        changesFile?.page.beginRemovals()
        left.mayHoldCleared = true
        CrashPoint.reached(.removalsMarked)
    }

    /// - Returns: Whether any rows were deleted, so that there may be more.
    private func deleteRemoved(limit: Int) throws(SQLiteError) -> Bool {
        guard try hasRemoved() else { return false }
        let ids = try RemovedTable.first(limit, on: connection)
        guard let first = ids.first else { return false }
        try editUnnamed(first >> EntryID.bits, deletesRemoved: true) { edit throws(SQLiteError) in
            for id in ids { try edit.deleteRows(of: id) }
            try RemovedTable.forget(ids, on: connection)
        }
        CrashPoint.reached(.removedDeleted)
        return true
    }

    /// Deletes the rows of removed entries, as many as the log has room for.
    ///
    /// - Returns: Whether some are left.
    /// - Throws: An error of a full disk if there was no room for any.
    func deleteManyRemoved() throws(SQLiteError) -> Bool {
        guard mayHaveRemoved else { return false }
        var hasDeleted = false
        do throws(SQLiteError) {
            while try deleteRemoved(limit: 16) { hasDeleted = true }
            return false
        } catch {
            guard error.isFull, hasDeleted else { throw error }
            return true
        }
    }

    /// Deletes the rows of all removed entries, and empties the log whenever it is full.
    private func deleteAllRemoved() throws(SQLiteError) {
        while try deleteManyRemoved() {
            do throws(SQLiteError) {
                try connection.restartLog(truncates: true)
                forgetRoom()
            } catch {
                // The caller empties it, and waits longer for readers.
                Log.error("The log could not be emptied on a full disk.", error)
                throw .full
            }
        }
    }

    /// Hides removed entries from what is read outside of a transaction that writes, until
    /// ``showRemoved()``.
    ///
    /// - Returns: Whether there are any.
    private func hideRemoved() throws(SQLiteError) -> Bool {
        guard mayHaveRemoved, try hasRemoved() else { return false }
        do throws(SQLiteError) {
            try RemovedTable.hide(on: connection)
        } catch {
            // A view would keep the writer from its table.
            showRemoved()
            throw error
        }
        return true
    }

    private func showRemoved() {
        do throws(SQLiteError) {
            try RemovedTable.show(on: connection)
        } catch {
            Log.error("Removed entries could not be shown to the writer.", error)
        }
    }

    /// The number of an archive that was emptied and still has entries from before.
    func findCleared() throws(SQLiteError) -> Int64? {
        let id = try ArchiveTable.firstCleared(on: connection)
        left.mayHoldCleared = id != nil
        return id
    }

    // MARK: Transactions

    /// Runs `body` in its own transaction, which is rolled back if `body` or the commit throws, and
    /// tells the owners what it removed.
    func transaction<Result>(
        deletesRemoved: Bool = false,
        _ body: (Transaction) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> (Result, Commit) {
        try endBatch()
        let transaction = try begin(deletesRemoved: deletesRemoved)
        defer { transaction.endChange() }
        do throws(SQLiteError) {
            let result = try body(transaction)
            transaction.beginChange()
            let commit = try transaction.commit()
            commit.tellOwners()
            return (result, commit)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Begins a transaction, in which no other process can write.
    ///
    /// - Parameters:
    ///   - marksRemovals: Whether it only removes entries, and writes which.
    ///   - deletesRemoved: Whether it deletes the rows of removed entries. No other begins before
    ///     that is done: it would find them.
    /// - Throws: An error of a full disk also if there is no room to delete those rows.
    func begin(
        marksRemovals: Bool = false,
        deletesRemoved: Bool = false
    ) throws(SQLiteError) -> Transaction {
        if let refusal = connection.writeRefusal { throw refusal }
        if isFileRetired { throw .vanished }
        try statements.begin.run()
        // A process that died in a commit has not ended it.
        changesFile?.page.finishOthers()
        CrashPoint.reached(.begun)
        let version = connection.dataVersion()
        if version != left.dataVersion {
            forgetContents()
            left.dataVersion = version
            bytesWithRoom = 0
        }
        left.snapshot += 1
        if mayHaveRemoved, !deletesRemoved {
            if try hasRemoved() {
                rollBack()
                left.mayHoldCleared = true
                try deleteAllRemoved()
                return try begin(marksRemovals: marksRemovals)
            }
            // In a transaction: nobody else is about to commit some.
            changesFile?.page.endRemovals()
        }
        return Transaction(self, marksRemovals: marksRemovals)
    }

    func rollBack() {
        CrashPoint.reached(.rollingBack)
        left.snapshot += 1
        // Of a COMMIT that failed it is unknown what it left.
        forgetContents()
        // After some errors SQLite has already rolled back.
        guard connection.isInTransaction else { return }
        do throws(SQLiteError) {
            try connection.execute(SQL.rollback)
        } catch {
            Log.error("A transaction could not be rolled back.", error)
        }
    }

    /// Undoes a part of the open transaction, or all of it if that fails.
    func undoPart() {
        left.snapshot += 1
        do throws(SQLiteError) {
            try connection.execute(SQL.undoPart)
        } catch {
            Log.error("A part of a transaction could not be rolled back alone.", error)
            rollBack()
        }
    }

    // MARK: The batch

    /// Keeps a transaction open for more relaxed writes (decision 11).
    ///
    /// - Parameter bytes: How many bytes the last call has added.
    /// - Returns: What the last call has made visible.
    func keep(_ transaction: Transaction, adding bytes: Int) -> Commit {
        transaction.count(bytes: bytes)
        left.snapshot += 1
        batch = transaction
        var commit = commit(of: transaction)
        commit.due.isOpen = true
        return commit
    }

    /// Commits the open transaction of relaxed writes, if there is one. If that fails, the writes
    /// are lost and their owners notified.
    ///
    /// - Returns: What it has changed, or what is due of a batch that has ended without a word
    ///   (``endBatch()``).
    func commitBatch() throws(SQLiteError) -> Commit? {
        noticeLostBatch()
        guard let batch else { return left.untold == nil ? nil : commit(of: nil) }
        do throws(SQLiteError) {
            CrashPoint.reached(.batchCommitBegins)
            let commit = try batch.commit()
            self.batch = nil
            CrashPoint.reached(.batchCommitted)
            commit.tellOwners()
            return commit
        } catch {
            loseBatch(error)
            throw error
        }
    }

    /// Commits the open transaction of relaxed writes, because something else begins. What that
    /// makes due is said by the next commit.
    func endBatch() throws(SQLiteError) {
        if let commit = try commitBatch() { left.untold = commit.due }
    }

    /// Detects a lost batch: after some read errors SQLite rolls back the whole transaction, even
    /// one that another statement began.
    func noticeLostBatch() {
        if batch != nil, !connection.isInTransaction { loseBatch(.lostTransaction) }
    }

    func loseBatch(_ error: SQLiteError) {
        let edits = batch?.edits ?? []
        batch = nil
        rollBack()
        for edit in edits { edit.archive.owner?.archiveDidLoseWrites(VellumError(error)) }
    }
}

// The end of a transaction.

extension Writer {
    func runCommit() throws(SQLiteError) { try statements.commit.run() }

    /// Announces the changes of a transaction to other processes, if there are any.
    ///
    /// - Returns: The number of the last change; `nil` if nothing is announced.
    func announce(_ edits: [ArchiveEdit]) throws(SQLiteError) -> UInt64? {
        guard let changesFile else { return nil }
        var announcements: [ChangePage.Announcement] = []
        for edit in edits where !edit.state.changed.isEmpty {
            announcements.append(
                ChangePage.Announcement(archive: edit.archive.id, keys: edit.state.changed)
            )
        }
        guard !announcements.isEmpty else { return nil }
        OpenDatabases.shared.commits.wrappingAdd(1, ordering: .relaxed)
        let announced = changesFile.page.announce(
            announcements,
            by: changesFile.author,
            of: changesFile.process
        )
        var changes = announced.changes[...]
        for edit in edits where !edit.state.changed.isEmpty {
            edit.state.change = changes.popFirst()
        }
        guard !changesFile.page.isRetired else {
            finish(announced.last)
            throw .vanished
        }
        return announced.last
    }

    func finish(_ announced: UInt64?) {
        guard let announced else { return }
        changesFile?.page.finish(announced)
        OpenDatabases.shared.commits.wrappingSubtract(1, ordering: .releasing)
    }

    /// Notes what a transaction leaves behind that was committed.
    func didCommit(_ transaction: Transaction) -> Commit {
        lasting.commits += 1
        left.dataVersion = connection.dataVersion()  // Our own commits change it, too.
        left.snapshot += 1
        for edit in transaction.edits {
            edit.didCommit(era: left.era)
            left.bytesRemoved += edit.state.bytesRemoved
            if edit.state.hasEmptied { left.mayHoldCleared = true }
        }
        var commit = commit(of: transaction)
        for edit in transaction.edits where edit.state.hasEvictedByDefault {
            commit.due.evictionsByDefault.append((edit.archive, edit.state.totals.limit.size))
        }
        return commit
    }

    /// What has changed since the last call, and what is due.
    private func commit(of transaction: Transaction?) -> Commit {
        var commit = Commit(
            changes: transaction?.takeChanges() ?? [],
            due: left.untold ?? Commit.Due()
        )
        left.untold = nil
        commit.due.commits = lasting.commits
        commit.due.logFrames = connection.logFrames
        commit.due.bytesRemoved = left.bytesRemoved
        commit.due.mayHoldCleared = left.mayHoldCleared
        for edit in transaction?.edits ?? [] where edit.archive.mayExpire.load(ordering: .relaxed) {
            commit.due.earliestEnd = min(
                commit.due.earliestEnd,
                edit.archive.upkeep.withLock { $0.sweepMap.earliest }
            )
        }
        return commit
    }
}

/// Whether an open transaction holds relaxed writes, which readers cannot see. Read without the
/// writer's lock.
final class OpenBatch: Sendable {
    let exists = Atomic(false)
}
