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
        try writer.withLock { (writer: inout WriteConnection?) throws(Failure) -> Result? in
            let result: Result? = if let open = writer { try finish(open) } else { nil }
            writer = nil
            atomicState.store(state, ordering: .releasing)
            return result
        }
    }

    /// The delegates of the file's open archives.
    var delegates: [any DiskArchiveDelegate] { withWriter { $0.archives.owners } ?? [] }
}
