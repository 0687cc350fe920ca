internal import Synchronization
package import VellumCore

// Reading and writing: every call of the disk begins here.

extension DatabaseFile {
    /// Runs `body` with the connection that writes, under its lock. Returns `nil` if the file is
    /// suspended or closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        _ body: (Writer) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writing.withWriter(body)
    }

    /// The same. Returns `nil` also if the archive was closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        of archive: Archive,
        _ body: (Writer) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writing.withWriter { writer throws(Failure) -> Result? in
            archive.isListed ? try body(writer) : nil
        }
    }

    /// Runs `finish` with the writer, if there is one, then closes it and sets the state.
    @discardableResult
    func closeWriter<Result: Sendable, Failure: Error>(
        as state: FileState,
        _ finish: (Writer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try writing.close { writer throws(Failure) -> Result in
            let result = try finish(writer)
            location.set(state)
            return result
        }
        // Observers of a file that has vanished ask once more, and get the error.
        if state == .closed { watcher.end() } else { watcher.askAgain() }
        return result
    }

    /// The stores of the file's open archives.
    var owners: [any ArchiveOwner] { writing.archives.compactMap(\.owner) }

    /// The error of a call that has found no writer and no reader.
    var unusable: VellumError {
        switch state {
        case .suspended: .suspended
        case .vanished: .vanished
        case .open, .closed: .closed
        }
    }
}

extension DatabaseFile {
    /// Runs `body` with the tables of an archive, which show every committed write, and relaxed
    /// writes that are not committed yet.
    ///
    /// - Parameters:
    ///   - onlyCommitted: Whether to leave out relaxed writes that are not committed, and so not to
    ///     wait for the writer.
    ///   - isCancelled: Asked every 1,000 instructions of SQLite; `nil` for never.
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of
    ///   its cache.
    package func reading<Result: Sendable>(
        _ archive: Archive,
        onlyCommitted: Bool = false,
        interruptedWhen isCancelled: (() -> Bool)? = nil,
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        try archive.checkOpen()
        try checkUsable()
        do throws(SQLiteError) {
            if let result = try read(
                archive,
                onlyCommitted: onlyCommitted,
                interruptedWhen: isCancelled,
                body
            ) {
                return result
            }
        } catch {
            throw located(error)
        }
        throw unusable
    }

    /// Runs `body` with the tables of an archive, in one snapshot, while no thread of this process
    /// commits.
    func readingInCommitOrder(
        _ archive: Archive,
        _ body: (ArchiveTables) throws(SQLiteError) -> Void
    ) throws(VellumError) {
        try archive.checkOpen()
        try withUsableWriter { writer throws(SQLiteError) in
            try writer.readingInOneSnapshot(archive, body)
        }
    }

    /// Runs `body` with the connection that writes, if the file may be used, and maps its errors.
    func withUsableWriter<Result: Sendable>(
        _ body: (Writer) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        let result = try withUsableFile { () throws(SQLiteError) in try withWriter(body) }
        guard let result else { throw unusable }
        return result
    }

    /// - Returns: What `body` returned; `nil` if the file is closed.
    func read<Result: Sendable>(
        _ archive: Archive,
        onlyCommitted: Bool = false,
        interruptedWhen isCancelled: (() -> Bool)? = nil,
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        guard !archive.isReplaced else { throw .versionReplaced }
        do throws(SQLiteError) {
            if !onlyCommitted, writing.openBatch.exists.load(ordering: .acquiring) {
                var result: Result?
                try writing.withWriter { writer throws(SQLiteError) in
                    try writer.reading(archive) { tables throws(SQLiteError) in
                        if let isCancelled { tables.connection.interrupt(when: isCancelled) }
                        defer { if isCancelled != nil { tables.connection.interrupt(when: nil) } }
                        result = try body(tables)
                    }
                }
                return result
            }
            guard
                let (result, beganLease) = try readers.read(
                    archive,
                    interruptedWhen: isCancelled,
                    body
                )
            else { return nil }
            if beganLease {
                schedule(.endLeases) { file throws(SQLiteError) in file.endIdleLeases(since: []) }
            }
            return result
        } catch {
            if error.isVersionReplaced, archive.cacheVersion != nil, !archive.isReplaced {
                archive.versionWasReplaced()
            }
            throw error
        }
    }
}

// Writes to any number of archives in one transaction.

extension DatabaseFile {
    /// Carries out the writes in one transaction and calls `update` under the writer's lock, so
    /// that memory is updated in commit order (decision 5).
    ///
    /// Relaxed writes that no other process can read are visible when they are in the open batch;
    /// the COMMIT comes later.
    package func commit(
        _ writes: [ArchiveWrite],
        durability: Durability,
        updatingMemory update: ([WriteOutcome]) -> Void
    ) throws(VellumError) {
        try check(writes)
        let commits = try carryOut(writes, isRelaxed: durability == .relaxed, update)
        if durability == .powerSafe { try sync(through: commits) }
    }

