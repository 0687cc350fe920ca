internal import Dispatch
internal import Synchronization
internal import VellumCore

// The sync of the log that makes commits survive power loss: one for all who wait for it.

extension DatabaseFile {
    /// Makes commits up to this one safe from power loss. Callers that wait here together share one sync.
    func syncLog(through commit: UInt64) throws(SQLiteError) {
        while true {
            switch syncQueue.withLock({ $0.join(for: commit) }) {
            case .covered: return
            case .failed(let failure): throw failure
            case .waits(let turn): turn.wait()
            case .leads: return try leadSync(for: commit)
            }
        }
    }

    private func leadSync(for commit: UInt64) throws(SQLiteError) {
        // Everything committed until now is in the log, so this sync covers it.
        let covered = withWriter { $0.commits } ?? commit
        let result = Result { () throws(SQLiteError) in try syncLogNow() }
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

    /// - Returns: The failure of the sync itself.
    /// - Throws: ``SQLiteError`` if the log cannot be opened now, which says nothing of what was written.
    private func syncLogNow() throws(SQLiteError) -> SQLiteError? {
        try syncing.withLock { (sync: inout LogSync) throws(SQLiteError) -> SQLiteError? in
            guard state != .suspended else { throw .suspended }
            // Whoever closed the file copied the log and synced it.
            guard !isClosed else { return nil }
            let connection = try sync.openConnection(path: path)
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

    /// Whether a sync failed, so that none is believed until the file is opened again.
    var hasLostSync: Bool { syncQueue.withLock { $0.failure != nil } }
}

/// Who waits for the log to be synced. One leads, and syncs for all who committed before it began; whoever comes meanwhile waits, and
/// looks again when it has ended: most are covered then, and one of the rest leads.
///
/// A pure value: whoever asks inside a lock acts outside.
struct SyncQueue {
    enum Role {
        case covered, leads
        case waits(DispatchSemaphore)
        case failed(SQLiteError)
    }

    private var coveredThrough: UInt64 = 0
    /// The sync that failed. A system reports a failed write-back once, and the next sync may succeed over a hole: so none is believed
    /// any more.
    private(set) var failure: SQLiteError?
    private var isLed = false
    private var waiting: [DispatchSemaphore] = []

    /// What whoever made this commit has to do.
    mutating func join(for commit: UInt64) -> Role {
        if let failure { return .failed(failure) }
        if coveredThrough >= commit { return .covered }
        guard isLed else {
            isLed = true
            return .leads
        }
        let turn = DispatchSemaphore(value: 0)
        waiting.append(turn)
        return .waits(turn)
    }

    /// The sync has ended; without word of what it covers it never began.
    ///
    /// - Returns: Who is to look again.
    mutating func end(through commit: UInt64? = nil, failing error: SQLiteError? = nil) -> [DispatchSemaphore] {
        coveredThrough = max(coveredThrough, commit ?? 0)
        failure = failure ?? error
        isLed = false
        defer { waiting = [] }
        return waiting
    }
}

/// The connection that syncs the log and does nothing else.
struct LogSync {
    private var connection: Connection?

    mutating func openConnection(path: String) throws(SQLiteError) -> Connection {
        if let connection { return connection }
        let new = try Connection(path: path)
        // A connection has the log open once it has read.
        _ = try new.int(SQL.tableCount)
        connection = new
        return new
    }

    /// Lets go of the log.
    mutating func release() { connection = nil }

    mutating func keepLog() { connection?.keepLog() }
}
