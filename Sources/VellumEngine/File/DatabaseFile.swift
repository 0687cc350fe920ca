package import Foundation
internal import Synchronization
package import VellumCore

/// An open archive file in this process, shared by all handles on it, however its path is spelled
/// (decision 4).
///
/// ```swift
/// let file = try DatabaseFile.open(at: folder.appending(path: "Archives.sqlite"))
/// let users = try file.store(named: "User", codec: CodableCodec<User>(), StoreOptions())
/// ```
///
/// Holds any number of archives, each with its own limits. One connection writes, four read, one
/// checkpoints and one syncs the log. Each has its own lock, so readers do not wait for a writer,
/// unless a batch of relaxed writes is open. An idle file holds no lock and no open transaction.
/// The file is closed with its last handle, and then holds everything acknowledged.
///
/// The extensions in `DatabaseFile+….swift` hold its parts.
@usableFromInline package final class DatabaseFile: Sendable {
    /// The URL of the file, with every symbolic link resolved.
    package var url: URL { URL(fileURLWithPath: path) }

    /// What the file holds.
    package let kind: FileKind
    package let location: FileLocation
    /// Notifies observers of changes.
    let watcher: ChangeWatcher
    /// The connection that writes, and the open archives.
    let writing: WriterLock
    let readers: ReadPool
    let log: LogKeeper
    package let clock: WallClock
    let maintenance = Maintenance()
    let stores = StoreTable()
    package let transactions = RunningTransactions()
    /// The number of handles that hold the file.
    let holds = Atomic(0)
    /// What opening the file has found, until the first store is opened.
    let opening = Locked(Opening())
    /// The last failure that concerned the file; damage, once there was some.
    let lastFailure = Locked<(error: VellumError, date: Date)?>(nil)
    /// Held while the file is suspended, resumed or closed. Taken before every other lock of the
    /// file.
    private let suspending = Locked(())

    struct Opening {
        /// The events to report to the first store.
        var events: [StoreEvent] = []
        /// Whether it was marked as damaged, and no damage was found.
        var wasFoundSound = false
    }

    init(
        _ location: FileLocation,
        _ kind: FileKind,
        _ connection: sending Connection,
        clock: WallClock
    ) throws(SQLiteError) {
        self.location = location
        self.kind = kind
        self.clock = clock
        watcher = ChangeWatcher(location)
        readers = ReadPool(location)
        writing = try WriterLock(connection, notifying: location.changesFile)
        log = LogKeeper(location, writing, readers)
    }

    deinit {
        do throws(VellumError) {
            try shutDown()
        } catch {
            Log.error("An archive file could not be closed cleanly.", error)
        }
    }

    /// Flushes every archive and closes the file for all handles. Later calls throw
    /// ``VellumError/Code/closed``.
    package func close() throws(VellumError) {
        try shutDown()
    }

    /// The size of the file, without the log.
    package var fileSize: DataSize { DataSize(bytes: FileSystem.size(path)) }

    /// The size of its log.
    package var logSize: DataSize { DataSize(bytes: FileSystem.size(path + "-wal")) }

    /// How many threads of this process wait for the connection that writes.
    package var waitingWriters: Int { writing.waiting.load(ordering: .relaxed) }

    private func shutDown() throws(VellumError) {
        // A forked child must not close its parent's file (sqlite.org/howtocorrupt.html, 2.6), and
        // a vanished file is already released.
        guard location.isOfThisProcess else { return }
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
                try writeLast()
                CrashPoint.reached(.closingTouchesWritten)
                try reclaimSpaceBeforeClosing()
            } catch {
                // After other errors the caller may retry. A damaged file must be closed, so that
                // it can be opened again and repaired.
                guard error.isDamage else { throw error }
                damage = error
            }
            try log.releasingConnections { (sync: inout LogSync) throws(SQLiteError) in
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
            FileRegistry.shared.remove(self)
            location.didCloseConnections()
            if let damage { throw damage }
        }
        CrashPoint.reached(.closed)
    }

    /// Writes what waits to be written.
    private func writeLast() throws(SQLiteError) {
        try commitBatch()
        try writeAllTouches()
        try writeSizings(isClosing: true)
    }

    /// Waits for another process that has the lock of the file, before everybody who opens or
    /// closes a file waits for the closing of this one. Whatever else is wrong the closing meets.
    func waitBeforeClosing() throws(VellumError) {
        guard location.isAtWork else { return }
        do throws(SQLiteError) {
            try writeLast()
        } catch {
            guard error.isOfOtherProcess else { return }
            throw located(error)
        }
    }

    /// Frees 16 MB of pages at most. The rest, and what a full disk has no room for, is freed when
    /// the file is open again.
    private func reclaimSpaceBeforeClosing() throws(SQLiteError) {
        do throws(SQLiteError) {
            for _ in 0..<16 where try reclaimSpace(isClosing: true) {}
        } catch {
            guard error.isFull else { throw error }
            Log.error(
                "The free pages of an archive file could not be returned before it was closed.",
                error
            )
        }
    }

    /// Commits the open transaction and closes the writer. The last connection that closes copies
    /// the log into the database and removes it.
    ///
    /// - Returns: The damage of the file, if that kept the transaction from being committed.
    private func closeWriter() throws(SQLiteError) -> SQLiteError? {
        try closeWriter(as: .closed) { writer throws(SQLiteError) -> SQLiteError? in
            do throws(SQLiteError) {
                try writer?.endBatch()
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
        FileRegistry.shared.remove(self)
        location.didCloseConnections()
    }
}

extension DatabaseFile {
    package var path: String { location.path }
    package var state: FileState { location.state }

    /// Whether the file was closed or has vanished. It must be opened again then.
    package var isClosed: Bool { location.isClosed }

    /// What this process may do with the file.
    package var access: FileAccess { location.access }

    /// Whether another process has the file open.
    package var isShared: Bool { location.isShared }

    /// Runs `body` if the file may be used and is still at its path, and maps its errors.
    ///
    /// - Throws: ``VellumError``, as ``checkUsable()`` and ``mappingErrors(_:)`` do.
    package func withUsableFile<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        try checkUsable()
        return try mappingErrors(body)
    }

    /// Runs `body` and converts its error to a ``VellumError``. Records damage, so that the next
    /// opening salvages the readable entries.
    func mappingErrors<Result>(
        _ body: () throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw located(error)
        }
    }

    /// The error for the caller, with the file's path. Records damage.
    func located(_ error: SQLiteError) -> VellumError {
        let failure = VellumError(classify(error))
        let isDamage = access.isReading && failure.code == .damagedFile
        return note(
            (isDamage ? .damagedAndOnlyRead(failure) : failure).located(archive: nil, path: path)
        )
    }

    /// Notes a failure that concerns the file, and not one call or what the caller has asked for.
    func note(_ failure: VellumError) -> VellumError {
        let isAsked =
            [.closed, .suspended].contains(failure.code)
            || (access.isReading && failure.code == .readOnly)
        guard failure.code.concernsFile, !isAsked else { return failure }
        let now = clock.now().date  // The caller's code: outside the lock.
        lastFailure.withLock { if $0?.error.code != .damagedFile { $0 = (failure, now) } }
        return failure
    }

    /// Classifies an error: records damage, and releases a file that has vanished.
    func classify(_ error: SQLiteError) -> SQLiteError {
        if error.code == SQLiteError.vanished.code { abandon() }
        if error.isDamage || error.isOfDevice || error.isCannotOpen,
            FileIdentity(path: path) != location.identity || location.changesFile.page.isRetired
        {
            // The file that failed is not the one at the path: it, or its folder, was removed or
            // replaced.
            abandon()
            return .vanished
        }
        // What is only read is not marked, and is the same when it is opened again.
        return access.isReading ? error : Recovery.classify(error, of: path)
    }
}

