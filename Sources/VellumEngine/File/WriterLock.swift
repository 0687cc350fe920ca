internal import Synchronization
internal import VellumCore

/// The lock around the connection of a file that writes, and the archives that are open.
///
/// Excludes the writers of this process; those of others wait in SQLite. A file that is suspended
/// or closed has no writer, but its archives stay listed.
final class WriterLock: Sendable {
    private struct Guarded {
        var writer: Writer?
        /// The open archives by their numbers.
        var archives: [Int64: Archive] = [:]
        var lasting = Writer.Lasting()
    }

    /// Whether an open transaction holds relaxed writes.
    let openBatch: OpenBatch
    /// How many threads wait for the lock to use the writer, for metrics (decision 81).
    let waiting = Atomic(0)
    /// The writes of tasks, which wait without a thread.
    let lane = WriteLane()
    private let guarded: Locked<Guarded>

    init(_ connection: sending Connection, notifying changesFile: ChangesFile) throws(SQLiteError) {
        openBatch = OpenBatch()
        guarded = Locked(
            Guarded(writer: try Writer(connection, notifying: changesFile, openBatch: openBatch))
        )
    }

    /// Runs `body` with the writer, under the lock. Returns `nil` if there is none.
    @discardableResult
    func withWriter<Result: Sendable, Failure: Error>(
        _ body: (Writer) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        try guarded.withLock(counting: waiting) {
            (guarded: inout Guarded) throws(Failure) -> Result? in
            guard let writer = guarded.writer else { return nil }
            return try body(writer)
        }
    }

    /// The same, which waits for other threads until a moment of ``CoarseClock``.
    func withWriter<Result: Sendable>(
        until end: Int64,
        _ body: (Writer) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        while true {
            let attempt = try guarded.withLockIfAvailable {
                (guarded: inout Guarded) throws(SQLiteError) -> Result? in
                guard let writer = guarded.writer else { return nil }
                return try body(writer)
            }
            if let attempt { return attempt }
            guard CoarseClock.milliseconds < end else { throw .busy }
            BusyRetry.milliseconds(0.05)
        }
    }

    /// Carries out writes with the writer: ``Writer/carryOut(_:isRelaxed:sharing:_:)``. Returns
    /// `nil` if there is none.
    func carryOut(
        _ writes: [ArchiveWrite],
        isRelaxed: Bool,
        of file: DatabaseFile,
        _ update: ([WriteOutcome]) -> Void
    ) throws(SQLiteError) -> Commit? {
        try guarded.withLock(counting: waiting) {
            (guarded: inout Guarded) throws(SQLiteError) -> Commit? in
            try guarded.writer?.carryOut(
                writes,
                isRelaxed: isRelaxed,
                sharing: { file.isShared },
                update
            )
        }
    }

    // MARK: Archives

    /// The open archives, in the order of their creation.
    var archives: [Archive] {
        guarded.withLock { $0.archives.values.sorted { $0.id < $1.id } }
    }

    /// Runs `open` with the writer, and lists the archive that it returns in place of an earlier
    /// one.
    func list<Result: Sendable>(
        _ open: (Writer) throws(SQLiteError) -> (Archive, Result)
    ) throws(SQLiteError) -> (archive: Archive, result: Result)? {
        try guarded.withLock {
            (guarded: inout Guarded) throws(SQLiteError) -> (archive: Archive, result: Result)? in
            guard let writer = guarded.writer else { return nil }
            let (archive, result) = try open(writer)
            // A store that was opened without the version must not go on beside this one.
            let earlier = guarded.archives.updateValue(archive, forKey: archive.id)
            earlier?.isListed = false
            earlier?.versionWasReplaced()
            archive.isListed = true
            return (archive, result)
        }
    }

    /// Runs `finish` with the writer, if there is one, and removes the archive from the list,
    /// unless it was opened again.
    func remove(_ archive: Archive, _ finish: (Writer) -> Void) {
        guarded.withLock { guarded in
            guard guarded.archives[archive.id] === archive else { return }
            if let writer = guarded.writer {
                finish(writer)
                writer.forget(archive)
            }
            guarded.archives[archive.id] = nil
            archive.isListed = false
        }
    }

    // MARK: The writer

    /// Runs `finish` with the writer, then closes it. Returns `nil` if there was none.
    func close<Result: Sendable, Failure: Error>(
        _ finish: (Writer?) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try guarded.withLock { (guarded: inout Guarded) throws(Failure) -> Result in
            let result = try finish(guarded.writer)
            if let writer = guarded.writer { guarded.lasting = writer.lasting }
            guarded.writer = nil
            return result
        }
    }

    /// Takes the writer that `open` returns, after ``close(_:)``.
    func reopen(_ open: (Writer.Lasting) throws(SQLiteError) -> sending Writer?) throws(SQLiteError)
    {
        try guarded.withLock { (guarded: inout Guarded) throws(SQLiteError) in
            guard guarded.writer == nil, let writer = try open(guarded.lasting) else { return }
            guarded.writer = writer
        }
    }

    /// Counts a thread that begins to write on a full disk, or ends.
    func countRetry(_ change: Int, marksRemovals: Int) {
        guarded.withLock { guarded in
            var lasting = guarded.writer?.lasting ?? guarded.lasting
            lasting.retriesOnFullDisk += change
            lasting.marksRemovals += marksRemovals
            if let writer = guarded.writer {
                writer.lasting = lasting
            } else {
                guarded.lasting = lasting
            }
        }
    }
}
