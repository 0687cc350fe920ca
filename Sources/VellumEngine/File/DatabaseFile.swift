package import Foundation
internal import Synchronization
package import VellumCore

/// An open archive file in this process, shared by all handles on it, however its path is spelled.
///
/// ```swift
/// let file = try DatabaseFile.open(at: folder.appending(path: "Archives.sqlite"))
/// let users = try file.store(named: "User", codec: CodableCodec<User>(), StoreOptions())
/// ```
///
/// Holds any number of archives, each with its own limits. One connection writes, four read, one checkpoints and one syncs the log. Each
/// has its own lock, so readers do not wait for a writer, unless a batch of relaxed writes is open. An idle file holds no lock and no open
/// transaction. The file is closed with its last handle, and then holds everything acknowledged.
///
/// The extensions in `DatabaseFile+….swift` hold its parts.
@usableFromInline package final class DatabaseFile: Sendable {
    /// The URL of the file, with every symbolic link resolved.
    package var url: URL { URL(fileURLWithPath: path) }

    /// What the file holds.
    package let kind: FileKind
    let path: String
    let identity: FileIdentity
    /// The changes that this process and others announce.
    let changesFile: ChangesFile
    /// Notifies observers of changes.
    let watcher: ChangeWatcher
    /// Finds other processes that have the file open.
    let heartbeat: OtherProcesses
    let forkGuard = ForkGuard()
    /// The state. Read it through ``state``; only ``move(from:to:)`` and ``closeWriter(as:_:)`` change it.
    let atomicState = Atomic(FileState.open)
    /// The identity of the log file when it was first seen; `nil` before.
    let seenLog: Locked<FileIdentity?> = Locked(nil)
    /// When the file's location was last checked, in milliseconds of a monotonic clock.
    let lastLook = Atomic(Int64.min / 2)
    /// The connection that writes, and the open archives.
    let writing: WriterLock
    let readers: ReadPool
    let clock: WallClock
    let maintenance = Maintenance()
    /// When the next sweep is due, in milliseconds since 1970; `.max` if none is scheduled.
    let nextSweep = Atomic(Int64.max)
    let syncing = Locked(LogSync())
    let syncQueue = Locked(SyncQueue())
    let checkpointing: Locked<Connection?> = Locked(nil)
    let restarts = Locked(RestartBackoff())
    /// Held while the file is suspended, resumed or closed. Taken before every other lock of the file.
    let suspending = Locked(())
    /// The earliest next try to restart the log, in milliseconds of a monotonic clock.
    let nextRestart = Atomic(Int64.min)
    let stores = StoreTable()
    package let transactions = RunningTransactions()
    /// The number of handles that hold the file.
    let holds = Atomic(0)
    /// Events of opening the file, reported to the first store that is opened.
    let pendingEvents = Locked<[StoreEvent]>([])
    /// Whether it was marked as damaged when it was opened, and no damage was found.
    let wasFoundSound = Atomic(false)

    init(
        path: String, kind: FileKind, identity: FileIdentity, connection: sending Connection, changesFile: ChangesFile, clock: WallClock
    ) throws(SQLiteError) {
        self.path = path
        self.kind = kind
        heartbeat = OtherProcesses(database: path, identity)
        self.changesFile = changesFile
        watcher = ChangeWatcher(changesFile)
        self.identity = identity
        self.clock = clock
        readers = ReadPool(path: path, changesFile: changesFile)
        writing = try WriterLock(connection, notifying: changesFile)
    }

    deinit {
        do throws(VellumError) {
            try shutDown()
        } catch {
            Log.error("An archive file could not be closed cleanly.", error)
        }
    }

    /// Flushes every archive and closes the file for all handles. Later calls throw ``VellumError/Code/closed``.
    package func close() throws(VellumError) {
        try shutDown()
    }

    /// The size of the file, without the log.
    package var fileSize: DataSize { DataSize(bytes: FileSystem.size(path)) }

    private func shutDown() throws(VellumError) {
        // A forked child must not close its parent's file (sqlite.org/howtocorrupt.html, 2.6), and a vanished file is already released.
        guard forkGuard.isThisProcess else { return }
        try suspending.withLock { _ throws(VellumError) in try shutDownAlone() }
    }

    private func shutDownAlone() throws(VellumError) {
        guard !isClosed else { return }
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
                try writeAllTouches()
                CrashPoint.reached(.closingTouchesWritten)
                try reclaimSpaceBeforeClosing()
            } catch {
                // After other errors the caller may retry. A damaged file must be closed, so that it can be opened again and repaired.
                guard error.isDamage else { throw error }
                damage = error
            }
            try releasingConnections { (sync: inout LogSync) throws(SQLiteError) in
                sync = LogSync()
                readers.close()
                CrashPoint.reached(.closingReadersClosed)
                do throws(SQLiteError) {
                    damage = try closeWriter() ?? damage
                } catch {
                    readers.reopen()
                    throw error
                }
            }
            FileRegistry.shared.remove(self, identity)
            if let damage { throw damage }
        }
        CrashPoint.reached(.closed)
    }

    /// Frees 16 MB of pages at most. The rest, and what a full disk has no room for, is freed when the file is open again.
    private func reclaimSpaceBeforeClosing() throws(SQLiteError) {
        do throws(SQLiteError) {
            for _ in 0..<16 where try reclaimSpace(isClosing: true) {}
        } catch {
            guard error.isFull else { throw error }
            Log.error("The free pages of an archive file could not be returned before it was closed.", error)
        }
    }

    /// Commits the open transaction and closes the writer. The last connection that closes copies the log into the database and removes it.
    ///
    /// - Returns: The damage of the file, if that kept the transaction from being committed.
    private func closeWriter() throws(SQLiteError) -> SQLiteError? {
        try closeWriter(as: .closed) { (writer) throws(SQLiteError) -> SQLiteError? in
            do throws(SQLiteError) {
                try writer?.commitBatch()
                return nil
            } catch {
                guard error.isDamage else { throw error }
                return error
            }
        }
    }

    /// Closes a suspended file. Everything acknowledged is already in the file.
    private func releaseAll() {
        readers.close()
        closeWriter(as: .closed) { _ in }
        FileRegistry.shared.remove(self, identity)
    }
}

extension DatabaseFile {
    /// Runs `body` if the file may be used and is still at its path, and maps its errors.
    ///
    /// - Throws: ``VellumError``, as ``checkUsable()`` and ``mappingErrors(_:)`` do.
    func withUsableFile<Result>(_ body: () throws(SQLiteError) -> Result) throws(VellumError) -> Result {
        try checkUsable()
        return try mappingErrors(body)
    }

    /// Runs `body` and converts its error to a ``VellumError``. Records damage, so that the next opening salvages the readable entries.
    func mappingErrors<Result>(_ body: () throws(SQLiteError) -> Result) throws(VellumError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw VellumError(classify(error)).located(archive: nil, path: path)
        }
    }

    /// Classifies an error: records damage, and releases a file that has vanished.
    func classify(_ error: SQLiteError) -> SQLiteError {
        if error.code == SQLiteError.vanished.code { abandon() }
        if error.isDamage || error.isOfDevice || error.isCannotOpen, FileIdentity(path: path) != identity || changesFile.page.isRetired {
            // The file that failed is not the one at the path: it, or its folder, was removed or replaced.
            abandon()
            return .vanished
        }
        return Recovery.classify(error, of: path)
    }
}
