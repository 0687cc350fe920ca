internal import Synchronization
internal import VellumCore

// Writes to any number of archives in one transaction.

extension DatabaseFile {
    /// Runs the writes in one transaction and calls `committed` under the writer's lock, so that memory is updated in commit order.
    ///
    /// Relaxed writes that no other process can read are "committed" when they are in the open batch; the COMMIT comes later.
    func commit(
        _ writes: [ArchiveWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        let state = try withUsableFile { () throws(SQLiteError) in
            try retryingWhenFull { () throws(SQLiteError) in
                try withWriter { (writer) throws(SQLiteError) in
                    if durability == .relaxed {
                        try addToBatch(writes, writer, committed)
                    } else {
                        try commitAlone(writes, writer, committed)
                    }
                    return WriteState(writer)
                }
            }
        }
        guard let state else { throw .closed }
        scheduleMaintenance(state)
        if durability == .powerSafe { try mappingErrors { () throws(SQLiteError) in try syncLog(through: state.commits) } }
    }

    /// Runs the writes in a transaction of their own.
    private func commitAlone(
        _ writes: [ArchiveWrite], _ writer: WriteConnection, _ committed: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) {
        // Before the transaction begins: a closed archive must not roll back the writes of others in the batch.
        let archives = try archives(of: writes, writer)
        var outcomes = try writer.transaction { () throws(SQLiteError) in try apply(writes, to: archives) }
        setChanges(of: &outcomes, by: archives)
        committed(outcomes)
        CrashPoint.reached(.memoryUpdated)
        writer.archives.forgetUses()
    }

    /// Runs the writes in the transaction that relaxed writes share, and commits that if it is full or the file is shared.
    private func addToBatch(
        _ writes: [ArchiveWrite], _ writer: WriteConnection, _ committed: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) {
        let archives = try archives(of: writes, writer)
        // A write that memory does not keep fails if the disk limit is too small for it (``SQLiteError/tooLarge``), and a cache that another
        // process opened with another version refuses it. Neither must roll back the writes of others in the batch.
        if writes.contains(where: { !$0.isKeptInMemory }) || archives.contains(where: { !$0.isLoaded }) { try writer.commitBatch() }
        var outcomes = try writer.relaxedTransaction(bytes: writes.reduce(0) { $0 + $1.size }) { () throws(SQLiteError) in
            try apply(writes, to: archives)
        }
        // The old entry is gone from the file before memory drops its value, so a reader that misses in memory does not find it there.
        CrashPoint.reached(.relaxedWriteApplied)
        // Checked under SQLite's write lock. Every process that opens the file waits for it (``waitForOpenBatches(_:)``).
        if isShared {
            try writer.commitBatch()
            setChanges(of: &outcomes, by: archives)
        }
        committed(outcomes)
        if writer.batch != nil { watcher.poke() }
        CrashPoint.reached(.relaxedWriteInMemory)
        writer.archives.forgetUses()
        if writer.batch?.isFull ?? false { try writer.commitBatch() }
    }

    private func apply(_ writes: [ArchiveWrite], to archives: [ArchiveWriter]) throws(SQLiteError) -> [WriteOutcome] {
        var outcomes: [WriteOutcome] = []
        outcomes.reserveCapacity(writes.count)
        for index in writes.indices {
            try archives[index].load()
            outcomes.append(try archives[index].apply(writes[index]))
            CrashPoint.reached(.writeApplied)
        }
        return outcomes
    }

    /// Notes in each outcome the number under which its commit was announced.
    private func setChanges(of outcomes: inout [WriteOutcome], by archives: [ArchiveWriter]) {
        for (index, archive) in archives.enumerated() { outcomes[index].change = archive.transaction.change }
    }

    /// Returns the archive of each write. Usually all writes have the same one.
    private func archives(of writes: [ArchiveWrite], _ writer: WriteConnection) throws(SQLiteError) -> [ArchiveWriter] {
        var archives: [ArchiveWriter] = []
        archives.reserveCapacity(writes.count)
        var last: (disk: DiskArchive, archive: ArchiveWriter)?
        for write in writes {
            if let last, last.disk === write.archive {
                archives.append(last.archive)
                continue
            }
            // It may have been opened with another version of its cache in this process.
            guard !write.archive.isReplaced else { throw .versionReplaced }
            guard let archive = writer.archives[write.archive.number] else { throw .closedArchive }
            last = (write.archive, archive)
            archives.append(archive)
        }
        return archives
    }

    /// Schedules what a write made due: log messages, sweeps, batch commits and checkpoints. Called without a lock.
    func scheduleMaintenance(_ state: WriteState) {
        for (name, limit) in state.evictionsByDefault { Log.evictsByDefault(name, limit) }
        if needsSweep(for: state.earliestEnd) { scheduleSweep(for: state.earliestEnd) }
        if state.mayHoldCleared { scheduleDeletingCleared() }
        if state.hasBatch { schedule(.commitBatch) { (file) throws(SQLiteError) in try file.commitBatch() } }
        let hasLongLog = state.logFrames >= LogLimit.checkpointAt
        if state.logFrames >= LogLimit.waitFor, isShared, waitForRestart() { return }
        // A reader blocks the log; the next try is already scheduled.
        if hasLongLog, CoarseClock.milliseconds < nextRestart.load(ordering: .relaxed) { return }
        if state.logFrames >= LogLimit.waitFor {
            // The log grows faster than the background checkpoint copies it, so the writer runs one itself.
            runMaintenance { (file) throws(SQLiteError) in try file.checkpoint() }
        } else if hasLongLog || state.bytesRemoved >= 1 << 20 {
            scheduleCheckpoint()
        }
    }

    /// Waits while another thread or process restarts the log, which would grow further meanwhile. Called without a lock.
    ///
    /// - Returns: Whether one did, and ended in time.
    private func waitForRestart() -> Bool {
        var now = CoarseClock.milliseconds
        guard changesFile.page.isLogRestartRequested(at: now) else { return false }
        let end = now + 100
        while now < end {
            BusyRetry.milliseconds(1)
            now = CoarseClock.milliseconds
            if !changesFile.page.isLogRestartRequested(at: now) { return true }
        }
        return false
    }

    /// The writer's state after a write, from which maintenance is scheduled.
    struct WriteState: Sendable {
        var commits: UInt64
        /// The number of pages in the log after the last commit.
        var logFrames: Int
        var hasBatch: Bool
        var bytesRemoved: Int64
        /// Whether an archive was emptied.
        var mayHoldCleared: Bool
        /// When the first entry expires of those that were written.
        var earliestEnd: WallInstant
        /// Archives that began to evict because they reached the default limit.
        var evictionsByDefault: [(name: String, limit: DataSize)]

        init(_ writer: WriteConnection) {
            commits = writer.commits
            logFrames = writer.connection.logFrames
            hasBatch = writer.batch != nil
            bytesRemoved = writer.bytesRemoved
            mayHoldCleared = writer.mayHoldCleared
            earliestEnd = writer.archives.earliestWrittenEnd
            evictionsByDefault = writer.takeEvictionsByDefault()
        }
    }

    /// Whether another process has the file open.
    package var isShared: Bool { heartbeat.hasOthers(openings: changesFile.page.openings) }

    /// Waits for relaxed writes that other processes acknowledged before this one opened the file: usually 20 milliseconds, at most
    /// 2 seconds. Later relaxed writes of those processes commit before they return.
    func waitForOpenBatches(_ writer: WriteConnection) throws(SQLiteError) {
        // Other processes see a connection once it has read.
        _ = try writer.connection.int(SQL.tableCount)
        changesFile.page.announceOpening()
        if isShared {
            try writer.connection.waitForWriters(timeout: 2000)
        } else {
            // A process that was killed may have left a request.
            changesFile.page.requestLogRestart(until: 0)
        }
    }

    func commitBatch() throws(SQLiteError) {
        let mayHoldCleared = try withWriter { (writer) throws(SQLiteError) in
            try writer.commitBatch()
            return writer.mayHoldCleared
        }
        if mayHoldCleared ?? false { scheduleDeletingCleared() }
    }
}

/// Sizes of the log, in pages of 4 KiB, at which something is done about it.
enum LogLimit {
    /// At this size the log is copied into the database in the background.
    static let checkpointAt = 512
    /// At this size callers wait for the copying: 6 MB of the 8 MB guaranteed. The rest is for running transactions.
    static let waitFor = 1536
    /// A file of the log that a large transaction left longer than this gives its bytes back once it is copied.
    static let mostBytes = 8 << 20
}

extension ArchiveWrite {
    /// The number of bytes that the write stores.
    var size: Int {
        switch operation {
        case .store(let entry), .storeIfAbsent(let entry): entry.bytes.count
        case .renew, .remove, .removeUnchanged, .removeAll, .require: 0
        }
    }

    /// Whether the write stores an entry whose validity depends on its last use.
    var isSliding: Bool {
        switch operation {
        case .store(let entry), .storeIfAbsent(let entry), .renew(let entry, _): entry.idle != nil
        case .remove, .removeUnchanged, .removeAll, .require: false
        }
    }
}

extension SQLiteError {
    /// The archive was closed.
    static let closedArchive = SQLiteError(code: SQLiteError.misuse, message: "The archive is closed.")
}
