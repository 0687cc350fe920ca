internal import Foundation
internal import Synchronization
internal import VellumCore

/// Whether an open transaction holds relaxed writes, which readers cannot see. Read without the writer's lock.
final class OpenBatch: Sendable {
    let exists = Atomic(false)
}

/// The only connection of this process that writes to the file, and its transactions. Guarded by ``DatabaseFile/writer``,
/// which excludes other accesses, so none is checked when it runs.
final class WriteConnection {
    @exclusivity(unchecked) private(set) var connection: Connection
    /// The number of transactions committed so far, which a sync of the log covers.
    @exclusivity(unchecked) private(set) var commits: UInt64 = 0
    /// The open transaction of relaxed writes, if there is one.
    private(set) var batch: Batch? {
        didSet { openBatch.exists.store(batch != nil, ordering: .releasing) }
    }
    private let openBatch: OpenBatch

    /// Where changes are announced to other processes; `nil` for a file that only this process uses, such as a new one being salvaged.
    private let changesFile: ChangesFile?

    @exclusivity(unchecked) private var begin: Statement
    @exclusivity(unchecked) private var commit: Statement
    @exclusivity(unchecked) var pageCount: Statement
    let pageSize: Int64
    /// For how many bytes of the file room was made, in the file and in the log; 0 if it is unknown. A checkpoint may have taken it from the
    /// file since.
    @exclusivity(unchecked) private var bytesWithRoom: Int64 = 0
    let archives = ArchiveRegistry()
    /// Archives of which a warning was logged, because two versions of a cache replaced each other.
    @exclusivity(unchecked) var warnedOfVersions: Set<Int64> = []
    @exclusivity(unchecked) private var dataVersion: UInt32?

    /// The size of an open transaction of relaxed writes.
    struct Batch {
        var writes = 0
        var bytes = 0

        /// Whether the transaction must be committed, which bounds what a killed process may lose.
        var isFull: Bool { writes >= 256 || bytes >= 1 << 20 }
    }

    init(_ connection: Connection, notifying changesFile: ChangesFile? = nil, openBatch: OpenBatch = OpenBatch()) throws(SQLiteError) {
        self.connection = connection
        self.openBatch = openBatch
        self.changesFile = changesFile
        begin = try connection.prepare(SQL.beginWriting)
        commit = try connection.prepare(SQL.commit)
        pageCount = try connection.prepare(SQL.pageCount)
        pageSize = try connection.int(SQL.pageSize)?.value ?? 4096
        connection.watchLog()
    }

    // MARK: The connection

    /// Closes the file but keeps the state of the archives. ``reopen(path:)`` continues from here.
    func release() throws(SQLiteError) {
        // An empty database in memory replaces the connection meanwhile, and refuses every statement.
        let placeholder = try Connection(path: ":memory:")
        try use(placeholder)
        placeholder.refusal = .suspended
    }

    /// Opens the file again after ``release()``.
    func reopen(path: String) throws(SQLiteError) {
        let connection = try Connection(path: path)
        try connection.execute(SQL.writerSettings)
        try Features(of: connection).apply(to: connection)
        try use(connection)
    }

    private func use(_ new: Connection) throws(SQLiteError) {
        (begin, commit) = (try new.prepare(SQL.beginWriting), try new.prepare(SQL.commit))
        pageCount = try new.prepare(SQL.pageCount)
        bytesWithRoom = 0
        archives.invalidate()
        for archive in archives.all { archive.use(new) }
        connection = new
        connection.watchLog()
        dataVersion = nil
    }

    /// Counts a commit that is not one of ``transaction(_:)``: of another process, so that a sync of the log covers it, or of a statement that
    /// commits by itself.
    func countCommit() { commits += 1 }

    // MARK: Archives

    /// The number of bytes removed since space was last returned to the file system.
    @exclusivity(unchecked) private(set) var bytesRemoved: Int64 = 0

    /// Whether there may be entries that were there when their archive was emptied.
    @exclusivity(unchecked) private(set) var mayHoldCleared = false

    func forgetRemovals() { bytesRemoved = 0 }

    /// Archives that began to evict because they reached the default limit, to be logged outside the lock.
    @exclusivity(unchecked) private var evictionsByDefault: [(name: String, limit: DataSize)] = []

    func takeEvictionsByDefault() -> [(name: String, limit: DataSize)] {
        guard !evictionsByDefault.isEmpty else { return [] }
        defer { evictionsByDefault = [] }
        return evictionsByDefault
    }

