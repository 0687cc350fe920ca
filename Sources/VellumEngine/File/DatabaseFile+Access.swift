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

    /// Runs `body` with the connection that writes, under its lock. Returns `nil` if the file is suspended or closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        _ body: (Writer) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writing.withWriter(body)
    }

    /// The same. Returns `nil` also if the archive was closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        of archive: Archive, _ body: (Writer) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writing.withWriter { (writer) throws(Failure) -> Result? in
            archive.isListed.load(ordering: .relaxed) ? try body(writer) : nil
        }
    }

    /// Runs `finish` with the writer, if there is one, then closes it and sets the state.
    @discardableResult
    func closeWriter<Result: Sendable, Failure: Error>(
        as state: FileState, _ finish: (Writer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try writing.close { (writer) throws(Failure) -> Result in
            let result = try finish(writer)
            atomicState.store(state, ordering: .releasing)
            return result
        }
        // Observers of a file that has vanished ask once more, and get the error.
        if state == .closed { watcher.end() } else { watcher.poke() }
        return result
    }

    /// The stores of the file's open archives.
    var owners: [any ArchiveOwner] { writing.archives.compactMap(\.owner) }

    /// The error of a call that has found no writer and no reader.
    var unusable: VellumError { state == .suspended ? .suspended : .closed }
}

extension DatabaseFile {
    /// Runs `body` with the tables of an archive, which show every committed write, and relaxed writes that are not committed yet.
    ///
    /// - Parameter onlyCommitted: Whether to leave out relaxed writes that are not committed, and so not to wait for the writer.
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of its cache.
    func reading<Result: Sendable>(
        _ archive: Archive, onlyCommitted: Bool = false, _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        try checkUsable()
        do throws(SQLiteError) {
            if let result = try read(archive, onlyCommitted: onlyCommitted, body) { return result }
        } catch {
            throw VellumError(classify(error)).located(archive: nil, path: path)
        }
        throw unusable
    }

    /// - Returns: What `body` returned; `nil` if the file is closed.
    func read<Result: Sendable>(
        _ archive: Archive, onlyCommitted: Bool = false, _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        guard !archive.isReplaced else { throw .versionReplaced }
        do throws(SQLiteError) {
            if !onlyCommitted, writing.openBatch.exists.load(ordering: .acquiring) {
                return try writing.withWriter { (writer) throws(SQLiteError) in try writer.reading(archive, body) }
            }
            guard let (result, beganLease) = try readers.read(archive, body) else { return nil }
            if beganLease { schedule(.endLeases) { (file) throws(SQLiteError) in file.endIdleLeases(since: []) } }
            return result
        } catch {
            if error.isVersionReplaced, archive.cacheVersion != nil, !archive.isReplaced { archive.versionWasReplaced() }
            throw error
        }
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
        closeWriter(as: .vanished) { writer in
            if keepingLog { writer?.connection.keepLog() }
        }
        FileRegistry.shared.remove(self, identity)
        for owner in owners { owner.archiveDidLoseWrites(.vanished) }
    }
}
