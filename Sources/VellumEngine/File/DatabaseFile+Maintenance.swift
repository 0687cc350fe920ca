internal import Dispatch
internal import Synchronization
package import VellumCore

// Background work: returning space to the file system, touches and read leases. Checkpoints are in
// `LogKeeper`.

extension DatabaseFile {
    /// Schedules `work` after the task's delay, once. Does nothing if the file is released by then.
    func schedule(
        _ task: Maintenance.Task,
        after delay: DispatchTimeInterval? = nil,
        _ work: @escaping @Sendable (DatabaseFile) throws(SQLiteError) -> Void
    ) {
        // What is due of a file that is only read, too.
        let isOfReading = task == .endLeases || task == .writeTouches
        maintenance.schedule(task, after: delay) { [weak self] in
            self?.runMaintenance(evenIfOnlyRead: isOfReading, work)
        }
    }

    /// Schedules a step that a full disk or another process can hinder: it is then reported once,
    /// and tried again every two seconds.
    func scheduleTrying(
        _ task: Maintenance.Task,
        after delay: DispatchTimeInterval?,
        isRetry: Bool = false,
        _ work: @escaping @Sendable (DatabaseFile) throws(SQLiteError) -> Void
    ) {
        schedule(task, after: delay) { file throws(SQLiteError) in
            do throws(SQLiteError) {
                try work(file)
            } catch {
                guard error.isFull || VellumError(error).code == .busy else { throw error }
                file.scheduleTrying(task, after: .seconds(2), isRetry: true, work)
                if !isRetry { throw error }
            }
        }
    }

    /// Lets a waiting writer go on between two steps. The thread that releases a mutex otherwise
    /// takes it again before the other one wakes.
    private func letWritersIn() { BusyRetry.milliseconds(0.05) }

    /// Runs `work` now. Errors are logged and reported to the file's delegates, because there is no
    /// caller.
    func runMaintenance(
        evenIfOnlyRead: Bool = false,
        _ work: (DatabaseFile) throws(SQLiteError) -> Void
    ) {
        guard location.isAtWork,
            withWriter({ evenIfOnlyRead || $0.connection.writeRefusal == nil }) ?? false
        else { return }
        do throws(SQLiteError) {
            try work(self)
        } catch {
            Log.error("Maintenance of an archive file failed.", error)
            let failure = note(VellumError(classify(error)))
            for owner in owners { owner.archiveDidReport(.failure(failure)) }
        }
    }

    /// Blocks until all background work that is due is done. For tests.
    package func waitForMaintenance() { maintenance.wait() }

    /// Reads the whole file and returns the problems found: in its structure (SQLite's
    /// `integrity_check`), the entries' checksums, the totals, the eviction order and the indexes.
    /// Changes no data, blocks no other call, and reads one snapshot. If there are problems other
    /// than damaged entries, the next opening salvages the readable entries.
    ///
    /// - Complexity: O(size of the file).
    package func verify() throws(VellumError) -> VerificationReport {
        try withUsableFile { () throws(SQLiteError) in
            try commitBatch()
            let connection = try location.connect(SQL.readerSettings)
            try connection.execute(SQL.verifierSettings)
            try connection.execute(SQL.begin)
            var report = try VerificationReport(reading: connection)
            if report.needsSalvage {
                if let failure = connection.readFailure() { throw failure }
                try report.readPastDamage(of: path, access: access)
                if !access.isReading { Recovery.markDamaged(path) }
            }
            return report
        }
    }

    // MARK: Compacting

    /// Returns what the file does not use to the file system, in small transactions between which
    /// others write.
    ///
    /// - Throws: ``VellumError``; ``VellumError/Code/busy`` if a reader keeps the log from being
    ///   copied for 10 seconds.
    package func compact() throws(VellumError) {
        try transactions.refuseWrite()
        try withUsableFile { () throws(SQLiteError) in
            if let refusal = withWriter({ $0.connection.writeRefusal }) { throw refusal }
            try commitBatch()
            try stepping { file throws(SQLiteError) in try file.deleteManyCleared() }
            try stepping { file throws(SQLiteError) in
                try file.withWriter { writer throws(SQLiteError) in
                    try writer.returnPages(256, evenIfFew: true) ? .someLeft : .noneLeft
                }
                    ?? .noneLeft
            }
            do throws(SQLiteError) {
                try log.emptyLog()
            } catch {
                // The file gets shorter when the reader has ended.
                guard VellumError(error).code == .busy else { throw error }
                scheduleCheckpoint()
            }
        }
    }