// Suspending, for an app that is about to be suspended.

extension DatabaseFile {
    /// Commits open transactions, ends running work and releases every lock and file until
    /// ``resume()``. For an app that is about to be suspended: the system kills apps that hold a
    /// lock then (0xDEAD10CC).
    ///
    /// Values in memory are still found while no other process writes. Calls that need the disk
    /// throw ``VellumError/Code/suspended``. Blocks until running calls have ended. Suspending a
    /// suspended file does nothing.
    ///
    /// - Throws: ``VellumError`` if the open transaction cannot be committed; the file is not
    ///   suspended then.
    package func suspend() throws(VellumError) {
        try suspending.withLock { _ throws(VellumError) in try suspendAlone() }
    }

    private func suspendAlone() throws(VellumError) {
        guard state != .suspended else { return }
        try withUsableFile { () throws(SQLiteError) in
            try writeLast()
        }
        guard location.move(from: .open, to: .suspended) else { return }
        do throws(SQLiteError) {
            try log.releasingConnections { (sync: inout LogSync) throws(SQLiteError) in
                sync.release()
                readers.suspend()
                try writing.close { writer throws(SQLiteError) in try writer?.endBatch() }
            }
            location.forgetLog()
            location.didCloseConnections()
        } catch {
            readers.resume()
            location.move(from: .suspended, to: .open)
            throw VellumError(error)
        }
    }

    /// Reopens the file after ``suspend()``. Does nothing if the file is not suspended.
    ///
    /// - Throws: ``VellumError`` if the file cannot be opened; ``VellumError/Code/vanished`` if it
    ///   is no longer at its path.
    package func resume() throws(VellumError) {
        guard location.isOfThisProcess else { throw .forked }
        try suspending.withLock { _ throws(VellumError) in try resumeAlone() }
        watcher.askAgain()
        guard !access.isReading else { return }
        scheduleWritingTouches()
        if nextEnd != nil { scheduleSweep() }
        if writing.archives.contains(where: { $0.shape != nil }) { scheduleBuilding() }
        scheduleReclaiming()
    }

    private func resumeAlone() throws(VellumError) {
        guard state == .suspended else { return }
        try checkLocation()
        do throws(SQLiteError) {
            try writing.reopen { lasting throws(SQLiteError) in
                guard state == .suspended else { return nil }
                let connection = try location.connect(SQL.writerSettings)
                try Features(of: connection).apply(to: connection)
                let writer = try Writer(
                    connection,
                    notifying: location.changesFile,
                    openBatch: writing.openBatch,
                    lasting
                )
                if !access.isReading { try waitForOpenBatches(connection) }
                readers.resume()
                location.move(from: .suspended, to: .open)
                return writer
            }
        } catch {
            throw VellumError(error)
        }
    }

    // MARK: Flushing

    /// Makes everything acknowledged before the call survive power loss, including the eviction
    /// order.
    func flush() throws(VellumError) {
        try withUsableFile { () throws(SQLiteError) in
            // Nothing was written.
            guard !access.isReading else { return }
            try commitBatch()
            try writeAllTouches()
            let commits = withWriter { writer in
                writer.countCommit()
                return writer.lasting.commits
            }
            // Suspended meanwhile, which copies the log only if no other process has the file open.
            guard let commits else {
                if state == .suspended { throw .suspended }
                return
            }
            try log.sync(through: commits)
        }
    }

    /// Flushes for a handle that closes while others stay open. A vanished file is not an error
    /// here.
    func flushForClosing() throws(VellumError) {
        guard location.isAtWork else { return }
        do throws(VellumError) {
            try flush()
        } catch {
            guard error.code != .vanished else { return }
            throw error
        }
    }
}
