internal import Dispatch
internal import Synchronization
internal import VellumCore

// The sync of the log that makes commits survive power loss. Concurrent callers share one sync.

extension LogKeeper {
    /// Makes commits up to this one survive power loss. Blocks until a sync covers them; concurrent
    /// callers share one sync.
    func sync(through commit: UInt64) throws(SQLiteError) {
        while true {
            switch syncQueue.withLock({ $0.join(for: commit) }) {
            case .covered: return
            case .failed(let failure): throw failure
            case .waits(let turn): Lane.waiting { turn.wait() }
            case .leads: return try leadSync(for: commit)
            }
        }
    }

    private func leadSync(for commit: UInt64) throws(SQLiteError) {
        // Everything committed before now is in the log, so this sync covers it.
        let covered = writing.withWriter { $0.lasting.commits } ?? commit
        let result = Lane.waiting { Result { () throws(SQLiteError) in try syncLogNow() } }
        let waiting = syncQueue.withLock { queue in
            switch result {
            case .success(nil): queue.end(through: covered)
            case .success(let failure?): queue.end(failing: failure)
            case .failure: queue.end()
            }
        }
        for turn in waiting { turn.signal() }
        if let failure = try result.get() { throw failure }
    }

    /// - Returns: The failure of the sync itself, or `nil`.
    /// - Throws: ``SQLiteError`` if the log cannot be opened, which does not affect what was
    ///   written.
    private func syncLogNow() throws(SQLiteError) -> SQLiteError? {
        try syncing.withLock { (sync: inout LogSync) throws(SQLiteError) -> SQLiteError? in
            guard location.state != .suspended else { throw .suspended }
            // Closing the file has copied and synced the log.
            guard !location.isClosed else { return nil }
            let connection = try sync.openConnection(path: location.path)
            CrashPoint.reached(.syncBegins)
            do throws(SQLiteError) {
                try connection.syncLog()
            } catch {
                return error
            }
            CrashPoint.reached(.synced)
            return nil
        }
    }

    /// Whether a sync failed. No sync is trusted until the file is opened again.
    var hasLostSync: Bool { syncQueue.withLock { $0.failure != nil } }
}

/// The queue of callers that wait for the log to be synced. One caller leads and syncs for all that
/// committed before the sync began (decision 12). Callers that arrive during a sync wait until one
/// covers them. When a sync ends, the covered ones are woken, and one of the others, which leads
/// the next: so most callers are woken once.
///
/// A value without locks: the caller guards it, and acts on the result outside the lock.
struct SyncQueue {
    enum Role {
        case covered, leads
        case waits(DispatchSemaphore)
        case failed(SQLiteError)
    }

    private var coveredThrough: UInt64 = 0
    /// The error of a failed sync. The system reports a failed write-back only once, and the next
    /// sync may succeed although data is missing, so no later sync is trusted.
    private(set) var failure: SQLiteError?
    private var isLed = false
    private var waiting: [(commit: UInt64, turn: DispatchSemaphore)] = []

    /// Returns what the caller that made this commit must do: nothing, wait, lead the sync, or
    /// fail.
    mutating func join(for commit: UInt64) -> Role {
        if let failure { return .failed(failure) }
        if coveredThrough >= commit { return .covered }
        guard isLed else {
            isLed = true
            return .leads
        }
        let turn = DispatchSemaphore(value: 0)
        waiting.append((commit, turn))
        return .waits(turn)
    }

    /// Ends the sync of the leader. Without a commit or an error the sync did not take place.
    ///
    /// - Returns: The semaphores of the callers that must join again.
    mutating func end(
        through commit: UInt64? = nil,
        failing error: SQLiteError? = nil
    ) -> [DispatchSemaphore] {
        coveredThrough = max(coveredThrough, commit ?? 0)
        failure = failure ?? error
        isLed = false
        guard commit != nil, failure == nil else {
            defer { waiting = [] }
            return waiting.map(\.turn)
        }
        var woken = waiting.filter { $0.commit <= coveredThrough }
        waiting.removeAll { $0.commit <= coveredThrough }
        if !waiting.isEmpty { woken.append(waiting.removeFirst()) }
        return woken.map(\.turn)
    }
}

/// The connection that only syncs the log.
struct LogSync {
    private var connection: Connection?

    mutating func openConnection(path: String) throws(SQLiteError) -> Connection {
        if let connection { return connection }
        let new = try Connection(path: path)
        // The first read opens the log.
        _ = try new.int(SQL.tableCount)
        connection = new
        return new
    }

    /// Closes the connection.
    mutating func release() { connection = nil }

    mutating func keepLog() { connection?.keepLog() }
}
