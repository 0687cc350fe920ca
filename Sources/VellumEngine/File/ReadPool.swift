internal import Synchronization
internal import VellumCore

/// A pool of four read connections, each guarded by its own lock and opened on first use.
final class ReadPool: Sendable {
    private let location: FileLocation
    private var changesFile: ChangesFile { location.changesFile }
    private let slots: [Slot]
    private let isClosed = Atomic(false)
    /// Whether the pool is suspended, so that no connection may be opened.
    private let isSuspended = Atomic(false)
    /// The number of running checkpoints. While it is not zero, readers keep no snapshot.
    private let checkpoints = Atomic(0)
    private let turn = Atomic(0)

    private final class Slot: Sendable {
        let reader = Locked<ReadConnection?>(nil)
        /// Whether the reader keeps a snapshot. Read without the lock: a thread that reads in a
        /// loop holds the lock most of the time, and locks are not fair.
        let holdsLease = Atomic(false)
    }

    init(_ location: FileLocation) {
        self.location = location
        slots = (0..<4).map { _ in Slot() }
    }

    /// Runs `body` with the tables of an archive on a connection that no other thread uses. Blocks
    /// while all readers are in use.
    ///
    /// - Parameter isCancelled: Asked every 1,000 instructions of SQLite whether to interrupt a
    ///   statement; `nil` for never.
    /// - Returns: What `body` returned, and whether a lease began; `nil` after ``close()``.
    func read<Result: Sendable>(
        _ archive: Archive,
        interruptedWhen isCancelled: (() -> Bool)? = nil,
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> (result: Result, beganLease: Bool)? {
        for slot in slots {
            let attempt = try slot.reader.withLockIfAvailable {
                (reader: inout ReadConnection?) throws(SQLiteError) in
                try use(&reader, of: slot, archive, isCancelled, body)
            }
            if let answer = attempt { return answer }
        }
        // All readers are busy: wait for one, in rotation.
        let number = turn.wrappingAdd(1, ordering: .relaxed).newValue
        let slot = slots[number & 3]
        return try slot.reader.withLongLock { (reader: inout ReadConnection?) throws(SQLiteError) in
            try use(&reader, of: slot, archive, isCancelled, body)
        }
    }

    private func use<Result: Sendable>(
        _ reader: inout ReadConnection?,
        of slot: Slot,
        _ archive: Archive,
        _ isCancelled: (() -> Bool)?,
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> (result: Result, beganLease: Bool)? {
        guard !isClosed.load(ordering: .acquiring) else { return nil }
        let read = try begin(&reader, of: slot, isCancelled)
        do throws(SQLiteError) {
            let result = try body(try read.connection.tables(of: archive))
            return (result, end(read, of: slot))
        } catch {
            fail(read, of: slot)
            throw error
        }
    }

    /// A read that has begun on a connection.
    private struct Read {
        let connection: ReadConnection
        let hadLease: Bool
        let mayKeepLease: Bool
        let isInterruptible: Bool
    }

    // One copy of each for all callers of `read`, whose closures are compiled into it.

    @inline(never)
    private func begin(
        _ reader: inout ReadConnection?,
        of slot: Slot,
        _ isCancelled: (() -> Bool)?
    ) throws(SQLiteError) -> Read {
        guard !isSuspended.load(ordering: .acquiring) else { throw .suspended }
        let open = if let reader { reader } else { try ReadConnection(location) }
        reader = open
        let now = CoarseClock.milliseconds
        let mayKeep =
            checkpoints.load(ordering: .sequentiallyConsistent) == 0
            && !changesFile.page.isLogRestartRequested(at: now)
        let read = Read(
            connection: open,
            hadLease: open.hasLease,
            mayKeepLease: mayKeep,
            isInterruptible: isCancelled != nil
        )
        do throws(SQLiteError) {
            try open.begin(keepingLease: mayKeep, at: now)
        } catch {
            show(open, in: slot, hadLease: read.hadLease)
            throw error
        }
        if let isCancelled { open.interrupt(when: isCancelled) }
        return read
    }

    /// - Returns: Whether a lease began.
    @inline(never)
    private func end(_ read: Read, of slot: Slot) -> Bool {
        if read.isInterruptible { read.connection.interrupt(when: nil) }
        read.connection.end(keepingLease: read.mayKeepLease)
        let beganLease = !read.hadLease && read.connection.hasLease
        show(read.connection, in: slot, hadLease: read.hadLease)
        return beganLease
    }

    @inline(never)
    private func fail(_ read: Read, of slot: Slot) {
        if read.isInterruptible { read.connection.interrupt(when: nil) }
        read.connection.endLease()
        show(read.connection, in: slot, hadLease: read.hadLease)
    }

    /// Shows whether the reader keeps a snapshot. Ends it if a checkpoint has begun meanwhile,
    /// which could not see it.
    private func show(_ reader: ReadConnection, in slot: Slot, hadLease: Bool) {
        guard reader.hasLease != hadLease else { return }
        slot.holdsLease.store(reader.hasLease, ordering: .sequentiallyConsistent)
        guard reader.hasLease, checkpoints.load(ordering: .sequentiallyConsistent) > 0 else {
            return
        }
        reader.endLease()
        slot.holdsLease.store(false, ordering: .releasing)
    }

    /// Ends the leases of readers that have not read since `reads` was recorded, and updates
    /// `reads`.
    ///
    /// - Returns: Whether any reader still holds a lease.
    func endIdleLeases(since reads: inout [UInt64]) -> Bool {
        var left = false
        let isRequested = changesFile.page.isLogRestartRequested(at: CoarseClock.milliseconds)
        if reads.count != slots.count { reads = Array(repeating: .max, count: slots.count) }
        for (index, slot) in slots.enumerated() {
            let last = reads[index]
            let now = slot.reader.withLockIfAvailable { reader -> (reads: UInt64, left: Bool) in
                guard let reader else { return (0, false) }
                if reader.reads == last || isRequested { reader.endLease() }
                slot.holdsLease.store(reader.hasLease, ordering: .releasing)
                return (reader.reads, reader.hasLease)
            }
            // A reader whose lock is taken is not idle.
            reads[index] = now?.reads ?? .max
            left = left || (now?.left ?? true)
        }
        return left
    }

    /// Ends every lease, waiting for readers in use, and runs `body` while no reader keeps a
    /// snapshot.
    func withoutLeases<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        checkpoints.wrappingAdd(1, ordering: .sequentiallyConsistent)
        defer { checkpoints.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
        for slot in slots {
            // An idle reader's lease is ended here; a reader in use ends its own lease with the
            // next read.
            while slot.holdsLease.load(ordering: .sequentiallyConsistent) {
                let didEndLease: Void? = slot.reader.withLockIfAvailable { reader in
                    reader?.endLease()
                    slot.holdsLease.store(false, ordering: .releasing)
                }
                if didEndLease == nil { BusyRetry.milliseconds(0.02) }
            }
        }
        return try body()
    }

    /// Closes every connection for good, unless ``reopen()`` follows.
    ///
    /// - Parameter keepingLog: Whether to keep SQLite from deleting the log, because the file at
    ///   its path may belong to another database.
    func close(keepingLog: Bool = false) {
        isClosed.store(true, ordering: .releasing)
        release(keepingLog: keepingLog)
    }

    /// Closes every connection and opens none until ``resume()``.
    func suspend() {
        isSuspended.store(true, ordering: .releasing)
        release()
    }

    /// Opens connections again after ``suspend()``, or because suspending has failed.
    func resume() { isSuspended.store(false, ordering: .releasing) }

    /// Opens connections again, because the file could not be closed.
    func reopen() { isClosed.store(false, ordering: .releasing) }

    /// Closes every connection. The next read opens one again.
    func release(keepingLog: Bool = false) {
        for slot in slots {
            slot.reader.withLock { reader in
                if keepingLog { reader?.keepLog() }
                reader = nil
            }
            slot.holdsLease.store(false, ordering: .releasing)
        }
    }
}
