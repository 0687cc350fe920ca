internal import Dispatch
internal import Synchronization
internal import VellumCore

/// Keeps the log of a file short and synced: copies it into the database, restarts it, makes room
/// when the disk is full.
///
/// One connection checkpoints and one syncs, each under its own lock, so that no writer waits for
/// either.
final class LogKeeper: Sendable {
    let location: FileLocation
    let writing: WriterLock
    private let readers: ReadPool
    let checkpointing: Locked<Connection?> = Locked(nil)
    private let restarts = Locked(RestartBackoff())
    /// The earliest next try to restart the log, in milliseconds of a monotonic clock.
    private let nextRestart = Atomic(Int64.min)
    /// What is wrong with the structure of the file; `nil` until a write fails on a disk with room.
    private let problems = Locked<[String]?>(nil)
    let syncing = Locked(LogSync())
    let syncQueue = Locked(SyncQueue())

    init(_ location: FileLocation, _ writing: WriterLock, _ readers: ReadPool) {
        self.location = location
        self.writing = writing
        self.readers = readers
    }

    private var page: ChangePage { location.changesFile.page }

    /// Whether a reader blocks the log. The next try is scheduled then.
    var isBlocked: Bool { CoarseClock.milliseconds < nextRestart.load(ordering: .relaxed) }

    /// When to try again to restart a log that a reader of another process blocks, in milliseconds
    /// from now; `nil` if none does.
    var timeToNextRestart: Int64? {
        let next = nextRestart.load(ordering: .relaxed)
        guard next > .min else { return nil }
        // The time may have come a moment ago, and the coarse clock may be a few milliseconds late.
        return min(max(next - CoarseClock.milliseconds, 0), RestartBackoff.longest) + 5
    }

    /// Whether the log is copied in the background.
    var isLong: Bool {
        (writing.withWriter { $0.connection.logFrames } ?? 0) >= LogLimit.checkpointAt
    }

    // MARK: Copying

    /// Copies the log into the database, so that the next writer can restart it.
    ///
    /// First copies as much as possible without blocking others. If the log is still long, copies
    /// the rest while writers wait: a log in constant use would never restart otherwise.
    ///
    /// - Returns: What to report about a log that is blocked, and whether the file is to be
    ///   truncated later.
    func copy() throws(SQLiteError) -> (blocked: BlockedLog?, isUntruncated: Bool) {
        try checkpointing.withLongLock { (connection: inout Connection?) throws(SQLiteError) in
            // Another thread may have tried while this one waited for the lock.
            guard location.state == .open, !isBlocked else { return (nil, false) }
            if connection == nil {
                connection = try location.connect(SQL.writerSettings)
            }
            guard let connection else { return (nil, false) }
            return try copyLog(connection)
        }
    }

    private func copyLog(
        _ connection: Connection
    ) throws(SQLiteError) -> (blocked: BlockedLog?, isUntruncated: Bool) {
        let isLong = isLong
        if isLong {
            // One process at a time. Meanwhile others end idle snapshots, and wait if the log gets
            // too long.
            let now = CoarseClock.milliseconds
            guard !page.isLogRestartRequested(at: now) else {
                nextRestart.store(now + 20, ordering: .relaxed)
                return (nil, false)
            }
            page.requestLogRestart(until: now + 200)
        }
        defer { if isLong { page.requestLogRestart(until: 0) } }
        CrashPoint.reached(.checkpointBegins)
        let (logged, copied) = try copyWithoutWaiting(connection)
        CrashPoint.reached(.logCopied)
        // The file is truncated when all of the log is copied, for which a reader may have to end
        // its snapshot.
        let isUntruncated = logged < 0 || copied < logged ? try hasUntruncatedSpace() : false
        guard logged >= LogLimit.checkpointAt else {
            restarts.withLock { $0.succeed() }
            nextRestart.store(.min, ordering: .relaxed)
            return (nil, isUntruncated)
        }
        return (try restartLog(copied: copied), isUntruncated)
    }

