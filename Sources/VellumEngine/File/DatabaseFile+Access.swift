internal import Synchronization
internal import VellumCore

/// The state of an open file.
enum FileState: UInt8, AtomicRepresentable {
    /// In use.
    case open
    /// Suspended: holds no lock until it is resumed, and no descriptor unless others have it open (``OpenDatabases``).
    case suspended
    /// Closed for every handle; it must be opened again.
    case closed
    /// Deleted, replaced or set aside while it was open. This state is final.
    case vanished
}

// The only access to the file's state and its write connection.

extension DatabaseFile {
    var state: FileState { atomicState.load(ordering: .acquiring) }

    /// Changes the state from `old` to `new`.
    ///
    /// - Returns: Whether the state was `old`; otherwise it is unchanged.
    @discardableResult
    func move(from old: FileState, to new: FileState) -> Bool {
        atomicState.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whether the file was closed or has vanished. It must be opened again then.
    package var isClosed: Bool { forkGuard.isThisProcess && [.closed, .vanished].contains(state) }

    /// Whether maintenance may run: the file is open in this process.
    var isAtWork: Bool { forkGuard.isThisProcess && state == .open }

    /// Runs `body` with the write connection, under its lock. Returns `nil` if the file is closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        _ body: (WriteConnection) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writer.withLock { (writer: inout WriteConnection?) throws(Failure) -> Result? in
            guard let writer else { return nil }
            return try body(writer)
        }
    }

    /// Runs `body` with the write connection and one of its archives, under the lock. Returns `nil` if either is closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        of number: Int64, _ body: (WriteConnection, ArchiveWriter) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try withWriter { (writer) throws(Failure) -> Result? in
            guard let archive = writer.archives[number] else { return nil }
            return try body(writer, archive)
        }
    }

    /// Runs `finish` with the write connection, then closes the connection for good and sets the state. Returns `nil` if it was closed.
    func closeWriter<Result: Sendable, Failure: Error>(
        as state: FileState, _ finish: (WriteConnection) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let result = try writer.withLock { (writer: inout WriteConnection?) throws(Failure) -> Result? in
            let result: Result? = if let open = writer { try finish(open) } else { nil }
            writer = nil
            atomicState.store(state, ordering: .releasing)
            return result
        }
        // Observers of a file that has vanished ask once more, and get the error.
        if state == .closed { watcher.end() } else { watcher.poke() }
        return result
    }

    /// The delegates of the file's open archives.
    var delegates: [any DiskArchiveDelegate] { withWriter { $0.archives.owners } ?? [] }
}

extension DatabaseFile {
    /// Runs `body` with a reader that sees every committed write, and relaxed writes that are not committed yet.
    ///
    /// - Parameter onlyCommitted: Whether to leave out relaxed writes that are not committed, and so not to wait for the writer.
    /// - Returns: What `body` returned; `nil` if the file is closed.
    func read<Result: Sendable>(
        archive number: Int64, _ checksum: Checksum, onlyCommitted: Bool = false, _ body: (ArchiveReader) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        if !onlyCommitted, openBatch.exists.load(ordering: .acquiring) {
            return try withWriter { (writer) throws(SQLiteError) -> Result? in
                // The totals of a batch are in memory until it is committed, and a reader reads their row.
                if let archive = writer.archives[number], writer.batch != nil { try archive.writeTotals() }
                do throws(SQLiteError) {
                    return try body(ArchiveReader(id: number, checksum: checksum, connection: writer.connection))
                } catch {
                    writer.noticeLostBatch()
                    throw error
                }
            }
        }
        let answer = try readers.read { (reader) throws(SQLiteError) in
            try body(reader.archive(number, checksum))
        }
        guard let (result, beganLease) = answer else { return nil }
        if beganLease { schedule(.endLeases) { (file) throws(SQLiteError) in file.endIdleLeases(since: []) } }
        return result
    }
}

// Checks that the open files are still those at their paths, and that this process opened them.

extension DatabaseFile {
    /// How long a successful location check stays valid, in milliseconds.
    private static var checkInterval: Int64 { 20 }

    /// Checks that the file may be used. Every call starts with it.
    ///
    /// - Throws: ``VellumError/Code/forked``, ``VellumError/Code/suspended`` or ``VellumError/Code/vanished``.
    func checkUsable() throws(VellumError) {
        guard forkGuard.isThisProcess else { throw .forked }
        guard state != .suspended else { throw .suspended }
        let now = CoarseClock.milliseconds
        let last = lastLook.load(ordering: .relaxed)
        // A file that was set aside is abandoned immediately: its data may be outdated.
        guard now - last >= Self.checkInterval || changesFile.page.isRetired,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else {
            if state == .vanished || changesFile.page.isRetired { throw .vanished }
            return
        }
        try checkLocation()
    }

    /// Checks that the database, its log and its changes file are still at their paths.
    ///
    /// - Throws: ``VellumError/Code/vanished``, or ``VellumError/Code/cannotOpen`` for the changes file.
    func checkLocation() throws(VellumError) {
        if state == .vanished { throw .vanished }
        if FileIdentity(path: path) != identity || changesFile.page.isRetired {
            abandon()
            throw .vanished
        }
        let isLogLost = seenLog.withLock { seen in
            // A process that suspends the file may remove the log.
            guard state != .suspended else { return false }
            let log = FileIdentity(path: path + "-wal")
            defer { seen = seen ?? log }
            return seen != nil && seen != log
        }
        if isLogLost {
            // The last process that closes removes the log, also this one: its writer is asked, because it is locked until the file is closed.
            // The next step reports that.
            if withWriter({ _ in true }) == nil { return }
            // The processes that have the log open copy it into the database when they close.
            abandon(keepingLog: false)
            throw .vanished
        }
        do {
            if try changesFile.remapIfReplaced() { watcher.pageWasReplaced() }
        } catch {
            throw VellumError(.cannotOpen, "The changes file beside the archive cannot be opened.", cause: error)
        }
    }

    /// Releases a file that has vanished, without touching a file that may have replaced it, and notifies its delegates.
    func abandon(keepingLog: Bool = true) {
        guard move(from: .open, to: .vanished) || move(from: .suspended, to: .vanished) else { return }
        Log.error("An archive file was deleted, replaced or set aside while it was open. It must be opened again.", SQLiteError.vanished)
        checkpointing.withLock { connection in
            if keepingLog { connection?.keepLog() }
            connection = nil
        }
        syncing.withLock { sync in
            if keepingLog { sync.keepLog() }
            sync = LogSync()
        }
        readers.close(keepingLog: keepingLog)
        let owners = closeWriter(as: .vanished) { writer in
            if keepingLog { writer.connection.keepLog() }
            return writer.archives.owners
        }
        FileRegistry.shared.remove(self, identity)
        for owner in owners ?? [] { owner.archiveDidLoseWrites(.vanished) }
    }
}
