internal import Foundation
internal import Synchronization
internal import VellumCore

/// Whether an open transaction holds relaxed writes, which readers cannot see. Read without the writer's lock.
final class OpenBatch: Sendable {
    let exists = Atomic(false)
}

/// The only connection of this process that writes to the file, and its transactions. Guarded by ``DatabaseFile/writer``.
final class WriteConnection {
    private(set) var connection: Connection
    /// The number of transactions committed so far, which a sync of the log covers.
    private(set) var commits: UInt64 = 0
    /// The open transaction of relaxed writes, if there is one.
    private(set) var batch: Batch? {
        didSet { openBatch.exists.store(batch != nil, ordering: .releasing) }
    }
    private let openBatch: OpenBatch

    /// Where changes are announced to other processes; `nil` for a file that only this process uses, such as a new one being salvaged.
    private let changes: ChangesFile?

    private var begin: Statement
    private var commit: Statement
    private var archives: [Int64: ArchiveWriter] = [:]
    private var dataVersion: UInt32?

    /// The size of an open transaction of relaxed writes.
    struct Batch {
        var writes = 0
        var bytes = 0

        /// Whether the transaction must be committed, which bounds what a killed process may lose.
        var isFull: Bool { writes >= 256 || bytes >= 1 << 20 }
    }

    init(_ connection: Connection, notifying changes: ChangesFile? = nil, openBatch: OpenBatch = OpenBatch()) throws(SQLiteError) {
        self.connection = connection
        self.openBatch = openBatch
        self.changes = changes
        begin = try connection.prepare(SQL.beginWriting)
        commit = try connection.prepare(SQL.commit)
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
        try use(connection)
    }

    private func use(_ new: Connection) throws(SQLiteError) {
        (begin, commit) = (try new.prepare(SQL.beginWriting), try new.prepare(SQL.commit))
        for archive in archives.values { archive.use(new) }
        connection = new
        connection.watchLog()
        dataVersion = nil
    }

    /// Counts a commit, so that a sync of the log also covers what other processes have committed.
    func countForeignCommits() { commits += 1 }

    // MARK: Archives

    /// Adds an open archive, or a sibling of one.
    func add(_ archive: ArchiveWriter) {
        archives[archive.id] = archive
        updateSiblings()
    }

    /// Removes an archive that was closed, unless it is a sibling of an open one.
    func remove(_ id: Int64, at now: WallInstant) {
        archives[id]?.retire(at: now)
        let openGroups = Set(archives.values.compactMap { $0.openArchive == nil ? nil : $0.versionGroup })
        archives = archives.filter { $0.value.openArchive != nil || $0.value.versionGroup.map(openGroups.contains) ?? false }
        updateSiblings()
    }

    /// Updates the siblings of every archive: closed archives before open ones, and within both the least recently opened first.
    private func updateSiblings() {
        for archive in archives.values {
            guard let versionGroup = archive.versionGroup else { continue }
            let siblings = archives.values.filter { $0.versionGroup == versionGroup && $0 !== archive }.sorted {
                ($0.openArchive == nil ? 0 : 1, $0.seen, $0.id) < ($1.openArchive == nil ? 0 : 1, $1.seen, $1.id)
            }
            archive.siblings = siblings.map(ArchiveWriter.Sibling.init)
        }
    }

    /// Removes a deleted archive.
    func forget(_ archive: ArchiveWriter) {
        archives[archive.id] = nil
        updateSiblings()
    }

    /// When the first known entry expires.
    var earliestEnd: WallInstant { archives.values.reduce(.never) { min($0, $1.sweepMap.earliest) } }

    /// When the next sweep is due; `nil` if none is ever needed. An archive with a heartbeat needs a sweep at least once a day,
    /// which also removes its abandoned siblings.
    var nextSweep: WallInstant? {
        let end = earliestEnd
        return end != .never || archives.values.contains(where: \.needsHeartbeat) ? end : nil
    }

