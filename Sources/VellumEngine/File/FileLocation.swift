internal import Synchronization
package import VellumCore

/// The state of an open file.
package enum FileState: UInt8, AtomicRepresentable {
    /// In use.
    case open
    /// Suspended: holds no lock until it is resumed, and no descriptor unless others have it open
    /// (``OpenDatabases``).
    case suspended
    /// Closed for every handle; it must be opened again.
    case closed
    /// Deleted, replaced or set aside while it was open. This state is final.
    case vanished
}

/// Where an open file is, whether it is still there, and who else has it open (decision 27).
package final class FileLocation: Sendable {
    /// The path, with every symbolic link resolved.
    package let path: String
    package let identity: FileIdentity
    /// What this process may do with the file.
    let access: FileAccess
    /// The changes that this process and others announce.
    let changesFile: ChangesFile
    /// Finds other processes that have the file open.
    let otherProcesses: OtherProcesses
    private let forkGuard = ForkGuard()
    private let atomicState = Atomic(FileState.open)
    /// The identity of the log file when it was first seen; `nil` before.
    private let seenLog: Locked<FileIdentity?> = Locked(nil)
    /// When the location was last checked, in milliseconds of a monotonic clock.
    let lastLook = Atomic(Int64.min / 2)

    /// The side files that reading makes; `nil` for a file that is written.
    private let sideFiles: ReadingSideFiles?

    init(
        _ path: String,
        _ identity: FileIdentity,
        _ changesFile: ChangesFile,
        access: FileAccess = .writing,
        sideFiles: ReadingSideFiles? = nil
    ) {
        self.path = path
        self.identity = identity
        self.changesFile = changesFile
        self.access = access
        self.sideFiles = sideFiles
        otherProcesses = OtherProcesses(database: path, identity)
    }

    /// Whether this process opened the file, and was not forked since.
    var isOfThisProcess: Bool { forkGuard.isThisProcess }

    /// Whether another process has the file open.
    var isShared: Bool { otherProcesses.hasOthers(openings: changesFile.page.openings) }

    /// Whether a commit that was announced before may still be running, in any process.
    var mayBeCommitting: Bool { OpenDatabases.shared.mayBeCommitting(identity, at: path) }

    // MARK: Connections

    /// Opens another connection, with these settings if the file may be written; one that only
    /// reads has those of a reader.
    package func connect(_ settings: String) throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, access: access)
        try connection.execute(access.isReading ? SQL.readerSettings : settings)
        guard access.isReading else { return connection }
        try connection.findLog()
        connection.writeRefusal = .onlyRead
        return connection
    }

    /// Every connection of a file is closed.
    func didCloseConnections() { sideFiles?.remove() }

    // MARK: The state

    package var state: FileState { atomicState.load(ordering: .acquiring) }

    /// Changes the state, under the writer's lock.
    func set(_ new: FileState) { atomicState.store(new, ordering: .releasing) }

    /// Changes the state from `old` to `new`.
    ///
    /// - Returns: Whether the state was `old`; otherwise it is unchanged.
    @discardableResult
    func move(from old: FileState, to new: FileState) -> Bool {
        atomicState.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// Whether the file was closed or has vanished. It must be opened again then.
    var isClosed: Bool { isOfThisProcess && [.closed, .vanished].contains(state) }

    /// Whether maintenance may run: the file is open in this process.
    var isAtWork: Bool { isOfThisProcess && state == .open }

    // MARK: Looking

    /// How long a successful look stays valid, in milliseconds.
    private static let lookInterval: Int64 = 20

    /// Whether the file may be used without another look.
    ///
    /// - Throws: ``VellumError/Code/forked``, ``VellumError/Code/suspended`` or
    ///   ``VellumError/Code/vanished``.
    func isUsable() throws(VellumError) -> Bool {
        guard isOfThisProcess else { throw .forked }
        guard state != .suspended else { throw .suspended }
        let now = CoarseClock.milliseconds
        let last = lastLook.load(ordering: .relaxed)
        // A file that was set aside is abandoned immediately: its data may be outdated.
        guard now - last >= Self.lookInterval || changesFile.page.isRetired,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else {
            if state == .vanished || changesFile.page.isRetired { throw .vanished }
            return true
        }
        return false
    }

    /// What lies at the path.
    enum Found {
        case sameFile
        /// Another file, or none.
        case otherFile
        /// The same file, without the log that was there.
        case noLog
    }

    /// Looks whether the file and its log are still at their paths.
    func look() -> Found {
        if FileIdentity(path: path) != identity || changesFile.page.isRetired { return .otherFile }
        let isLogLost = seenLog.withLock { seen in
            // A process that suspends the file may remove the log. Whoever only reads has nothing
            // in it to lose.
            guard state != .suspended, !access.isReading else { return false }
            let log = FileIdentity(path: path + "-wal")
            defer { seen = seen ?? log }
            return seen != nil && seen != log
        }
        return isLogLost ? .noLog : .sameFile
    }

    /// The last connection that closes may remove the log.
    func forgetLog() { seenLog.withLock { $0 = nil } }
}