    /// Deletes up to `limit` entries that were there when their archive was emptied.
    ///
    /// - Returns: Whether any were deleted, so that there may be more.
    func deleteCleared(limit: Int64) throws(SQLiteError) -> Bool {
        guard let id = try findCleared() else { return false }
        try transaction { () throws(SQLiteError) in
            // It need not be open. Nothing is looked for by its key.
            let unnamed = ArchiveTable.Found(id: id, hash: SeededHash(seed: 0))
            var archive = archives[id] ?? ArchiveWriter(unnamed, name: "", connection: connection)
            do throws(SQLiteError) {
                try archive.load()
            } catch {
                // It is open for a version that another process has replaced.
                guard error.isVersionReplaced else { throw error }
                archive = ArchiveWriter(unnamed, name: "", connection: connection)
                try archive.load()
            }
            try archive.removeCleared(limit: limit)
            try archive.writeTotals()
        }
        return true
    }

    /// The number of an archive that was emptied and still has entries from before.
    func findCleared() throws(SQLiteError) -> Int64? {
        let id = try ArchiveTable.firstCleared(on: connection)
        mayHoldCleared = id != nil
        return id
    }

    // MARK: Transactions

    /// Runs `body` in its own transaction, which is rolled back if `body` or the commit throws.
    func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try commitBatch()
        try beginTransaction()
        do throws(SQLiteError) {
            let result = try body()
            try commitTransaction()
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Runs `body` in the transaction that relaxed writes share. The caller commits it when it is full. If `body` throws, the whole
    /// transaction is rolled back and its owners are notified.
    func relaxedTransaction<Result>(bytes: Int, _ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        noticeLostBatch()
        if batch == nil {
            try beginTransaction()
            batch = Batch()
        }
        let result: Result
        do throws(SQLiteError) {
            result = try body()
        } catch {
            if batch?.writes == 0 {
                batch = nil
                rollBack()
            } else {
                // The rollback also loses the earlier writes of the transaction, so the owners are notified.
                loseBatch(error)
            }
            throw error
        }
        batch?.writes += 1
        batch?.bytes += bytes
        return result
    }

    /// Commits the open transaction of relaxed writes, if there is one. If that fails, the writes are lost and their owners notified.
    func commitBatch() throws(SQLiteError) {
        noticeLostBatch()
        guard batch != nil else { return }
        do throws(SQLiteError) {
            CrashPoint.reached(.batchCommitBegins)
            try commitTransaction()
            batch = nil
            CrashPoint.reached(.batchCommitted)
        } catch {
            loseBatch(error)
            throw error
        }
    }

    /// Detects a lost batch: after some read errors SQLite rolls back the whole transaction, even one that another statement began.
    func noticeLostBatch() {
        if batch != nil, !connection.isInTransaction { loseBatch(.lostTransaction) }
    }

    private func loseBatch(_ error: SQLiteError) {
        batch = nil
        rollBack()
        for owner in archives.owners { owner.archiveDidLoseWrites(VellumError(error)) }
    }

    private func beginTransaction() throws(SQLiteError) {
        if let refusal = connection.refusal ?? connection.writeRefusal { throw refusal }
        if let changesFile, changesFile.page.isRetired { throw .vanished }
        try begin.run()
        CrashPoint.reached(.begun)
        archives.beginTransaction()
        let version = connection.dataVersion()
        if version != dataVersion {
            archives.invalidate()
            dataVersion = version
            bytesWithRoom = 0
        }
    }

    private func commitTransaction() throws(SQLiteError) {
        for archive in archives.inTransaction { try archive.writeTotals() }
        CrashPoint.reached(.totalsStored)
        try makeRoom()
        let announced = try announce()
        CrashPoint.reached(.changesAnnounced)
        do throws(SQLiteError) {
            try commit.run()
        } catch {
            finish(announced)
            throw error
        }
        CrashPoint.reached(.committed)
        finish(announced)
        // The process that sets the file aside waits for a commit, but not forever. A later commit is in a file that is no longer used.
        if announced != nil, changesFile?.page.isRetired ?? false { throw .vanished }
        commits += 1
        CrashPoint.reached(.changesFinished)
        dataVersion = connection.dataVersion()  // Our own commits change it, too.
        for archive in archives.inTransaction {
            bytesRemoved += archive.transaction.bytesRemoved
            archive.countEvicted()
            if archive.transaction.hasEmptied { mayHoldCleared = true }
            if archive.transaction.hasEvictedByDefault, !archive.hasReportedDefault {
                archive.hasReportedDefault = true
                evictionsByDefault.append((archive.name, archive.totals.limit.size))
            }
        }
    }

    /// Announces the changes of the transaction to other processes, if there are any.
    ///
    /// - Returns: The number of the last change; `nil` if nothing is announced.
    private func announce() throws(SQLiteError) -> UInt64? {
        guard let changesFile else { return nil }
        var announcements: [ChangePage.Announcement] = []
        for archive in archives.inTransaction where !archive.transaction.changed.isEmpty {
            announcements.append(ChangePage.Announcement(archive: archive.id, keys: archive.transaction.changed.hashes))
        }
        guard !announcements.isEmpty else { return nil }
        let announced = changesFile.page.announce(announcements, by: changesFile.author, of: changesFile.process)
        var changes = announced.changes[...]
        for archive in archives.inTransaction where !archive.transaction.changed.isEmpty {
            archive.transaction.change = changes.popFirst()
        }
        guard !changesFile.page.isRetired else {
            finish(announced.last)
            throw .vanished
        }
        return announced.last
    }

    private func finish(_ announced: UInt64?) {
        if let announced { changesFile?.page.finish(announced) }
    }

    private func rollBack() {
        CrashPoint.reached(.rollingBack)
        archives.invalidate()
        guard connection.isInTransaction else { return }  // After some errors SQLite has already rolled back.
        do throws(SQLiteError) {
            try connection.execute(SQL.rollback)
        } catch {
            Log.error("A transaction could not be rolled back.", error)
        }
    }
}

// Room on the disk, which the log and the file need before they grow.

extension WriteConnection {
    /// Whether transactions take as little space as possible: see ``ArchiveRegistry/retriesOnFullDisk``.
    var isOnFullDisk: Bool { archives.retriesOnFullDisk > 0 }

