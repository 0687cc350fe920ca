internal import Dispatch
internal import Synchronization
internal import VellumCore

// Background work: checkpoints, touches, read leases, and returning space to the file system.

extension DatabaseFile {
    /// Schedules `work` after the task's delay, once. Does nothing if the file is released by then.
    func schedule(
        _ task: Maintenance.Task, after delay: DispatchTimeInterval? = nil,
        _ work: @escaping @Sendable (DatabaseFile) throws(SQLiteError) -> Void
    ) {
        maintenance.schedule(task, after: delay) { [weak self] in self?.runMaintenance(work) }
    }

    /// Runs `work` now. Errors are logged and reported to the file's delegates, because there is no caller.
    func runMaintenance(_ work: (DatabaseFile) throws(SQLiteError) -> Void) {
        guard isAtWork else { return }
        do throws(SQLiteError) {
            try work(self)
        } catch {
            Log.error("Maintenance of an archive file failed.", error)
            let failure = VellumError(classify(error))
            for owner in delegates { owner.archiveDidReport(.failure(failure)) }
        }
    }

    /// Blocks until all background work that is due is done. For tests.
    package func waitForHousekeeping() { maintenance.wait() }

    // MARK: The log

    /// Copies the log into the database, so that the next writer can restart it.
    ///
    /// First copies as much as possible without blocking others. If the log is still long, copies the rest while writers wait: a log in
    /// constant use would never restart otherwise.
    func checkpoint() throws(SQLiteError) {
        let hasMoreSpace = try reclaimSpace()
        defer { if hasMoreSpace { schedule(.checkpoint) { (file) throws(SQLiteError) in try file.checkpoint() } } }
        let blockedLog = try checkpointing.withLock { (connection: inout Connection?) throws(SQLiteError) -> BlockedLog? in
            guard state == .open else { return nil }
            // Another thread may have tried while this one waited for the lock.
            guard CoarseClock.milliseconds >= nextRestart.load(ordering: .relaxed) else { return nil }
            if connection == nil {
                let new = try Connection(path: path)
                try new.execute(SQL.writerSettings)
                connection = new
            }
            guard let connection else { return nil }
            CrashPoint.reached(.checkpointBegins)
            let (logged, copied) = try connection.checkpoint()
            CrashPoint.reached(.logCopied)
            guard logged >= LogLimit.checkpointAt else { return nil }
            return try restartLog(of: logged, copied: copied)
        }
        scheduleNextRestart()
        guard let blockedLog else { return }
        Log.logHeldBack(path, blockedLog)
        let event = StoreEvent.logHeldBack(process: blockedLog.process, logSize: blockedLog.logSize)
        for owner in delegates { owner.archiveDidReport(event) }
    }

    /// Schedules the next try to restart a log that a reader of another process blocks.
    func scheduleNextRestart() {
        let left = nextRestart.load(ordering: .relaxed) &- CoarseClock.milliseconds
        guard 1...RestartBackoff.longest ~= left else { return }
        // The coarse clock may be a few milliseconds late.
        schedule(.checkpoint, after: .milliseconds(Int(left) + 5)) { (file) throws(SQLiteError) in try file.checkpoint() }
    }

    /// A log that cannot be restarted.
    struct BlockedLog: Sendable {
        /// The process that blocks it, if the system reports its number.
        var process: Int32?
        var logSize: DataSize
    }

    /// Copies the rest of the log while writers wait, unless a reader of another process blocks it.
    ///
    /// - Parameters:
    ///   - pages: How many pages the log holds.
    ///   - copied: How many pages were copied without blocking others.
    /// - Returns: What to report, once a reader counts as stopped; otherwise `nil`.
    private func restartLog(of pages: Int, copied: Int) throws(SQLiteError) -> BlockedLog? {
        let timeout = restarts.withLock { $0.timeout(isLong: pages >= 2 * LogLimit.checkpointAt) }
        let oldest = try readers.withoutLeases { () throws(SQLiteError) in
            // On the write connection, so that this process's writers wait for its lock instead of SQLite's busy handler.
            try withWriter { (writer) throws(SQLiteError) -> [Int]? in
                try writer.commitBatch()
                do throws(SQLiteError) {
                    CrashPoint.reached(.restartBegins)
                    // Other processes hold snapshots for some milliseconds, or until they are scheduled again.
                    changes.page.requestLogRestart(until: CoarseClock.milliseconds + timeout)
                    defer { changes.page.requestLogRestart(until: 0) }
                    try writer.connection.restartLog(timeout: timeout)
                    CrashPoint.reached(.logRestarted)
                    return nil
                } catch  where VellumError(error).code == .busy {
                    return writer.connection.slotsOfOldestReaders
                }
            }
        }
        let (next, isTime) = restarts.withLock { restarts -> (Int64, Bool) in
            guard oldest != nil else {
                restarts.succeed()
                return (.min, false)
            }
            let isTime = restarts.fail(at: CoarseClock.milliseconds, copied: copied)
            return (restarts.nextTry, isTime)
        }
        nextRestart.store(next, ordering: .relaxed)
        guard let oldest, isTime else { return nil }
        return BlockedLog(
            process: heartbeat.process(readingThrough: oldest), logSize: DataSize(bytes: FileSystem.size(path + "-wal")))
    }

