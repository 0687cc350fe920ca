internal import Synchronization
internal import VellumCore

// Writes to any number of archives in one transaction, and the sync that makes them survive power loss.

extension DatabaseFile {
    /// Runs the writes in one transaction and calls `committed` under the writer's lock, so that memory is updated in commit order.
    func commit(
        _ writes: [ArchiveWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        let state = try withUsableFile { () throws(SQLiteError) in
            try retryingWhenFull { () throws(SQLiteError) in
                try withWriter { (writer) throws(SQLiteError) -> WriteState? in
                    // Before the transaction begins: a closed archive must not roll back the writes of others in the batch.
                    let archives = try archives(of: writes, writer)
                    let work = { () throws(SQLiteError) -> [WriteOutcome] in
                        var outcomes: [WriteOutcome] = []
                        outcomes.reserveCapacity(writes.count)
                        for (write, archive) in zip(writes, archives) {
                            try archive.load()
                            outcomes.append(try archive.apply(write))
                            CrashPoint.reached(.changeApplied)
                        }
                        return outcomes
                    }
                    if durability == .relaxed {
                        // An uncached write may fail, and must not roll back the writes of others in the batch.
                        if writes.contains(where: { !$0.isKeptInMemory }) { try writer.commitBatch() }
                        let bytes = writes.reduce(0) { $0 + $1.size }
                        var outcomes = try writer.relaxedTransaction(bytes: bytes, work)
                        // Before memory drops an old value: a reader that misses in memory must not find it on disk.
                        CrashPoint.reached(.relaxedWriteApplied)
                        // Checked under SQLite's write lock. Every process that opens the file waits for it (``waitForOpenBatches(_:)``).
                        if isShared {
                            try writer.commitBatch()
                            for (index, archive) in archives.enumerated() { outcomes[index].change = archive.lastChange }
                        }
                        committed(outcomes)
                        CrashPoint.reached(.relaxedWriteInMemory)
                        writer.reportLosses()
                        writer.forgetTouchesInTransaction()
                        if writer.batch?.isFull ?? false { try writer.commitBatch() }
                    } else {
                        var outcomes = try writer.transaction(work)
                        for (index, archive) in archives.enumerated() { outcomes[index].change = archive.lastChange }
                        committed(outcomes)
                        CrashPoint.reached(.memoryUpdated)
                        writer.reportLosses()
                        writer.forgetTouchesInTransaction()
                    }
                    return WriteState(writer)
                }
            }
        }
        guard let state else { throw .closed }
        scheduleMaintenance(state)
        if durability == .powerSafe { try mappingErrors { () throws(SQLiteError) in try syncLog(through: state.commits) } }
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
            guard let archive = writer.archive(write.archive.number) else { throw .closedArchive }
            last = (write.archive, archive)
            archives.append(archive)
        }
        return archives
    }

    /// Schedules what a write made due: log messages, sweeps, batch commits and checkpoints. Called without a lock.
    func scheduleMaintenance(_ state: WriteState) {
        for (name, limit) in state.evictionsByDefault { Log.evictsByDefault(name, limit) }
        if needsSweep(for: state.earliestEnd) { scheduleSweep(for: state.earliestEnd) }
        if state.hasBatch { schedule(.commitBatch) { (file) throws(SQLiteError) in try file.commitBatch() } }
        let hasLongLog = state.logFrames >= LogLimit.checkpointAt
        // A reader blocks the log; the next try is already scheduled.
        if hasLongLog, CoarseClock.milliseconds < nextRestart.load(ordering: .relaxed) { return }
        if state.logFrames >= LogLimit.waitFor {
            // The log grows faster than the background checkpoint copies it, so the writer runs one itself.
            runMaintenance { (file) throws(SQLiteError) in try file.checkpoint() }
        } else if hasLongLog || state.bytesRemoved >= 1 << 20 {
            schedule(.checkpoint) { (file) throws(SQLiteError) in try file.checkpoint() }
        }
    }

    /// The writer's state after a write, from which maintenance is scheduled.
    struct WriteState: Sendable {
        var commits: UInt64
        /// The number of pages in the log after the last commit.
        var logFrames: Int
        var hasBatch: Bool
        var bytesRemoved: Int64
        /// When the first known entry expires.
        var earliestEnd: WallInstant
        /// Archives that began to evict because they reached the default limit.
        var evictionsByDefault: [(name: String, limit: DataSize)]

        init(_ writer: WriteConnection) {
            commits = writer.commits
            logFrames = writer.connection.logFrames
            hasBatch = writer.batch != nil
            bytesRemoved = writer.bytesRemoved
            earliestEnd = writer.earliestEnd
            evictionsByDefault = writer.takeEvictionsByDefault()
        }
    }

    /// Whether another process has the file open.
    package var isShared: Bool { heartbeat.hasOthers(openings: changes.page.openings) }

    /// Waits for relaxed writes that other processes acknowledged before this one opened the file: usually 20 milliseconds, at most
    /// 2 seconds. Later relaxed writes of those processes commit before they return.
    func waitForOpenBatches(_ writer: WriteConnection) throws(SQLiteError) {
        // Other processes see a connection once it has read.
        _ = try writer.connection.int(SQL.tableCount)
        changes.page.announceOpening()
        if isShared { try writer.connection.waitForWriters(timeout: 2000) }
    }

    func commitBatch() throws(SQLiteError) {
        try withWriter { (writer) throws(SQLiteError) in try writer.commitBatch() }
    }
}

/// Sizes of the log, in pages of 4 KiB, at which something is done about it.
enum LogLimit {
    /// At this size the log is copied into the database in the background.
    static let checkpointAt = 512
    /// At this size callers wait for the copying: 6 MB of the 8 MB guaranteed. The rest is for running transactions.
    static let waitFor = 1536
}

extension ArchiveWrite {
    /// The number of bytes that the write stores.
    var size: Int {
        switch change {
        case .store(let entry), .storeIfAbsent(let entry): entry.bytes.count
        case .remove, .removeUnchanged, .removeAll: 0
        }
    }

    /// Whether the write stores an entry whose validity depends on its last use.
    var isSliding: Bool {
        switch change {
        case .store(let entry), .storeIfAbsent(let entry): entry.idle != nil
        case .remove, .removeUnchanged, .removeAll: false
        }
    }
}

extension SQLiteError {
    /// The archive was closed.
    static let closedArchive = SQLiteError(code: SQLiteError.misuse, message: "The archive is closed.")
}