    /// Copies as much of the log as possible without waiting for readers.
    ///
    /// At the end SQLite shortens the file to its pages, and may take away the room that a writer
    /// has just made: see ``Writer/makeRoom(for:)``. So writers wait if the disk is almost full;
    /// each looks for its room again.
    private func copyWithoutWaiting(
        _ connection: Connection
    ) throws(SQLiteError) -> (logged: Int, copied: Int) {
        if FileSystem.isAlmostFull(location.path) {
            return try writing.withWriter { _ throws(SQLiteError) in try connection.checkpoint() }
                ?? (0, 0)
        }
        return try connection.checkpoint()
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
            process: location.otherProcesses.process(readingThrough: oldest),
            logSize: DataSize(bytes: FileSystem.size(location.path + "-wal"))
        )
    }

    /// - Returns: The slots of the readers that block it; `nil` if the log was restarted.
    private func tryRestartingLog() throws(SQLiteError) -> [Int]? {
        try readers.withoutLeases { () throws(SQLiteError) in
            // On the write connection, so that this process's writers wait for its lock instead of
            // SQLite's busy handler.
            try writing.withWriter { writer throws(SQLiteError) -> [Int]? in
                try writer.endBatch()
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

    /// Whether the file is more than a megabyte larger than its pages, because pages were returned
    /// and it was not truncated yet.
    func hasUntruncatedSpace() throws(SQLiteError) -> Bool {
        let bytes = try writing.withWriter { writer throws(SQLiteError) in
            try writer.bytesOfPages
        }
        guard let bytes else { return false }
        return FileSystem.size(location.path) > Int(bytes) + 1 << 20
    }

    // MARK: A full disk

    /// Runs a write. If the disk is full, empties the log and tries again: the file can then take
    /// the log's space. If that is not enough, deletes what is left of emptied archives, a few
    /// entries at a time, until the write succeeds.
    func retryingWhenFull<Result>(
        _ write: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        do throws(SQLiteError) {
            return try write()
        } catch {
            guard error.isFull else { throw error }
            return try retry(after: error, write)
        }
    }

    func retry<Result>(
        after failure: SQLiteError,
        _ write: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        var retry = Retry(failure: failure)
        writing.countRetry(1)
        defer { writing.countRetry(-1, marksRemovals: retry.marksRemovals ? -1 : 0) }
        while true {
            try makeRoom(for: &retry)
            do throws(SQLiteError) {
                return try write()
            } catch {
                guard error.isFull else { throw error }
                try makeMoreRoom(for: &retry, after: error)
            }
        }
    }

    /// A write that is tried again on a full disk.
    private struct Retry {
        /// Why it has failed.
        var failure: SQLiteError
        /// How often a reader may keep the log, or other threads take the room that was made,
        /// before the write fails.
        var triesLeft = 8
        /// The number of commits when room was made.
        var commits: UInt64?
        /// Whether it writes which entries it removes instead of deleting their rows: the last
        /// means, which only removals have.
        var marksRemovals = false
    }

    /// Empties the log. One copy for all callers of ``retryingWhenFull(_:)``.
    @inline(never)
    private func makeRoom(for retry: inout Retry) throws(SQLiteError) {
        while retry.triesLeft > 0 {
            do throws(SQLiteError) {
                repeat {
                    retry.commits = try emptyLog()
                    // Whether rows of removed entries are left, for which the log is emptied again.
                } while try writing.withWriter { writer throws(SQLiteError) in
                    try writer.deleteManyRemoved()
                } == true
                return
            } catch {
                retry.triesLeft -= 1
                // On a busy machine a reader may keep its snapshot for longer than the log waits
                // for it.
                if retry.triesLeft > 0, VellumError(error).code == .busy { continue }
                Log.error("The log could not be emptied on a full disk.", error)
                break
            }
        }
        throw retry.failure
    }

    /// Deletes a few entries that are left of emptied archives.
    ///
    /// - Throws: The failure of the write, if there was nothing to delete and no other thread has
    ///   taken the room that was made.
    @inline(never)
    private func makeMoreRoom(
        for retry: inout Retry,
        after failure: SQLiteError
    ) throws(SQLiteError) {
        retry.failure = failure
        let mayHelp: Bool
        do throws(SQLiteError) {
            if try deleteFewCleared() { return }
            let commits = retry.commits
            mayHelp = writing.withWriter { $0.lasting.commits != commits } ?? false
        } catch {
            guard error.isFull else { throw error }
            mayHelp = true
        }
        if mayHelp {
            retry.triesLeft -= 1
        } else if !retry.marksRemovals {
            retry.marksRemovals = true
            writing.countRetry(0, marksRemovals: 1)
        } else {
            throw try cause(of: failure)
        }
    }

    /// Why a write has failed: a damaged cell may name a page beyond the greatest, which SQLite
    /// takes for a full disk (pager.c, getPageNormal). The file is checked once while it is open,
    /// because a disk that seems to have room may have a quota (decision 96).
    private func cause(of failure: SQLiteError) throws(SQLiteError) -> SQLiteError {
        guard !FileSystem.isAlmostFull(location.path) else { return failure }
        let problems = try problems.withLock { (found: inout [String]?) throws(SQLiteError) in
            if let found { return found }
            var problems: [String] = []
            let connection = try location.connect(SQL.readerSettings)
            try SQL.appendStructuralProblems(of: connection, to: &problems)
            found = problems
            return problems
        }
        return problems.first.map(SQLiteError.corrupt) ?? failure
    }

    /// Copies all of the log and makes its file empty.
    ///
    /// - Returns: The number of commits by then; `nil` if the file is closed, and nothing was done.
    @discardableResult
    func emptyLog() throws(SQLiteError) -> UInt64? {
        try checkpointing.withLongLock { _ throws(SQLiteError) in
            try readers.withoutLeases { () throws(SQLiteError) in
                try writing.withWriter { writer throws(SQLiteError) in
                    try writer.endBatch()
                    try writer.connection.restartLog(truncates: true)
                    writer.forgetRoom()
                    return writer.lasting.commits
                }
            }
        }
    }

    /// Deletes as many entries of emptied archives as a full disk has room for: the key of each may
    /// be on a page of its own, which needs room in the log.
    func deleteFewCleared() throws(SQLiteError) -> Bool {
        try writing.withWriter { writer throws(SQLiteError) in
            writer.mayHoldCleared ? try writer.deleteCleared(limit: 16) : false
        } ?? false
    }

    // MARK: Releasing

    /// Releases the connection that checkpoints, and runs `body` with what syncs the log, in the
    /// lock order of everything else.
    func releasingConnections(
        _ body: (inout sending LogSync) throws(SQLiteError) -> sending Void
    ) throws(SQLiteError) {
        try checkpointing.withLongLock { (checkpointer: inout Connection?) throws(SQLiteError) in
            checkpointer = nil
            try syncing.withLock(body)
        }
    }

    /// Releases the connections for good.
    ///
    /// - Parameter keepingLog: Whether to keep SQLite from deleting the log, because the file at
    ///   its path may belong to another database.
    func release(keepingLog: Bool) {
        checkpointing.withLongLock { connection in
            if keepingLog { connection?.keepLog() }
            connection = nil
        }
        syncing.withLock { sync in
            if keepingLog { sync.keepLog() }
            sync = LogSync()
        }
    }
}

/// Decides when to retry a restart of the log that a reader of another process blocked (decision
/// 36).
///
/// Retries soon while readers move on, because most snapshots last for milliseconds and the log
/// must not grow. Retries ever more rarely while no further page can be copied from one try to the
/// next: then a process is stopped during a read, perhaps for hours, and writers would wait for
/// each try.
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
        let pause: Int64 =
            stalls < Self.mostStalls ? 2 : 100 << Int64(min(stalls - Self.mostStalls, 10))
        nextTry = now + min(Self.longest, pause)
        return stalls == Self.mostStalls
    }

    mutating func succeed() { self = RestartBackoff() }
}
