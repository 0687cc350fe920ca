internal import Dispatch
internal import Synchronization
internal import VellumCore

// What happens behind the callers' backs: checkpoints, uses, leases, and giving space back.

extension DatabaseFile {
    /// Does a chore after its delay, once, unless the file is gone by then.
    func schedule(
        _ task: Maintenance.Task, after delay: DispatchTimeInterval? = nil,
        _ work: @escaping @Sendable (DatabaseFile) throws(SQLiteError) -> Void
    ) {
        maintenance.schedule(task, after: delay) { [weak self] in self?.runMaintenance(work) }
    }

    /// Does a chore now, and tells of its failure: there is no caller to tell.
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

    /// Waits until everything that is due behind the callers' backs is done: for tests.
    package func waitForHousekeeping() { maintenance.wait() }

    // MARK: The log

    /// Copies the log into the database and lets the next writer begin it anew.
    ///
    /// First as much as can be without stopping anyone, then, if the log is still long, the rest while writers wait:
    /// a log that readers or writers keep busy would never begin anew by itself.
    func checkpoint() throws(SQLiteError) {
        let hasMoreSpace = try reclaimSpace()
        defer { if hasMoreSpace { schedule(.checkpoint) { (file) throws(SQLiteError) in try file.checkpoint() } } }
        let holdUp = try checkpointing.withLock { (connection: inout Connection?) throws(SQLiteError) -> HoldUp? in
            guard state == .open else { return nil }
            // Others may have tried while this thread waited for the lock.
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
        guard let holdUp else { return }
        Log.logHeldBack(path, holdUp)
        let event = StoreEvent.logHeldBack(process: holdUp.process, logSize: holdUp.logSize)
        for owner in delegates { owner.archiveDidReport(event) }
    }

    /// Tries once more when it is time, where a reader of another process was in the way.
    func scheduleNextRestart() {
        let left = nextRestart.load(ordering: .relaxed) &- CoarseClock.milliseconds
        guard 1...RestartBackoff.longest ~= left else { return }
        // A coarse clock may be a few milliseconds late.
        schedule(.checkpoint, after: .milliseconds(Int(left) + 5)) { (file) throws(SQLiteError) in try file.checkpoint() }
    }

    /// A log that cannot begin anew.
    struct HoldUp: Sendable {
        /// The process that keeps reading it, where the system tells its number.
        var process: Int32?
        var logSize: DataSize
    }

    /// Copies the rest of a log of so many pages while writers wait, unless a reader of another process is in the way.
    ///
    /// - Parameter copied: How many pages could be copied while nobody waited.
    /// - Returns: What to report, once readers count as stopped.
    private func restartLog(of pages: Int, copied: Int) throws(SQLiteError) -> HoldUp? {
        let patience = restarts.withLock { $0.patience(isLong: pages >= 2 * LogLimit.checkpointAt) }
        let oldest = try readers.withoutLeases { () throws(SQLiteError) in
            // By the connection that writes, so that writers of this process wait for a lock and not in SQLite's sleep.
            try withWriter { (writer) throws(SQLiteError) -> [Int]? in
                try writer.commitBatch()
                do throws(SQLiteError) {
                    CrashPoint.reached(.restartBegins)
                    // The snapshots of other processes last for some milliseconds, or until these have a processor again.
                    changes.page.askForLog(until: CoarseClock.milliseconds + patience)
                    defer { changes.page.askForLog(until: 0) }
                    try writer.connection.restartLog(patience: patience)
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
        return HoldUp(
            process: heartbeat.process(readingThrough: oldest), logSize: DataSize(bytes: FileSystem.size(path + "-wal")))
    }

    /// Runs a write, and once more with an empty log if the disk was full: the space that the log has is then there for it.
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

    /// Returns free pages to the file system, a few at a time, once they are a quarter of the file and more than a megabyte.
    ///
    /// - Returns: Whether there are more.
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

    // MARK: The order of use

    /// Writes uses down in a while, and again while more have come.
    func scheduleWritingOfUses() {
        schedule(.writeUses) { (file) throws(SQLiteError) in
            if try file.writeAllUses() { file.scheduleWritingOfUses() }
        }
    }

    /// Writes down what the owners of archives know of uses by now, in small transactions. Uses that come meanwhile wait.
    ///
    /// - Returns: Whether there are more.
    @discardableResult
    func writeAllUses() throws(SQLiteError) -> Bool {
        let archives = withWriter { $0.allArchives.map { ($0.id, $0.owner?.pendingTouchCount ?? 0) } } ?? []
        var hasMore = false
        for (number, count) in archives {
            var left = count
            while left > 0, try writeUses(number) { left -= 256 }
            hasMore = hasMore || (count > 0 && left <= 0)
        }
        return hasMore
    }

    /// Writes down what the owner of one archive knows by now, as far as the disk takes it: a query judges by it which entries are
    /// valid. One that cannot be written is missing for the query, which must not fail for that.
    func writeUsesBeforeQuery(of number: Int64) throws(SQLiteError) {
        do throws(SQLiteError) {
            var left = withWriter(of: number) { $1.owner?.pendingTouchCount } ?? 0
            while left > 0, try writeUses(number) { left -= 256 }
        } catch {
            guard [.diskFull, .busy, .readOnly].contains(VellumError(error).code) else { throw error }
            Log.error("The order of use could not be written down before a query.", error)
        }
    }

    /// Writes down a part of what the owner of one archive knows.
    ///
    /// - Returns: Whether there may be more.
    func writeUses(_ number: Int64) throws(SQLiteError) -> Bool {
        let limit = 256  // Each may touch a page of its own, and the log is bounded.
        let written = try withWriter(of: number) { (writer, archive) throws(SQLiteError) -> (Bool, WriteState)? in
            // The owner is asked inside the lock, so that no eviction comes between its giving and our writing.
            guard let owner = archive.owner else { return nil }
            let uses = owner.takeTouches(limit: limit)
            guard !uses.isEmpty else { return nil }
            CrashPoint.reached(.usesTaken)
            var isWritten = false
            defer { owner.finishTouches(written: isWritten) }
            try writer.write(uses, of: archive)
            CrashPoint.reached(.usesCommitted)
            isWritten = true
            return (uses.count == limit, WriteState(writer))
        }
        guard let (more, state) = written else { return false }
        scheduleMaintenance(state)
        return more
    }

    /// Writes down the last uses of an owner that is gone.
    func write(_ uses: [Touch], of number: Int64) {
        runMaintenance { (file) throws(SQLiteError) in
            try file.withWriter(of: number) { (writer, archive) throws(SQLiteError) in try writer.write(uses, of: archive) }
        }
    }

    // MARK: Snapshots

    /// Ends snapshots that no one has used since the last look, and looks again while there are others.
    func endIdleLeases(since reads: [UInt64]) {
        var reads = reads
        guard readers.endIdleLeases(since: &reads) else { return }
        let seen = reads
        schedule(.endLeases) { (file) throws(SQLiteError) in file.endIdleLeases(since: seen) }
    }
}

extension WriteConnection {
    func write(_ uses: [Touch], of archive: ArchiveWriter) throws(SQLiteError) {
        try transaction { () throws(SQLiteError) in
            try archive.load()
            try archive.write(uses)
            CrashPoint.reached(.usesWritten)
        }
    }
}