    /// Notifies owners of entries that were evicted to make room in a sibling.
    func reportLosses() {
        for archive in archives.values where !archive.lostToSibling.isEmpty {
            archive.owner?.archiveDidRemove(archive.lostToSibling, .evicted)
            archive.lostToSibling.removeAll()
        }
    }

    func archive(_ id: Int64) -> ArchiveWriter? { archives[id] }

    var owners: [any DiskArchiveDelegate] { archives.values.compactMap(\.owner) }

    var allArchives: [ArchiveWriter] { Array(archives.values) }

    /// The number of bytes removed since space was last returned to the file system.
    private(set) var bytesRemoved: Int64 = 0

    func forgetRemovals() { bytesRemoved = 0 }

    /// Archives that began to evict because they reached the default limit, to be logged outside the lock.
    private var evictionsByDefault: [(name: String, limit: DataSize)] = []

    func takeEvictionsByDefault() -> [(name: String, limit: DataSize)] {
        guard !evictionsByDefault.isEmpty else { return [] }
        defer { evictionsByDefault = [] }
        return evictionsByDefault
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
            // The rollback also loses the earlier writes of the transaction, so the owners are notified.
            loseBatch(error)
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

    /// Discards the touches of a committed transaction, which the owners have applied.
    func forgetTouchesInTransaction() {
        for archive in archives.values where !archive.touchesInTransaction.isEmpty { archive.touchesInTransaction.removeAll() }
    }

    /// Detects a lost batch: after some read errors SQLite rolls back the whole transaction, even one that another statement began.
    func noticeLostBatch() {
        if batch != nil, !connection.isInTransaction { loseBatch(.lostTransaction) }
    }

    private func loseBatch(_ error: SQLiteError) {
        batch = nil
        rollBack()
        for owner in owners { owner.archiveDidLoseWrites(VellumError(error)) }
    }

    private func beginTransaction() throws(SQLiteError) {
        if let refusal = connection.refusal { throw refusal }
        if let changes, changes.page.isRetired { throw .vanished }
        try begin.run()
        CrashPoint.reached(.begun)
        let version = connection.dataVersion()
        if version != dataVersion {
            for archive in archives.values { archive.invalidate() }
            dataVersion = version
        }
    }

    private func commitTransaction() throws(SQLiteError) {
        for archive in archives.values { try archive.writeTotals() }
        CrashPoint.reached(.totalsStored)
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
        if announced != nil, changes?.page.isRetired ?? false { throw .vanished }
        commits += 1
        CrashPoint.reached(.changesFinished)
        dataVersion = connection.dataVersion()  // Our own commits change it, too.
        for archive in archives.values {
            bytesRemoved += archive.bytesRemoved
            archive.bytesRemoved = 0
            if archive.hasEvictedByDefault, !archive.hasReportedDefault {
                archive.hasReportedDefault = true
                evictionsByDefault.append((archive.name, archive.totals.limit.size))
            }
        }
    }

    /// Announces the changes of the transaction to other processes, if there are any.
    ///
    /// - Returns: The number of the last change; `nil` if nothing is announced.
    private func announce() throws(SQLiteError) -> UInt64? {
        guard let changes else { return nil }
        let changed = archives.values.filter { !$0.changed.isEmpty }
        guard !changed.isEmpty else { return nil }
        let announced = changes.page.announce(
            changed.map { ChangePage.Announcement(archive: $0.id, keys: $0.changed.hashes) }, by: changes.author, of: changes.process)
        for (archive, change) in zip(changed, announced.changes) {
            archive.lastChange = change
            archive.changed = ChangedKeys()
        }
        guard !changes.page.isRetired else {
            finish(announced.last)
            throw .vanished
        }
        return announced.last
    }

    private func finish(_ announced: UInt64?) {
        if let announced { changes?.page.finish(announced) }
    }

    private func rollBack() {
        CrashPoint.reached(.rollingBack)
        for archive in archives.values { archive.invalidate() }
        guard connection.isInTransaction else { return }  // After some errors SQLite has already rolled back.
        do throws(SQLiteError) {
            try connection.execute(SQL.rollback)
        } catch {
            Log.error("A transaction could not be rolled back.", error)
        }
    }
}
