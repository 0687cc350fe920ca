internal import Dispatch
internal import Synchronization
internal import VellumCore

// The log: checkpoints, restarts, and what is done when it cannot grow.

extension DatabaseFile {
    /// Schedules the copying of the log and the return of free pages.
    func scheduleCheckpoint(after delay: DispatchTimeInterval? = nil) {
        scheduleTrying(.checkpoint, after: delay) { (file) throws(SQLiteError) in try file.checkpoint() }
    }

    /// Copies the log into the database, so that the next writer can restart it.
    ///
    /// First copies as much as possible without blocking others. If the log is still long, copies the rest while writers wait: a log in
    /// constant use would never restart otherwise.
    func checkpoint() throws(SQLiteError) {
        let hasMoreSpace = try reclaimSpace()
        defer { if hasMoreSpace { scheduleCheckpoint(after: isWritingOnFullDisk ? .milliseconds(50) : nil) } }
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
            return try copyLog(connection)
        }
        scheduleNextRestart()
        if let blockedLog {
            Log.logHeldBack(path, blockedLog)
            let event = StoreEvent.logHeldBack(process: blockedLog.process, logSize: blockedLog.logSize)
            for owner in owners { owner.archiveDidReport(event) }
        }
        do throws(SQLiteError) {
            try analyseIndexes()
        } catch {
            // Statistics may be missing or old. Another checkpoint makes them.
            guard error.isFull || VellumError(error).code == .busy else { throw error }
        }
    }

    /// - Returns: What to report about a log that is blocked.
    private func copyLog(_ connection: Connection) throws(SQLiteError) -> BlockedLog? {
        let isLong = isLogLong
        if isLong {
            // One process at a time. Meanwhile others end idle snapshots, and wait if the log gets too long.
            let now = CoarseClock.milliseconds
            guard !changesFile.page.isLogRestartRequested(at: now) else {
                nextRestart.store(now + 20, ordering: .relaxed)
                return nil
            }
            changesFile.page.requestLogRestart(until: now + 200)
        }
        defer { if isLong { changesFile.page.requestLogRestart(until: 0) } }
        CrashPoint.reached(.checkpointBegins)
        let (logged, copied) = try copyWithoutWaiting(connection)
        CrashPoint.reached(.logCopied)
        // The file is truncated when all of the log is copied, for which a reader may have to end its snapshot.
        if logged < 0 || copied < logged, try hasUntruncatedSpace() { scheduleCheckpoint(after: .milliseconds(50)) }
        guard logged >= LogLimit.checkpointAt else {
            restarts.withLock { $0.succeed() }
            nextRestart.store(.min, ordering: .relaxed)
            return nil
        }
        return try restartLog(copied: copied)
    }

    /// Copies as much of the log as possible without waiting for readers.
    ///
    /// At the end SQLite shortens the file to its pages, and may take away the room that a writer has just made: see
    /// ``WriteConnection/makeRoom()``. So writers wait if the disk is almost full; each looks for its room again.
    private func copyWithoutWaiting(_ connection: Connection) throws(SQLiteError) -> (logged: Int, copied: Int) {
        if FileSystem.isAlmostFull(path) {
            return try withWriter { (_) throws(SQLiteError) in try connection.checkpoint() } ?? (0, 0)
        }
        return try connection.checkpoint()
    }

    /// Schedules the next try to restart a log that a reader of another process blocks.
    func scheduleNextRestart() {
        let next = nextRestart.load(ordering: .relaxed)
        guard next > .min else { return }
        // The time may have come a moment ago, and the coarse clock may be a few milliseconds late.
        let left = min(max(next - CoarseClock.milliseconds, 0), RestartBackoff.longest)
        scheduleCheckpoint(after: .milliseconds(Int(left) + 5))
    }

    /// A log that cannot be restarted.
    struct BlockedLog: Sendable {
        /// The process that blocks it, if the system reports its number.
        var process: Int32?
        var logSize: DataSize
    }

    /// Copies the rest of the log while writers wait, unless a reader of another process blocks it.
    ///
    /// - Parameter copied: How many pages were copied without blocking others.
    /// - Returns: What to report, once a reader counts as stopped; otherwise `nil`.
    private func restartLog(copied: Int) throws(SQLiteError) -> BlockedLog? {
        var tries = restarts.withLock { $0.tries }
        var oldest = try tryRestartingLog()
        while oldest != nil, tries > 1 {
            // Idle readers of other processes end their snapshots meanwhile, and writers go on.
            BusyRetry.milliseconds(4)
            oldest = try tryRestartingLog()
            tries -= 1
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

    /// - Returns: The slots of the readers that block it; `nil` if the log was restarted.
    private func tryRestartingLog() throws(SQLiteError) -> [Int]? {
        try readers.withoutLeases { () throws(SQLiteError) in
            // On the write connection, so that this process's writers wait for its lock instead of SQLite's busy handler.
            try withWriter { (writer) throws(SQLiteError) -> [Int]? in
                try writer.commitBatch()
                do throws(SQLiteError) {
                    CrashPoint.reached(.restartBegins)
                    // A snapshot lasts for microseconds if its process is scheduled.
                    try writer.connection.restartLog(timeout: 2)
                    // The log may have been truncated.
                    writer.forgetRoom()
                    CrashPoint.reached(.logRestarted)
                    return nil
                } catch  where VellumError(error).code == .busy {
                    return writer.connection.slotsOfOldestReaders
                }
            } ?? nil
        }
    }

    /// Runs a write. If the disk is full, empties the log and tries again: the file can then take the log's space. If that is not enough, deletes
    /// what is left of emptied archives, a few entries at a time, until the write succeeds.
    func retryingWhenFull<Result>(_ write: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        do throws(SQLiteError) {
            return try write()
        } catch {
            guard error.isFull else { throw error }
            return try retry(after: error, write)
        }
    }

    func retry<Result>(after failure: SQLiteError, _ write: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        var failure = failure
        writing.countRetry(1)
        defer { writing.countRetry(-1) }
        // How often a reader may keep the log, or other threads take the room that was made, before the write fails.
        var tries = 8
        while tries > 0 {
            let commits: UInt64?
            do throws(SQLiteError) {
                commits = try emptyLog()
            } catch {
                tries -= 1
                // On a busy machine a reader may keep its snapshot for longer than the log waits for it.
                if tries > 0, VellumError(error).code == .busy { continue }
                Log.error("The log could not be emptied on a full disk.", error)
                throw failure
            }
            do throws(SQLiteError) {
                return try write()
            } catch {
                guard error.isFull else { throw error }
                failure = error
            }
            do throws(SQLiteError) {
                if try deleteFewCleared() { continue }
                guard withWriter({ $0.lasting.commits != commits }) ?? false else { break }
            } catch {
                guard error.isFull else { throw error }
            }
            tries -= 1
        }
        throw failure
    }

    /// Copies all of the log and makes its file empty.
    ///
    /// - Returns: The number of commits by then; `nil` if the file is closed, and nothing was done.
    @discardableResult
    func emptyLog() throws(SQLiteError) -> UInt64? {
        try checkpointing.withLock { _ throws(SQLiteError) in
            try readers.withoutLeases { () throws(SQLiteError) in
                try withWriter { (writer) throws(SQLiteError) in
                    try writer.commitBatch()
                    try writer.connection.truncateLog()
                    writer.forgetRoom()
                    return writer.lasting.commits
                }
            }
        }
    }
}

/// Decides when to retry a restart of the log that a reader of another process blocked.
///
/// Retries soon while readers move on, because most snapshots last for milliseconds and the log must not grow. Retries ever more rarely
/// while no further page can be copied from one try to the next: then a process is stopped during a read, perhaps for hours, and
/// writers would wait for each try.
///
/// A value without locks.
struct RestartBackoff: Equatable {
    /// The number of consecutive tries between which no page could be copied.
    private(set) var stalls = 0
    private var copied: Int?
    /// The earliest time of the next try, in milliseconds of a monotonic clock.
    private(set) var nextTry: Int64 = .min

    /// The longest time between two tries, in milliseconds.
    static let longest: Int64 = 2000
    /// The number of stalls after which a reader counts as stopped.
    private static let mostStalls = 3

    /// How often to try in a row, some milliseconds apart.
    var tries: Int { stalls < Self.mostStalls ? 8 : 1 }

    /// Records that a reader blocked the restart.
    ///
    /// - Parameter copied: How many pages of the log have been copied to the database.
    /// - Returns: Whether to report it: `true` once for each time that the log is blocked.
    mutating func fail(at now: Int64, copied: Int) -> Bool {
        stalls = self.copied == copied ? stalls + 1 : 0
        self.copied = copied
        let pause: Int64 = stalls < Self.mostStalls ? 2 : 100 << Int64(min(stalls - Self.mostStalls, 10))
        nextTry = now + min(Self.longest, pause)
        return stalls == Self.mostStalls
    }

    mutating func succeed() { self = RestartBackoff() }
}
