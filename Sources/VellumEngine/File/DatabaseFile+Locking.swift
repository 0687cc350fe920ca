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
        guard mode == .exclusive, mayKeepLocked(path), let identity = FileIdentity(path: path) else { return try connectSharing(path) }
        OpenDatabases.shared.setLocked(true, identity)
        do throws(SQLiteError) {
            if let connection = try readableConnection(path, waiting: 0) { return connection }
        } catch {
            OpenDatabases.shared.setLocked(false, identity)
            throw error
        }
        OpenDatabases.shared.setLocked(false, identity)
        return try connectSharing(path)
    }

    /// Opens a connection to a file that another process may keep locked, and asks for the lock then.
    ///
    /// - Throws: ``SQLiteError/keptLocked(by:)`` if the process does not share the file.
    static func connectSharing(_ path: String) throws(SQLiteError) -> Connection {
        if let connection = try readableConnection(path, waiting: 0) { return connection }
        // Another process keeps the file locked, or is just opening or closing it.
        let changesFile: ChangesFile
        do {
            changesFile = try ChangesFile(besides: path)
        } catch {
            throw SQLiteError(code: SQLiteError.cannotOpenCode, message: "The changes file cannot be opened: \(error)")
        }
        changesFile.page.requestLock()
        CrashPoint.reached(.lockRequested)
        let holder = changesFile.page.lockHolder
        if let connection = try readableConnection(path, waiting: holder == nil ? nil : longestWaitForLock) { return connection }
        throw holder.map { .keptLocked(by: $0) } ?? .busy
    }

    /// - Returns: `nil` if another process keeps the file locked.
    private static func readableConnection(_ path: String, waiting milliseconds: Int64?) throws(SQLiteError) -> Connection? {
        let connection = try Connection(path: path)
        return try connection.canRead(waiting: milliseconds) ? connection : nil
    }

    /// Whether a process may keep the file locked: the system ends an app that is suspended with a lock in the folder of an app group, and locks
    /// are unreliable on a network.
    private static func mayKeepLocked(_ path: String) -> Bool {
        !path.contains("/Shared/AppGroup/") && !path.contains("/Group Containers/") && !FileSystem.isOnNetwork(path)
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
    /// The log is not copied, because that may take long. Whoever opens the file next reads it again.
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
                            try withWriter { (writer) throws(SQLiteError) in
                                try writer.commitBatch()
                                writer.connection.closeWithoutCheckpoint()
                                try writer.release()
                                endKeptLock()
                                CrashPoint.reached(.lockEnded)
                                try writer.reopen(path: path)
                            }
                        }
                    }
                }
                CrashPoint.reached(.fileShared)
            }
        }
    }

    /// Lets other processes in once no connection is open any more.
    func endKeptLock() {
        keptLock.withLock { lock in
            guard lock != nil else { return }
            OpenDatabases.shared.setLocked(false, identity)
            lock?.end()
            lock = nil
        }
    }
}