    /// Checks that the caller may make the writes.
    func check(_ writes: [ArchiveWrite]) throws(VellumError) {
        if transactions.areRunning, writes.contains(where: { $0.changesFile }) {
            try transactions.refuseWrite()
        }
        for index in writes.indices
        where index == 0 || writes[index].archive !== writes[index - 1].archive {
            try writes[index].archive.check(writes)
        }
        try checkUsable()
    }

    /// Carries out writes that were checked, on a full disk again.
    ///
    /// - Returns: The number of commits so far.
    func carryOut(
        _ writes: [ArchiveWrite],
        isRelaxed: Bool,
        _ update: ([WriteOutcome]) -> Void
    ) throws(VellumError) -> UInt64 {
        let commit: Commit?
        do throws(SQLiteError) {
            do throws(SQLiteError) {
                commit = try writing.carryOut(writes, isRelaxed: isRelaxed, of: self, update)
            } catch {
                guard error.isFull else { throw error }
                commit = try log.retry(after: error) { () throws(SQLiteError) in
                    try writing.carryOut(writes, isRelaxed: isRelaxed, of: self, update)
                }
            }
        } catch {
            throw located(error)
        }
        guard let commit else { throw unusable }
        didCommit(commit)
        return commit.due.commits
    }

    /// Makes commits up to this one survive power loss.
    func sync(through commits: UInt64) throws(VellumError) {
        try mappingErrors { () throws(SQLiteError) in try log.sync(through: commits) }
    }

    /// Runs `body` in a transaction of its own, on a full disk again, and does what that makes due.
    /// Returns `nil` if the file is suspended or closed, or the archive closed.
    func inTransaction<Result: Sendable>(
        _ archive: Archive,
        _ body: (ArchiveEdit) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        let done = try log.retryingWhenFull { () throws(SQLiteError) in
            try withWriter(of: archive) { writer throws(SQLiteError) in
                try writer.transaction { transaction throws(SQLiteError) in
                    try body(transaction.edit(of: archive))
                }
            }
        }
        guard let (result, commit) = done else { return nil }
        didCommit(commit)
        return result
    }

    /// Tells everybody what has changed, and schedules what that makes due: log messages, sweeps,
    /// batch commits and checkpoints. Memory was updated under the lock. Called without one.
    func didCommit(_ commit: Commit) {
        watcher.tell(commit)
        let due = commit.due
        for (archive, limit) in due.evictionsByDefault { archive.noteEvictionByDefault(limit) }
        if needsSweep(for: due.earliestEnd) { scheduleSweep(for: due.earliestEnd) }
        if due.mayHoldCleared { scheduleDeletingCleared() }
        if due.isOpen {
            schedule(.commitBatch) { file throws(SQLiteError) in try file.commitBatch() }
        }
        let hasLongLog = due.logFrames >= LogLimit.checkpointAt
        if due.logFrames >= LogLimit.waitFor, location.isShared, waitForRestart() { return }
        // A reader blocks the log; the next try is already scheduled.
        if hasLongLog, log.isBlocked { return }
        if due.logFrames >= LogLimit.waitFor {
            // The log grows faster than the background checkpoint copies it, so the writer runs one
            // itself.
            runMaintenance { file throws(SQLiteError) in try file.checkpoint() }
        } else if hasLongLog || due.bytesRemoved >= 1 << 20 {
            scheduleCheckpoint()
        }
    }

    /// Waits while another thread or process restarts the log, which would grow further meanwhile.
    /// Called without a lock.
    ///
    /// - Returns: Whether one did, and ended in time.
    private func waitForRestart() -> Bool {
        var now = CoarseClock.milliseconds
        guard location.changesFile.page.isLogRestartRequested(at: now) else { return false }
        let end = now + 100
        while now < end {
            BusyRetry.milliseconds(1)
            now = CoarseClock.milliseconds
            if !location.changesFile.page.isLogRestartRequested(at: now) { return true }
        }
        return false
    }

    /// How long an opening waits for relaxed writes of others, in milliseconds.
    @TaskLocal package static var longestWaitForBatches: Int64 = 2000

    /// Waits for relaxed writes that other processes acknowledged before this one opened the file:
    /// usually 20 milliseconds, at most ``longestWaitForBatches``. Later relaxed writes of those
    /// processes commit before they return (decision 35).
    func waitForOpenBatches(_ connection: Connection) throws(SQLiteError) {
        // Other processes see a connection once it has read.
        _ = try connection.int(SQL.tableCount)
        location.changesFile.page.announceOpening()
        if location.isShared {
            try connection.waitForWriters(timeout: Self.longestWaitForBatches)
        } else {
            // A process that was killed may have left a request.
            location.changesFile.page.requestLogRestart(until: 0)
        }
    }

