internal import Synchronization
internal import VellumCore

// A file that this process keeps locked while it is alone (``LockingMode/exclusive``), and how another process gets in.

extension DatabaseFile {
    /// Whether this process keeps the file locked.
    package var isKeptLocked: Bool { keptLock.withLock { $0 != nil } }

    /// How long to wait for a process that keeps the file locked to share it, in milliseconds.
    private static var longestWaitForLock: Int64 { 2000 }

    /// Opens the first connection, which keeps the file locked if that is wanted, allowed and possible.
    static func connectFirst(_ path: String, _ mode: LockingMode) throws(SQLiteError) -> Connection {
        if mode == .exclusive, mayKeepLocked(path) {
            let connection = try Connection(path: path, keepsLocked: true)
            if connection.isUnlocked(waiting: 0) { return connection }
        }
        return try connectSharing(path)
    }

    /// Opens a connection to a file that another process may keep locked, and asks for the lock then.
    ///
    /// - Throws: ``SQLiteError/keptLocked(by:)`` if the process does not share the file.
    static func connectSharing(_ path: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path)
        if connection.isUnlocked(waiting: 0) { return connection }
        // Another process keeps the file locked, or is just opening or closing it. Nothing is created beside a database of another program.
        guard FileIdentity(path: path + ChangesFile.suffix) != nil else {
            guard connection.isUnlocked(waiting: Connection.longestWait) else { throw .busy }
            return connection
        }
        let changesFile: ChangesFile
        do {
            changesFile = try ChangesFile(besides: path)
        } catch {
            throw SQLiteError(code: SQLiteError.cannotOpenCode, message: "The changes file cannot be opened: \(error)")
        }
        let began = CoarseClock.milliseconds
        while true {
            // Asked again, because a process that is just taking the lock may not listen yet.
            changesFile.page.requestLock()
            CrashPoint.reached(.lockRequested)
            if connection.isUnlocked(waiting: 50) { return connection }
            let (holder, waited) = (changesFile.page.lockHolder, CoarseClock.milliseconds - began)
            if let holder, holder != changesFile.process, waited >= longestWaitForLock { throw .keptLocked(by: holder) }
            if waited >= Connection.longestWait { throw .busy }
        }
    }

    /// Whether a process may keep the file locked: the system ends an app that is suspended with a lock in the folder of an app group, and locks
    /// are unreliable on a network.
    private static func mayKeepLocked(_ path: String) -> Bool {
        Connection.canKeepLocked && !path.contains("/Shared/AppGroup/") && !path.contains("/Group Containers/")
            && !FileSystem.isOnNetwork(path)
    }

    /// Begins to wait for other processes, if this one keeps the file locked.
    func awaitOtherProcesses() {
        guard OpenDatabases.shared.isLocked(identity) else { return }
        keptLock.withLock { lock in
            lock = KeptLock(changesFile) { [weak self] in
                guard let self else { return }
                do throws(VellumError) {
                    try self.shareFile()
                } catch {
                    Log.error("A file could not be shared with another process.", error)
                }
            }
        }
    }

    /// Lets other processes use the file from now on. Blocks until running calls have ended; other calls wait meanwhile.
    ///
    /// The log is not copied, because that may take long. Whoever opens the file next reads it again. If the file cannot be opened again, it is
    /// suspended: ``resume()`` opens it.
    func shareFile() throws(VellumError) {
        guard forkGuard.isThisProcess else { return }
        try suspending.withLock { _ throws(VellumError) in
            guard state == .open, isKeptLocked else { return }
            try mappingErrors { () throws(SQLiteError) in
                CrashPoint.reached(.lockEnds)
                // The same lock order as everywhere else.
                try checkpointing.withLock { (checkpointer: inout Connection?) throws(SQLiteError) in
                    checkpointer = nil
                    try syncing.withLock { (sync: inout LogSync) throws(SQLiteError) in
                        sync.release()
                        try readers.whileClosed { () throws(SQLiteError) in
                            try withWriter { (writer) throws(SQLiteError) in try share(writer) }
                        }
                    }
                }
                CrashPoint.reached(.fileShared)
            }
        }
    }

    /// Closes the last connection and opens it again. Other processes count this one as a user of the file all the while, because it is the
    /// holder of the lock on the change page until then.
    private func share(_ writer: WriteConnection) throws(SQLiteError) {
        do throws(SQLiteError) {
            try writer.commitBatch()
        } catch {
            // Its owners know already.
            Log.error("Relaxed writes were lost when the file was shared with another process.", error)
        }
        writer.connection.closeWithoutCheckpoint()
        try writer.release()
        // A thread may just be looking whether the file is damaged.
        while OpenDatabases.shared.isLocked(identity) { BusyRetry.milliseconds(1) }
        CrashPoint.reached(.lockEnded)
        do throws(SQLiteError) {
            try writer.reopen(path: path)
            try waitForOpenBatches(writer)
        } catch {
            readers.refuse()
            move(from: .open, to: .suspended)
            endKeptLock()
            try writer.release()
            throw error
        }
        // Another process may have begun a new log.
        seenLog.withLock { $0 = nil }
        endKeptLock()
    }

    /// Stops waiting for other processes. The lock itself ends with the last connection.
    func endKeptLock() {
        let lock = keptLock.withLock { lock in
            defer { lock = nil }
            return lock
        }
        lock?.end()
    }
}