    /// Runs a step until nothing is left, and copies the log whenever it is long.
    private func stepping(_ step: (DatabaseFile) throws(SQLiteError) -> Rest) throws(SQLiteError) {
        var latest = CoarseClock.milliseconds + 10_000
        while true {
            if log.isLong {
                _ = try log.copy()
                guard log.isLong else { continue }
                guard CoarseClock.milliseconds < latest else { throw .busy }
                BusyRetry.milliseconds(5)
                continue
            }
            latest = CoarseClock.milliseconds + 10_000
            guard case .someLeft = try step(self) else { return }
            letWritersIn()
        }
    }

    // MARK: The log

    /// Schedules the copying of the log and the return of free pages.
    func scheduleCheckpoint(after delay: DispatchTimeInterval? = nil) {
        if maintenance.isDueNow(.checkpoint) { return }
        scheduleTrying(.checkpoint, after: delay) { file throws(SQLiteError) in
            try file.checkpoint()
        }
    }

    /// Returns free pages to the file system and copies the log into the database.
    func checkpoint() throws(SQLiteError) {
        let hasMoreSpace = try reclaimSpace()
        defer {
            if hasMoreSpace {
                scheduleCheckpoint(after: isWritingOnFullDisk ? .milliseconds(50) : nil)
            }
        }
        let (blocked, isUntruncated) = try log.copy()
        // The file is truncated when all of the log is copied, for which a reader may have to end
        // its snapshot.
        if isUntruncated { scheduleCheckpoint(after: .milliseconds(50)) }
        if let left = log.timeToNextRestart { scheduleCheckpoint(after: .milliseconds(Int(left))) }
        if let blocked {
            Log.logHeldBack(path, blocked.logSize, by: blocked.process)
            let event = StoreEvent.logHeldBack(process: blocked.process, logSize: blocked.logSize)
            for owner in owners { owner.archiveDidReport(event) }
        }
        do throws(SQLiteError) {
            try analyseIndexes()
        } catch {
            // Statistics may be missing or old. Another checkpoint makes them.
            guard error.isFull || VellumError(error).code == .busy else { throw error }
        }
    }

    // MARK: Free pages

