internal import Synchronization
internal import VellumCore

// Writes of any number of archives in one transaction, and the sync that makes them survive power loss.

extension DatabaseFile {
    /// Carries the writes out and calls `committed` inside the writer's lock, so that memory hears of commits in their order.
    func commit(
        _ writes: [ArchiveWrite], durability: Durability, committed: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        let state = try withUsableFile { () throws(SQLiteError) in
            try retryingWhenFull { () throws(SQLiteError) in
                try withWriter { (writer) throws(SQLiteError) -> WriteState? in
                    // Before anything begins: what shares a transaction must not be lost for this.
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
                        // It may be refused, and what others share with it must not be lost for this.
                        if writes.contains(where: { !$0.isKeptInMemory }) { try writer.commitBatch() }
                        let bytes = writes.reduce(0) { $0 + $1.size }
                        var outcomes = try writer.relaxedTransaction(bytes: bytes, work)
                        // Before memory forgets an old value: whoever misses there must not read it from disk.
                        CrashPoint.reached(.relaxedWriteApplied)
                        // Asked while we hold SQLite's lock: whoever opens the file from now on waits for it (``waitForOpenBatches(_:)``).
                        if isShared {
                            try writer.commitBatch()
                            for (index, archive) in archives.enumerated() { outcomes[index].change = archive.lastChange }
                        }
                        committed(outcomes)
                        CrashPoint.reached(.relaxedWriteHeard)
                        writer.reportLosses()
                        writer.forgetTouchesInTransaction()
                        if writer.batch?.isFull ?? false { try writer.commitBatch() }
                    } else {
                        var outcomes = try writer.transaction(work)
                        for (index, archive) in archives.enumerated() { outcomes[index].change = archive.lastChange }
                        committed(outcomes)
                        CrashPoint.reached(.memoryHeard)
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

    /// The archive of each write. Most often they are one.
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

    /// What a caller does on the way out, without a lock.
    func scheduleMaintenance(_ state: WriteState) {
        for (name, limit) in state.evictionsByDefault { Log.evictsByDefault(name, limit) }
        if needsSweep(for: state.earliestEnd) { scheduleSweep(for: state.earliestEnd) }
        if state.hasBatch { schedule(.commitBatch) { (file) throws(SQLiteError) in try file.commitBatch() } }
        let hasLongLog = state.logFrames >= LogLimit.checkpointAt
        // A reader holds the log back: the next try is scheduled.
        if hasLongLog, CoarseClock.milliseconds < nextRestart.load(ordering: .relaxed) { return }
        if state.logFrames >= LogLimit.waitFor {
            // The log has outgrown the thread that empties it: whoever writes now waits for it.
            runMaintenance { (file) throws(SQLiteError) in try file.checkpoint() }
        } else if hasLongLog || state.bytesRemoved >= 1 << 20 {
            schedule(.checkpoint) { (file) throws(SQLiteError) in try file.checkpoint() }
        }
    }

    struct WriteState: Sendable {
        var commits: UInt64
        /// Pages that the log held after the last commit.
        var logFrames: Int
        var hasBatch: Bool
        var bytesRemoved: Int64
        /// When the first entry of all that is known of will not be wanted any more.
        var earliestEnd: WallInstant
        /// Archives that began to evict though nobody ever gave them a size.
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

    /// Waits for relaxed writes that other processes acknowledged before this one opened the file: 20 milliseconds, unless the process is
    /// stopped. From now on they commit before they answer.
    func waitForOpenBatches(_ writer: WriteConnection) throws(SQLiteError) {
        // A connection that has read is one that others see.
        _ = try writer.connection.int(SQL.tableCount)
        changes.page.announceOpening()
        if isShared { try writer.connection.waitForWriters(patience: 2000) }
    }

    func commitBatch() throws(SQLiteError) {
        try withWriter { (writer) throws(SQLiteError) in try writer.commitBatch() }
    }
}

/// How many pages of 4 KiB the log may hold.
enum LogLimit {
    /// From here on it is copied into the database behind the callers' backs.
    static let checkpointAt = 512
    /// From here on callers wait for that: six of the eight megabytes that are promised. The rest is for what is under way.
    static let waitFor = 1536
}

extension ArchiveWrite {
    /// The bytes it writes.
    var size: Int {
        switch change {
        case .store(let entry), .storeIfAbsent(let entry): entry.bytes.count
        case .remove, .removeUnchanged, .removeAll: 0
        }
    }

    /// Whether it stores an entry whose validity hangs on its last use.
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
