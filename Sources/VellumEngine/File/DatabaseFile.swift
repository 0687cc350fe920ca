package import Foundation
internal import Synchronization
package import VellumCore

/// One archive file, as this process has it open: shared by every handle on it, however its path is spelled.
///
/// ```swift
/// let file = try DatabaseFile.open(at: folder.appending(path: "Archives.sqlite"))
/// let users = try file.store(named: "User", codec: CodableCodec<User>(), memory: Capacity(1.megaByte), disk: Capacity(2.megaByte))
/// ```
///
/// Holds any number of archives, each with limits of its own. One connection writes, a few read, one checkpoints; each
/// stands behind a lock of its own, so readers never wait for a writer. While nothing happens no lock is held and no
/// transaction open. The file is let go of when its last handle is, and everything acknowledged is in it then.
///
/// The files `+Opening`, `+Writing`, `+Housekeeping` and `+Stores` hold its parts.
package final class DatabaseFile: Sendable {
    /// Where the file is, with every symbolic link resolved.
    package var url: URL { URL(fileURLWithPath: path) }

    /// What the file holds.
    package let kind: FileKind
    let path: String
    let identity: FileIdentity
    /// What other processes change, and are told of.
    let changes: ChangesFile
    /// Which other processes have the file open.
    let heartbeat: OtherProcesses
    let forkGuard = ForkGuard()
    /// What the file is at the moment. ``state`` reads it, ``move(from:to:)`` and ``closeWriter(as:_:)`` change it.
    let atomicState = Atomic(FileState.open)
    /// The log that was seen at its path, once there was one.
    let seenLog: Locked<FileIdentity?> = Locked(nil)
    let lastLook = Atomic(Int64.min / 2)
    /// Only ``withWriter(_:)`` and ``closeWriter(as:_:)`` touch it.
    let writer: Locked<WriteConnection?>
    let readers: ReadPool
    let clock: WallClock
    let openBatch = OpenBatch()
    let maintenance = Maintenance()
    /// The moment, in milliseconds since 1970, for which the next sweep is due; `.max` while none is.
    let nextSweep = Atomic(Int64.max)
    let syncing = Locked(LogSync())
    let syncQueue = Locked(SyncQueue())
    let checkpointing: Locked<Connection?> = Locked(nil)
    let restarts = Locked(RestartBackoff())
    /// Before this moment, in milliseconds of a clock that only grows, the log is not copied.
    let nextRestart = Atomic(Int64.min)
    let stores = StoreTable()
    /// How many handles hold the file.
    let holds = Atomic(0)
    /// What happened while opening, for the first to ask.
    let pendingEvents: Locked<[StoreEvent]>

    init(
        path: String, kind: FileKind, identity: FileIdentity, connection: sending Connection, changes: ChangesFile,
        pendingEvents: [StoreEvent],
        clock: WallClock
    ) throws(SQLiteError) {
        self.path = path
        self.kind = kind
        heartbeat = OtherProcesses(database: path, identity)
        self.changes = changes
        self.identity = identity
        self.clock = clock
        self.pendingEvents = Locked(pendingEvents)
        readers = ReadPool(path: path, changes: changes)
        writer = Locked(try WriteConnection(connection, notifying: changes, openBatch: openBatch))
    }

    deinit {
        do throws(VellumError) {
            try shutDown()
        } catch {
            Log.error("An archive file could not be closed cleanly.", error)
        }
    }

    /// Flushes every archive and lets go of the file, for every handle on it: later calls throw ``VellumError/Code/closed``.
    package func close() throws(VellumError) {
        try shutDown()
    }

    /// How many bytes the file takes, without its log.
    package var fileSize: DataSize { DataSize(bytes: FileSystem.size(path)) }

    private func shutDown() throws(VellumError) {
        // What belongs to another process must not even be closed here (sqlite.org/howtocorrupt.html, 2.6), and what is no longer there
        // was let go of.
        guard forkGuard.isThisProcess, !isClosed else { return }
        if state == .suspended { return releaseAll() }
        do throws(VellumError) {
            try checkLocation()
        } catch  where error.code == .vanished {
            return
        }
        try mappingErrors { () throws(SQLiteError) in
            CrashPoint.reached(.closing)
            var damage: SQLiteError?
            do throws(SQLiteError) {
                try commitBatch()
                try writeAllUses()
                CrashPoint.reached(.closingUsesWritten)
                // What is left after sixteen megabytes goes the next time.
                for _ in 0..<16 where try reclaimSpace() {}
            } catch {
                // Of anything else the caller may try again; a damaged file must be let go of, so that it can be opened anew.
                guard error.isDamage else { throw error }
                damage = error
            }
            // In the order in which others take these locks.
            try checkpointing.withLock { (checkpointer: inout Connection?) throws(SQLiteError) in
                checkpointer = nil
                try syncing.withLock { (sync: inout LogSync) throws(SQLiteError) in
                    sync = LogSync()
                    readers.close()
                    CrashPoint.reached(.closingReadersClosed)
                    // The last connection to go copies the log into the database and removes it.
                    let failure = try closeWriter(as: .closed) { (writer) throws(SQLiteError) -> SQLiteError? in
                        do throws(SQLiteError) {
                            try writer.commitBatch()
                            return nil
                        } catch {
                            guard error.isDamage else { throw error }
                            return error
                        }
                    }
                    damage = failure ?? damage
                }
            }
            FileRegistry.shared.remove(self, identity)
            if let damage { throw damage }
        }
        CrashPoint.reached(.closed)
    }

    /// Closes what is suspended: everything is in the file.
    private func releaseAll() {
        readers.close()
        _ = closeWriter(as: .closed) { _ in }
        FileRegistry.shared.remove(self, identity)
    }
}

extension DatabaseFile {
    /// The same for a call that comes to the file, which may not be what it was.
    func withUsableFile<Result>(_ body: () throws(SQLiteError) -> Result) throws(VellumError) -> Result {
        try checkUsable()
        return try mappingErrors(body)
    }

    /// Runs a step of SQLite's and tells its failure in the words of the engine. Damage is written down, so that the next
    /// opening salvages what can be read.
    func mappingErrors<Result>(_ body: () throws(SQLiteError) -> Result) throws(VellumError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw VellumError(classify(error)).located(archive: nil, path: path)
        }
    }

    /// What an error means: damage is written down, and a file that is gone is let go of.
    func classify(_ error: SQLiteError) -> SQLiteError {
        if error.code == SQLiteError.vanished.code { abandon() }
        if error.isDamage, FileIdentity(path: path) != identity || changes.page.isRetired {
            // What was read is not what lies at the path.
            abandon()
            return .vanished
        }
        return Recovery.classify(error, of: path)
    }
}