    /// Begins or ends a try of a thread to write on the full disk.
    func useLittleSpace(_ isNeeded: Bool) { archives.retriesOnFullDisk += isNeeded ? 1 : -1 }

    /// Makes the next transaction make room, because the log has lost its own.
    func forgetRoom() { bytesWithRoom = 0 }

    /// For how many bytes of the file there is room now.
    private var room: Int64 { min(bytesWithRoom, connection.roomOfFile ?? bytesWithRoom) }

    /// The size of the file's pages, as the last transaction left them.
    var bytesOfPages: Int64 {
        get throws(SQLiteError) { try SQL.readPageCount(pageCount) * pageSize }
    }

    /// Makes sure, before the file grows, that the log can be copied into it and that a later transaction finds room in the log, however full
    /// the disk is then: so a store that has filled its disk can be emptied.
    func makeRoom() throws(SQLiteError) {
        // SQLite compiles the question for the number of pages each time.
        let (growth, room) = (greatestGrowth, room)
        if let growth, let pages = connection.pagesOfLastCommit(), pages * pageSize + growth <= room { return }
        let bytes = try bytesOfPages
        // Small transactions get room for some that follow, where there is room.
        if let growth, bytes + growth > room, !isOnFullDisk, !FileSystem.isAlmostFull(connection.path),
            try reserve(bytes + roomAhead(of: bytes))
        {
            return
        }
        guard bytes > room else { return }
        try reserveOrFail(bytes)
    }

    /// Room for some hundred small entries: an eighth of the file, 64 KB at least, and less than what ``DatabaseFile/hasUntruncatedSpace()`` looks
    /// for at most.
    private func roomAhead(of bytes: Int64) -> Int64 { min(1 << 19, max(1 << 16, bytes / 8)) }

    /// How many bytes of pages the transaction adds at most; `nil` if that is unknown.
    var greatestGrowth: Int64? {
        var bytes: Int64 = 0
        for archive in archives.inTransaction {
            guard !archive.transaction.hasUnknownGrowth, archive.transaction.splitPages > 0 else { return nil }
            // Of a page of content at least half is used.
            bytes += archive.transaction.splitPages * pageSize + 2 * archive.transaction.newContent
        }
        return bytes
    }

    /// - Returns: Whether there was room.
    private func reserve(_ bytes: Int64) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try reserveOrFail(bytes)
            return true
        } catch {
            guard error.isFull else { throw error }
            return false
        }
    }

    private func reserveOrFail(_ bytes: Int64) throws(SQLiteError) {
        let present = Int64(FileSystem.size(connection.path))
        do throws(SQLiteError) {
            try extendLog(besides: bytes)
        } catch {
            // What does not make the file grow, such as a deletion, is tried with the log that there is.
            guard error.isFull, bytes <= present else { throw error }
        }
        // After the log: a record that is refused must not take the log's room.
        try connection.extendFile(from: present, to: bytes)
        let chunk = Int64(Connection.chunk)
        bytesWithRoom = (bytes + chunk - 1) / chunk * chunk
    }

    private func extendLog(besides bytes: Int64) throws(SQLiteError) {
        // Deleting sixteen entries writes some forty pages, and freeing pages writes one for each thousand that are free.
        try connection.extendLog(to: 1 << 18 + bytes / 256)
    }
}