    /// Returns free pages to the file system, once they are a quarter of the file and more than a
    /// megabyte: 256 in a transaction, until the log is long, because pages that are moved are
    /// written to it. On a full disk fewer.
    ///
    /// - Parameter isClosing: Whether to return them also while entries are being deleted: pages
    ///   are moved then that become free a moment later.
    /// - Returns: Whether pages were freed, so that more may be left.
    func reclaimSpace(isClosing: Bool = false) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            while true {
                switch try returnManyPages(isClosing: isClosing) {
                case .noneLeft: return false
                case .leftToAnother: return true
                case .someLeft where log.isLong: return true
                case .someLeft: letWritersIn()
                }
            }
        } catch {
            guard error.isFull else { throw error }
            return try log.retryingWhenFull { () throws(SQLiteError) in
                try withWriter { writer throws(SQLiteError) in try writer.returnPages(16) }
                    ?? false
            }
        }
    }

    /// What a step of maintenance has left to do.
    private enum Rest {
        case someLeft, noneLeft
        /// A thread that writes on the full disk does it: the log must be left to it, and it
        /// deletes what it needs itself.
        case leftToAnother
    }

    /// All that is asked is asked in one turn at the writer's lock: a writer may wait for each.
    private func returnManyPages(isClosing: Bool) throws(SQLiteError) -> Rest {
        // A file that is closed has none.
        try withWriter { writer throws(SQLiteError) -> Rest in
            if writer.mayHoldCleared, !isClosing { return .noneLeft }
            if writer.isOnFullDisk { return .leftToAnother }
            return try writer.returnPages(256) ? .someLeft : .noneLeft
        } ?? .noneLeft
    }

    /// Whether a thread is trying to write on a full disk.
    var isWritingOnFullDisk: Bool { withWriter { $0.isOnFullDisk } ?? false }

    // MARK: Archives that were emptied

    func scheduleDeletingCleared(after delay: DispatchTimeInterval? = nil) {
        scheduleTrying(.deleteCleared, after: delay) { file throws(SQLiteError) in
            // The pages that became free are returned.
            guard try file.deleteCleared() else { return file.scheduleCheckpoint() }
            // A log that is still long is held by a reader.
            file.scheduleDeletingCleared(
                after: file.log.isLong || file.isWritingOnFullDisk ? .milliseconds(50) : nil
            )
        }
    }

    /// Deletes some entries that were there when their archive was emptied.
    ///
    /// - Returns: Whether there may be more.
    private func deleteCleared() throws(SQLiteError) -> Bool {
        var hasMore = true
        do throws(SQLiteError) {
            while hasMore, !log.isLong {
                switch try deleteManyCleared() {
                case .someLeft: letWritersIn()
                case .noneLeft: hasMore = false
                case .leftToAnother: return true
                }
            }
        } catch {
            guard error.isFull else { throw error }
            try log.emptyLog()
            hasMore = try log.deleteFewCleared()
        }
        if hasMore { try checkpoint() }
        return hasMore
    }

    private func deleteManyCleared() throws(SQLiteError) -> Rest {
        // A file that is closed has none.
        try withWriter { writer throws(SQLiteError) -> Rest in
            // Asked under the lock, so that no thread begins to try in between.
            if writer.isOnFullDisk { return .leftToAnother }
            return try writer.deleteCleared(limit: 256) ? .someLeft : .noneLeft
        } ?? .noneLeft
    }

    /// Schedules the return of space that an earlier process left.
    ///
    /// A damaged list of free pages does not keep the file from being opened: a write that needs a
    /// free page finds it.
    func scheduleReclaiming() {
        do throws(SQLiteError) {
            let (isWorthwhile, isCleared) =
                try withWriter { writer throws(SQLiteError) in
                    (try writer.hasSpaceToReturn, try writer.findLeftRows())
                } ?? (false, false)
            if isCleared { scheduleDeletingCleared() }
            if isWorthwhile { scheduleCheckpoint() }
        } catch {
            Log.error("The free pages of an archive file could not be counted.", error)
        }
    }

    // MARK: The eviction order

    /// Schedules the writing of touches, and schedules it again while there are more.
    func scheduleWritingTouches() {
        schedule(.writeTouches) { file throws(SQLiteError) in
            // Memory hits do not look: a process that only has these notices here that the file, or
            // what others announce, is elsewhere.
            guard file.isInPlace else { return }
            if try file.writeAllTouches() { file.scheduleWritingTouches() }
            try file.writeSizings()
        }
    }

    /// Whether the file is still there. Its owners are told if it is not, or if it cannot be found
    /// out.
    private var isInPlace: Bool {
        do throws(VellumError) {
            try checkLocation()
            return true
        } catch {
            if error.code != .vanished {
                for owner in owners { owner.archiveDidReport(.failure(error)) }
            }
            return false
        }
    }

    /// Writes the touches that the archives' owners hold now, in small transactions. Later touches
    /// are not written.
    ///
    /// - Returns: Whether there are more.
    @discardableResult
    package func writeAllTouches() throws(SQLiteError) -> Bool {
        var hasMore = false
        for archive in writing.archives {
            let count = archive.owner?.pendingTouchCount ?? 0
            var left = count
            while left > 0, try writeTouches(of: archive) {
                left -= 256
                letWritersIn()
            }
            hasMore = hasMore || (count > 0 && left <= 0)
        }
        return hasMore
    }

    /// Writes the touches of an archive before a query, which reads from the file when entries were
    /// last used. The query continues without them if they cannot be written because the disk is
    /// full, busy or read-only.
    func writeTouchesBeforeQuery(of archive: Archive) throws(SQLiteError) {
        do throws(SQLiteError) {
            var left = archive.owner?.pendingTouchCount ?? 0
            while left > 0, try writeTouches(of: archive) { left -= 256 }
        } catch {
            guard [.diskFull, .busy, .readOnly].contains(VellumError(error).code) else {
                throw error
            }
            Log.error("Touches could not be written before a query.", error)
        }
    }

    /// Writes up to 256 touches of an archive.
    ///
    /// - Returns: Whether there may be more.
    func writeTouches(of archive: Archive) throws(SQLiteError) -> Bool {
        let limit = 256  // Each may change a different page, and the log is bounded.
        let written = try log.retryingWhenFull { () throws(SQLiteError) in
            try writeSomeTouches(of: archive, limit: limit)
        }
        guard let (count, commit) = written else { return false }
        didCommit(commit)
        return count == limit
    }

    /// - Returns: How many were written; `nil` if there are none.
    private func writeSomeTouches(
        of archive: Archive,
        limit: Int
    ) throws(SQLiteError) -> (count: Int, Commit)? {
        try withWriter(of: archive) { writer throws(SQLiteError) -> (count: Int, Commit)? in
            // Taken under the lock, so that no eviction runs between taking and writing them.
            guard let owner = archive.owner else { return nil }
            guard writer.connection.writeRefusal == nil else {
                // Those of a file that may only be read are forgotten: memory would hold ever more
                // of them.
                _ = owner.takeTouches(limit: .max)
                owner.finishTouches(written: true)
                return nil
            }
            let touches = owner.takeTouches(limit: limit)
            guard !touches.isEmpty else { return nil }
            CrashPoint.reached(.touchesTaken)
            var isWritten = false
            defer { owner.finishTouches(written: isWritten) }
            guard let commit = try writer.write(touches, of: archive) else { return nil }
            CrashPoint.reached(.touchesCommitted)
            isWritten = true
            return (touches.count, commit)
        }
    }

    /// Writes the last touches of an owner that is being released.
    func write(_ touches: [Touch], of archive: Archive) {
        runMaintenance { file throws(SQLiteError) in
            // It may have been opened again meanwhile, by another owner.
            let commit = try file.withWriter { writer throws(SQLiteError) in
                try writer.write(touches, of: archive)
            }
            if let commit { file.didCommit(commit) }
        }
    }

    // MARK: Other limits, written beside the eviction order for tools to find

    /// How many milliseconds at least are between two writes for an archive.
    private static let sizingPause: Int64 = 60_000

    /// Writes what the archives' owners know of other limits, each at most once a minute.
    func writeSizings(isClosing: Bool = false) throws(SQLiteError) {
        for archive in writing.archives { try writeSizing(of: archive, isClosing: isClosing) }
    }

    /// - Throws: ``SQLiteError`` for damage. It is advice: a disk that is full or busy keeps nobody
    ///   from closing the file.
    func writeSizing(of archive: Archive, isClosing: Bool) throws(SQLiteError) {
        let now = clock.now()
        let pause = isClosing ? 0 : Self.sizingPause
        // Most have not been read often enough since they were opened.
        guard let owner = archive.owner,
            archive.upkeep.withLock({ $0.isSizingDue(at: now, after: pause) }),
            owner.sizing(ofDisk: 1) != nil,
            withWriter({ $0.connection.writeRefusal == nil }) ?? false
        else { return }
        do throws(SQLiteError) {
            let written = try inTransaction(archive) {
                edit throws(SQLiteError) -> (Sizing, DataSize?)? in
                guard let sizing = owner.sizing(ofDisk: edit.sizeOfDisk) else { return nil }
                try edit.write(sizing, at: now)
                return (
                    sizing,
                    edit.state.totals.limit.isGiven == 0 ? edit.state.totals.limit.size : nil
                )
            }
            if let (sizing, limit) = written ?? nil, let limit { archive.adviseSize(sizing, limit) }
        } catch {
            if error.isDamage { throw error }
            Log.error("What is known of the limits of an archive could not be written.", error)
        }
    }

    // MARK: Snapshots

    /// Ends leases that were not used since `reads` was recorded, and checks again later while
    /// others are left.
    func endIdleLeases(since reads: [UInt64]) {
        var reads = reads
        guard readers.endIdleLeases(since: &reads) else { return }
        let seen = reads
        schedule(.endLeases) { file throws(SQLiteError) in file.endIdleLeases(since: seen) }
    }
}