    /// Runs a write. If the disk is full, empties the log and retries once: the log's space can then be reused.
    func retryingWhenFull<Result>(_ write: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        do throws(SQLiteError) {
            return try write()
        } catch {
            guard error.isFull else { throw error }
            do throws(SQLiteError) {
                try emptyLog()
            } catch let failure {
                Log.error("The log could not be emptied on a full disk.", failure)
                throw error
            }
        }
        return try write()
    }

    private func emptyLog() throws(SQLiteError) {
        try checkpointing.withLock { _ throws(SQLiteError) in
            try readers.withoutLeases { () throws(SQLiteError) in
                try withWriter { (writer) throws(SQLiteError) in
                    try writer.commitBatch()
                    try writer.connection.restartLog()
                }
            }
        }
    }

    /// Returns up to 256 free pages to the file system, once they are a quarter of the file and more than a megabyte.
    ///
    /// - Returns: Whether pages were freed, so that more may be left.
    func reclaimSpace() throws(SQLiteError) -> Bool {
        let hasMore = try withWriter { (writer) throws(SQLiteError) -> Bool in
            try writer.commitBatch()
            writer.forgetRemovals()
            let free = try writer.connection.int(SQL.freePageCount) ?? 0
            let pages = try writer.connection.int(SQL.pageCount) ?? 0
            guard free > 256, free * 4 > pages else { return false }
            CrashPoint.reached(.spaceReturnBegins)
            try writer.connection.execute(SQL.freePages(256))
            CrashPoint.reached(.spaceReturned)
            return true
        }
        return hasMore ?? false
    }

    // MARK: The eviction order

    /// Schedules the writing of touches, and schedules it again while there are more.
    func scheduleWritingTouches() {
        schedule(.writeTouches) { (file) throws(SQLiteError) in
            if try file.writeAllTouches() { file.scheduleWritingTouches() }
        }
    }

    /// Writes the touches that the archives' owners hold now, in small transactions. Later touches are not written.
    ///
    /// - Returns: Whether there are more.
    @discardableResult
    func writeAllTouches() throws(SQLiteError) -> Bool {
        let archives = withWriter { $0.allArchives.map { ($0.id, $0.owner?.pendingTouchCount ?? 0) } } ?? []
        var hasMore = false
        for (number, count) in archives {
            var left = count
            while left > 0, try writeTouches(number) { left -= 256 }
            hasMore = hasMore || (count > 0 && left <= 0)
        }
        return hasMore
    }

    /// Writes the touches of an archive before a query, which reads from the file when entries were last used. The query continues without
    /// them if they cannot be written because the disk is full, busy or read-only.
    func writeTouchesBeforeQuery(of number: Int64) throws(SQLiteError) {
        do throws(SQLiteError) {
            var left = withWriter(of: number) { $1.owner?.pendingTouchCount } ?? 0
            while left > 0, try writeTouches(number) { left -= 256 }
        } catch {
            guard [.diskFull, .busy, .readOnly].contains(VellumError(error).code) else { throw error }
            Log.error("Touches could not be written before a query.", error)
        }
    }

    /// Writes up to 256 touches of an archive.
    ///
    /// - Returns: Whether there may be more.
    func writeTouches(_ number: Int64) throws(SQLiteError) -> Bool {
        let limit = 256  // Each may change a different page, and the log is bounded.
        let written = try withWriter(of: number) { (writer, archive) throws(SQLiteError) -> (Bool, WriteState)? in
            // Taken under the lock, so that no eviction runs between taking and writing them.
            guard let owner = archive.owner else { return nil }
            let touches = owner.takeTouches(limit: limit)
            guard !touches.isEmpty else { return nil }
            CrashPoint.reached(.touchesTaken)
            var isWritten = false
            defer { owner.finishTouches(written: isWritten) }
            try writer.write(touches, of: archive)
            CrashPoint.reached(.touchesCommitted)
            isWritten = true
            return (touches.count == limit, WriteState(writer))
        }
        guard let (more, state) = written else { return false }
        scheduleMaintenance(state)
        return more
    }

    /// Writes the last touches of an owner that is being released.
    func write(_ touches: [Touch], of number: Int64) {
        runMaintenance { (file) throws(SQLiteError) in
            try file.withWriter(of: number) { (writer, archive) throws(SQLiteError) in try writer.write(touches, of: archive) }
        }
    }

    // MARK: Snapshots

    /// Ends leases that were not used since `reads` was recorded, and checks again later while others are left.
    func endIdleLeases(since reads: [UInt64]) {
        var reads = reads
        guard readers.endIdleLeases(since: &reads) else { return }
        let seen = reads
        schedule(.endLeases) { (file) throws(SQLiteError) in file.endIdleLeases(since: seen) }
    }
}

extension WriteConnection {
    func write(_ touches: [Touch], of archive: ArchiveWriter) throws(SQLiteError) {
        try transaction { () throws(SQLiteError) in
            try archive.load()
            try archive.write(touches)
            CrashPoint.reached(.touchesWritten)
        }
    }
}
