internal import Dispatch
internal import Synchronization
internal import VellumCore

/// The lock around the connection of a file that writes, and the archives that are open.
///
/// Excludes the writers of this process. Who needs the lock of another process waits for it without
/// this one, in line (decision 98). A file that is suspended or closed has no writer, but its
/// archives stay listed.
final class WriterLock: Sendable {
    private struct Guarded {
        var writer: Writer?
        /// The open archives by their numbers.
        var archives: [Int64: Archive] = [:]
        var lasting = Writer.Lasting()
        var other = OtherWriter()
    }

    /// A process that has the lock of the file.
    private struct OtherWriter {
        /// How many threads wait for it.
        var waiting = 0
        /// Since when it is met, and when a thread last ended to wait, in milliseconds of
        /// ``CoarseClock``.
        var since = Int64.min / 2
        var last = Int64.min / 2
    }

    /// Whether an open transaction holds relaxed writes.
    let openBatch: OpenBatch
    /// How many threads wait for the lock to use the writer, or for another process, for metrics
    /// (decision 81).
    let waiting = Atomic(0)
    /// The writes of tasks, which wait without a thread.
    let lane = WriteLane()
    /// What tasks do with the file otherwise.
    let lanes = FileLanes()
    private let guarded: Locked<Guarded>
    /// Those that wait for another process: one of them tries.
    private let line = KeyedMutex()

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
        try waitingForOthers { () throws(Failure) in
            try guarded.withLock(counting: waiting) {
                (guarded: inout Guarded) throws(Failure) -> Result? in
                guard let writer = guarded.writer else { return nil }
                return try body(writer)
            }
        }
    }

    /// The same, which waits for other threads and processes until a moment of ``CoarseClock``.
    func withWriter<Result: Sendable>(
        until end: Int64,
        _ body: (Writer) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        while true {
            var failure = SQLiteError.busy
            do throws(SQLiteError) {
                let attempt = try guarded.withLockIfAvailable {
                    (guarded: inout Guarded) throws(SQLiteError) -> Result? in
                    guard let writer = guarded.writer else { return nil }
                    return try body(writer)
                }
                if let attempt { return attempt }
            } catch {
                guard error.isOfOtherProcess else { throw error }
                failure = error
            }
            guard CoarseClock.milliseconds < end else { throw failure }
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
        try waitingForOthers { () throws(SQLiteError) in
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
    }

    // MARK: Other processes

    /// Runs `attempt`, and again while it meets the lock of another process, for ten seconds since
    /// the call came.
    @inline(__always)
    private func waitingForOthers<Result, Failure: Error>(
        _ attempt: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var wait: OtherWait?
        while true {
            do throws(Failure) {
                let result = try attempt()
                if let wait { end(wait, isOver: true) }
                return result
            } catch {
                guard mayTryAgain(after: error, &wait) else { throw error }
            }
        }
    }

    /// A call that waits for another process.
    private struct OtherWait {
        let end: Int64
        let turn: KeyedMutex.Hold
        /// Whether its place in a lane is lent.
        let isLent: Bool
        var attempts = 0
    }

    /// Blocks until a call may be tried again that has met the lock of another process.
    ///
    /// - Returns: `false` at once for another failure, and when its time is over.
    @inline(never)
    private func mayTryAgain(after failure: any Error, _ wait: inout OtherWait?) -> Bool {
        let isMet = (failure as? SQLiteError)?.isOfOtherProcess == true
        guard let present = wait else {
            wait = isMet ? beginWait() : nil
            return wait != nil
        }
        guard isMet, CoarseClock.milliseconds < present.end else {
            end(present, isOver: !isMet)
            return false
        }
        BusyRetry.pause(present.attempts)
        wait?.attempts += 1
        return true
    }

    private func beginWait() -> OtherWait? {
        let end = beginWaiting()
        let isLent = Lane.lend()
        let left = max(0, end - CoarseClock.milliseconds)
        let key = LockKey(of: self, hashable: 0)
        guard let turn = line.lock(key, until: .now() + .milliseconds(Int(left))) else {
            if isLent { Lane.takeBack() }
            endWaiting(false)
            return nil
        }
        return OtherWait(end: end, turn: turn, isLent: isLent)
    }

    private func end(_ wait: OtherWait, isOver: Bool) {
        line.unlock(wait.turn)
        if wait.isLent { Lane.takeBack() }
        endWaiting(isOver)
    }

    /// - Returns: When the caller gives up: ten seconds after it came, or after the lock was first
    ///   met, if it has waited for something else until then.
    private func beginWaiting() -> Int64 {
        waiting.add(1, ordering: .relaxed)
        let now = CoarseClock.milliseconds
        let came = CallStart.take()
        return guarded.withLock { guarded in
            // Nobody has tried for a while.
            if guarded.other.waiting == 0, now - guarded.other.last > 1000 {
                guarded.other.since = now
            }
            guarded.other.waiting += 1
            // Nobody waits for what somebody waits for already, under the lock of this process.
            guarded.writer?.connection.busyHandler.milliseconds = 0
            return max(came, guarded.other.since) + Connection.longestWait
        }
    }

    /// - Parameter isOver: Whether the other process has released the lock.
    private func endWaiting(_ isOver: Bool) {
        waiting.subtract(1, ordering: .relaxed)
        let now = CoarseClock.milliseconds
        guarded.withLock { guarded in
            guarded.other.waiting -= 1
            guarded.other.last = now
            if isOver { guarded.other.since = now }
            guard guarded.other.waiting == 0 else { return }
            guarded.writer?.connection.busyHandler.milliseconds = Writer.patience
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
        try waitingForOthers { () throws(SQLiteError) in
            try guarded.withLock(counting: waiting) {
                (guarded: inout Guarded) throws(SQLiteError) -> (Archive, Result)? in
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
    func countRetry(_ change: Int, marksRemovals: Int = 0) {
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