extension Writer {
    /// Whether free pages are a quarter of the file, and more than a megabyte.
    fileprivate var hasSpaceToReturn: Bool {
        get throws(SQLiteError) {
            let free = try connection.int(SQL.freePageCount)?.value ?? 0
            let pages = try connection.int(SQL.pageCount)?.value ?? 0
            return free > 256 && free * 4 > pages
        }
    }

    /// Returns so many free pages to the file system, if there are many.
    ///
    /// - Returns: Whether pages were freed, so that more may be left.
    fileprivate func returnPages(_ limit: Int, evenIfFew: Bool = false) throws(SQLiteError) -> Bool
    {
        try endBatch()
        forgetRemovals()
        guard try evenIfFew ? connection.int(SQL.freePageCount)?.value ?? 0 > 0 : hasSpaceToReturn,
            connection.writeRefusal == nil
        else {
            return false
        }
        CrashPoint.reached(.spaceReturnBegins)
        let before = try bytesOfPages
        try connection.execute(SQL.freePages(limit))
        countCommit()
        CrashPoint.reached(.spaceReturned)
        // A damaged file may name free pages that it does not have.
        return try bytesOfPages < before
    }

    /// - Returns: `nil` if the archive holds another version of its cache: the entries are gone.
    fileprivate func write(_ touches: [Touch], of archive: Archive) throws(SQLiteError) -> Commit? {
        do throws(SQLiteError) {
            return try transaction { transaction throws(SQLiteError) in
                try transaction.edit(of: archive).write(touches)
                CrashPoint.reached(.touchesWritten)
            }.1
        } catch {
            guard error.isVersionReplaced else { throw error }
            return nil
        }
    }
}