    /// Commits relaxed writes that wait in an open transaction.
    package func commitBatch() throws(SQLiteError) {
        if let commit = try withWriter({ writer throws(SQLiteError) in try writer.commitBatch() }) {
            didCommit(commit)
        }
    }
}

// Writes of tasks (decision 86).

extension DatabaseFile {
    /// The writes of tasks that wait.
    var writes: WriteLane { writing.lane }

    /// Carries out the writes of calls, those that are not relaxed in one transaction, and notes in
    /// each why it failed.
    ///
    /// - Returns: The number of commits so far, which a sync must cover.
    func carryOut(_ calls: [WriteCall]) -> UInt64 {
        for call in calls { call.stamp() }
        let together = calls.count > 1 ? calls.filter { $0.durability > .relaxed } : []
        guard together.count > 1 else { return carryOutAlone(calls) }
        let relaxed = calls.filter { $0.durability == .relaxed }
        let commits = carryOutAlone(relaxed)
        guard !relaxed.contains(where: { $0.failure?.code == .busy }) else {
            for call in together { call.isPutBack = true }
            return commits
        }
        return max(commits, carryOutTogether(together))
    }

    /// Carries out calls in one transaction, in the order in which they came.
    private func carryOutTogether(_ calls: [WriteCall]) -> UInt64 {
        do throws(SQLiteError) {
            calls.first?.noteStart()
            let commit = try writing.withWriter { writer throws(SQLiteError) in
                try writer.commit(calls)
            }
            if let commit { didCommit(commit) }
            for call in calls {
                call.failure = commit == nil ? unusable : call.refusal.map(located)
            }
            return commit?.due.commits ?? 0
        } catch {
            // There may be room for some.
            if error.isFull { return carryOutAlone(calls) }
            let failure = located(error)
            for (index, call) in calls.enumerated() {
                // Each waits for another process as long as the first.
                call.isPutBack = error.isOfOtherProcess && index > 0 && !call.hasWaited
                if !call.isPutBack { call.failure = failure }
            }
            return 0
        }
    }

    private func carryOutAlone(_ calls: [WriteCall]) -> UInt64 {
        var commits: UInt64 = 0
        var isBusy = false
        for call in calls {
            guard !isBusy else {
                call.isPutBack = true
                continue
            }
            call.noteStart()
            do throws(VellumError) {
                commits = max(
                    commits,
                    try carryOut(
                        call.writes,
                        isRelaxed: call.durability == .relaxed,
                        call.updateMemory
                    )
                )
            } catch {
                call.failure = error
                isBusy = error.code == .busy
            }
        }
        return commits
    }

    func syncFailure(through commits: UInt64) -> VellumError? {
        do throws(VellumError) {
            try sync(through: commits)
            return nil
        } catch {
            return error
        }
    }
}

// Whether the file may be used.

extension DatabaseFile {
    /// Checks that the file may be used. Every call starts with it.
    ///
    /// - Throws: ``VellumError/Code/forked``, ``VellumError/Code/suspended`` or
    ///   ``VellumError/Code/vanished``.
    func checkUsable() throws(VellumError) {
        if try !location.isUsable() { try checkLocation() }
    }

    /// Checks that the database, its log and its changes file are still at their paths.
    ///
    /// - Throws: ``VellumError/Code/vanished``, or ``VellumError/Code/cannotOpen`` for the changes
    ///   file.
    func checkLocation() throws(VellumError) {
        if state == .vanished { throw .vanished }
        switch location.look() {
        case .otherFile:
            abandon()
            throw .vanished
        case .noLog:
            // Whoever closes last removes the log, this process too. Its closing holds the writer's
            // lock: without a writer the file is closed, and the next step says so.
            if withWriter({ _ in true }) == nil { return }
            // The processes that have the log open copy it into the database when they close.
            abandon(keepingLog: false)
            throw .vanished
        case .sameFile: break
        }
        do {
            if try location.changesFile.remapIfReplaced() { watcher.pageWasReplaced() }
        } catch {
            throw VellumError(
                .cannotOpen,
                "The changes file beside the archive cannot be opened.",
                cause: error
            )
        }
    }

    /// Releases a file that has vanished, without touching a file that may have replaced it, and
    /// notifies its owners.
    func abandon(keepingLog: Bool = true) {
        guard
            location.move(from: .open, to: .vanished)
                || location.move(from: .suspended, to: .vanished)
        else { return }
        Log.error(
            """
            An archive file was deleted, replaced or set aside while it was open. It must be \
            opened again.
            """,
            SQLiteError.vanished
        )
        log.release(keepingLog: keepingLog)
        readers.close(keepingLog: keepingLog)
        closeWriter(as: .vanished) { writer in
            if keepingLog { writer?.connection.keepLog() }
        }
        FileRegistry.shared.remove(self)
        for owner in owners { owner.archiveDidLoseWrites(.vanished) }
    }
}
