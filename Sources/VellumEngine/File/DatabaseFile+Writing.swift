internal import Synchronization
internal import VellumCore

// Writes to any number of archives in one transaction.

extension DatabaseFile {
    /// Runs the writes in one transaction and calls `update` under the writer's lock, so that memory is updated in commit order.
    ///
    /// Relaxed writes that no other process can read are visible when they are in the open batch; the COMMIT comes later.
    func commit(
        _ writes: [ArchiveWrite], durability: Durability, updatingMemory update: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        try checkUsable()
        let commit: Commit?
        do throws(SQLiteError) {
            do throws(SQLiteError) {
                commit = try commitOnce(writes, durability, update)
            } catch {
                guard error.isFull else { throw error }
                commit = try retry(after: error) { () throws(SQLiteError) in try commitOnce(writes, durability, update) }
            }
        } catch {
            throw VellumError(classify(error)).located(archive: nil, path: path)
        }
        guard let commit else { throw unusable }
        didCommit(commit)
        if durability == .powerSafe { try mappingErrors { () throws(SQLiteError) in try syncLog(through: commit.due.commits) } }
    }

    private func commitOnce(
        _ writes: [ArchiveWrite], _ durability: Durability, _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit? {
        try writing.withWriter { (writer) throws(SQLiteError) in
            // Before a transaction begins: a closed archive must not roll back the writes of others in the batch.
            var last: Archive?
            for write in writes where write.archive !== last {
                last = write.archive
                // It may have been opened with another version of its cache in this process.
                guard !write.archive.isReplaced else { throw .versionReplaced }
                guard write.archive.isListed.load(ordering: .relaxed) else { throw .closedArchive }
            }
            return durability == .relaxed ? try addToBatch(writes, writer, update) : try commitAlone(writes, writer, update)
        }
    }

    /// Runs the writes in a transaction of their own.
    private func commitAlone(
        _ writes: [ArchiveWrite], _ writer: Writer, _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit {
        var (outcomes, commit) = try writer.transaction { (transaction) throws(SQLiteError) in try transaction.apply(writes) }
        commit.number(&outcomes, of: writes)
        update(outcomes)
        CrashPoint.reached(.memoryUpdated)
        return commit
    }

    /// Runs the writes in the transaction that relaxed writes share, and commits that if it is full or the file is shared.
    private func addToBatch(
        _ writes: [ArchiveWrite], _ writer: Writer, _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit {
        // A write that memory does not keep fails if the disk limit is too small for it (``SQLiteError/tooLarge``), and a cache that another
        // process opened with another version refuses it. Neither must roll back the writes of others in the batch.
        let mayFail = writes.contains { !$0.isKeptInMemory || !(writer.batch?.holdsEdit(of: $0.archive) ?? false) }
        var (outcomes, commit) = try writer.addToBatch(bytes: writes.reduce(0) { $0 + $1.size }, undoingAlone: mayFail) {
            (transaction) throws(SQLiteError) in try transaction.apply(writes)
        }
        // The old entry is gone from the file before memory drops its value, so a reader that misses in memory does not find it there.
        CrashPoint.reached(.relaxedWriteApplied)
        // Checked under SQLite's write lock. Every process that opens the file waits for it (``waitForOpenBatches(_:)``).
        if isShared, let committed = try writer.commitBatch() {
            commit = committed
            commit.number(&outcomes, of: writes)
        }
        update(outcomes)
        CrashPoint.reached(.relaxedWriteInMemory)
        if writer.batch?.isFull ?? false, let committed = try writer.commitBatch() { commit = committed }
        return commit
    }

    /// Runs `body` in a transaction of its own, on a full disk again, and does what that makes due. Returns `nil` if the file is suspended or
    /// closed, or the archive closed.
    func inTransaction<Result: Sendable>(
        _ archive: Archive, _ body: (ArchiveEdit) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        let done = try retryingWhenFull { () throws(SQLiteError) in
            try withWriter(of: archive) { (writer) throws(SQLiteError) in
                try writer.transaction { (transaction) throws(SQLiteError) in try body(transaction.edit(of: archive)) }
            }
        }
        guard let (result, commit) = done else { return nil }
        didCommit(commit)
        return result
    }

    /// Tells everybody what has changed, and schedules what that makes due: log messages, sweeps, batch commits and checkpoints. Memory was
    /// updated under the lock. Called without one.
    func didCommit(_ commit: Commit) {
        watcher.hear(commit)
        let due = commit.due
        for (name, limit) in due.evictionsByDefault { Log.evictsByDefault(name, limit) }
        if needsSweep(for: due.earliestEnd) { scheduleSweep(for: due.earliestEnd) }
        if due.mayHoldCleared { scheduleDeletingCleared() }
        if due.isOpen { schedule(.commitBatch) { (file) throws(SQLiteError) in try file.commitBatch() } }
        let hasLongLog = due.logFrames >= LogLimit.checkpointAt
        if due.logFrames >= LogLimit.waitFor, isShared, waitForRestart() { return }
        // A reader blocks the log; the next try is already scheduled.
        if hasLongLog, CoarseClock.milliseconds < nextRestart.load(ordering: .relaxed) { return }
        if due.logFrames >= LogLimit.waitFor {
            // The log grows faster than the background checkpoint copies it, so the writer runs one itself.
            runMaintenance { (file) throws(SQLiteError) in try file.checkpoint() }
        } else if hasLongLog || due.bytesRemoved >= 1 << 20 {
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

    /// Whether another process has the file open.
    package var isShared: Bool { heartbeat.hasOthers(openings: changesFile.page.openings) }

    /// Waits for relaxed writes that other processes acknowledged before this one opened the file: usually 20 milliseconds, at most
    /// 2 seconds. Later relaxed writes of those processes commit before they return.
    func waitForOpenBatches(_ connection: Connection) throws(SQLiteError) {
        // Other processes see a connection once it has read.
        _ = try connection.int(SQL.tableCount)
        changesFile.page.announceOpening()
        if isShared {
            try connection.waitForWriters(timeout: 2000)
        } else {
            // A process that was killed may have left a request.
            changesFile.page.requestLogRestart(until: 0)
        }
    }

    /// Commits relaxed writes that wait in an open transaction.
    func commitBatch() throws(SQLiteError) {
        let commit = try withWriter { (writer) throws(SQLiteError) in try writer.commitBatch() }
        if commit?.due.mayHoldCleared ?? false { scheduleDeletingCleared() }
    }
}

extension Transaction {
    /// Carries out the writes in their order.
    func apply(_ writes: [ArchiveWrite]) throws(SQLiteError) -> [WriteOutcome] {
        var outcomes: [WriteOutcome] = []
        outcomes.reserveCapacity(writes.count)
        for write in writes {
            outcomes.append(try edit(of: write.archive).apply(write))
            CrashPoint.reached(.writeApplied)
        }
        return outcomes
    }
}

extension Commit {
    /// Notes in each outcome the number under which its write was announced.
    fileprivate func number(_ outcomes: inout [WriteOutcome], of writes: [ArchiveWrite]) {
        for index in outcomes.indices {
            let archive = writes[index].archive.id
            for change in changes where change.archive == archive { outcomes[index].change = change.number }
        }
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
