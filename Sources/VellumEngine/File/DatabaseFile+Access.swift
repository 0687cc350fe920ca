internal import Synchronization
internal import VellumCore

/// What an open file is at the moment.
enum FileState: UInt8, AtomicRepresentable {
    /// In use.
    case open
    /// Holds no lock and no file, until it is resumed.
    case suspended
    /// Closed for every handle; it must be opened again.
    case closed
    /// Deleted, replaced or set aside while it was open. It never comes back.
    case vanished
}

// The only ways to what an open file holds: its state, and the connection that writes.

extension DatabaseFile {
    var state: FileState { atomicState.load(ordering: .acquiring) }

    /// Moves from one state to another.
    ///
    /// - Returns: Whether the file was in the first.
    @discardableResult
    func move(from old: FileState, to new: FileState) -> Bool {
        atomicState.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whether the file was closed, or vanished; then it must be opened again.
    package var isClosed: Bool { forkGuard.isThisProcess && [.closed, .vanished].contains(state) }

    /// Whether maintenance may run: nothing is done for a file that is not open here.
    var isAtWork: Bool { forkGuard.isThisProcess && state == .open }

    /// Runs `body` with the connection that writes, while no other thread has it. Returns `nil` once the file is closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        _ body: (WriteConnection) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try writer.withLock { (writer: inout WriteConnection?) throws(Failure) -> Result? in
            guard let writer else { return nil }
            return try body(writer)
        }
    }

    /// Runs `body` with the connection that writes and one of the archives that it knows. Returns `nil` once either is closed.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        of number: Int64, _ body: (WriteConnection, ArchiveWriter) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try withWriter { (writer) throws(Failure) -> Result? in
            guard let archive = writer.archive(number) else { return nil }
            return try body(writer, archive)
        }
    }

    /// Closes the connection that writes, for good: after `finish` has done what must come first.
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

    /// What is told of the archives of this file.
    var delegates: [any DiskArchiveDelegate] { withWriter { $0.owners } ?? [] }
}
