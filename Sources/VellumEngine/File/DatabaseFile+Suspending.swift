internal import Synchronization
package import VellumCore

extension DatabaseFile {
    /// Commits what is open, ends what is under way and lets go of every lock and file, until ``resume()``: for an app that is about to
    /// be suspended, because the system kills those that hold a lock then (0xDEAD10CC).
    ///
    /// What memory holds is still found, as long as no other process writes; whoever needs the disk meanwhile gets
    /// ``VellumError/Code/suspended``. Blocks until those are done who use the file now. Suspending twice is suspending once.
    ///
    /// - Throws: ``VellumError`` if what is open cannot be committed; then the file is not suspended.
    package func suspend() throws(VellumError) {
        guard state != .suspended else { return }
        try withUsableFile { () throws(SQLiteError) in
            try commitBatch()
            try writeAllUses()
        }
        guard move(from: .open, to: .suspended) else { return }
        do throws(SQLiteError) {
            // In the order in which others take these locks.
            try checkpointing.withLock { (checkpointer: inout Connection?) throws(SQLiteError) in
                checkpointer = nil
                try syncing.withLock { (sync: inout LogSync) throws(SQLiteError) in
                    sync.release()
                    readers.suspend()
                    try withWriter { (writer) throws(SQLiteError) in
                        try writer.commitBatch()
                        try writer.release()
                    }
                }
            }
            // The last connection to go may have removed the log.
            seenLog.withLock { $0 = nil }
        } catch {
            readers.resume()
            move(from: .suspended, to: .open)
            throw VellumError(error)
        }
    }

    /// Takes the file up again after ``suspend()``.
    ///
    /// - Throws: ``VellumError`` if the file cannot be opened again; ``VellumError/Code/vanished`` if it is no longer there.
    package func resume() throws(VellumError) {
        guard forkGuard.isThisProcess else { throw .forked }
        guard state == .suspended else { return }
        try checkLocation()
        do throws(SQLiteError) {
            try withWriter { (writer) throws(SQLiteError) in
                guard state == .suspended else { return }
                try writer.reopen(path: path)
                try waitForOpenBatches(writer)
                readers.resume()
                move(from: .suspended, to: .open)
            }
        } catch {
            throw VellumError(error)
        }
        scheduleWritingOfUses()
        if withWriter({ $0.nextSweep }) != nil { scheduleSweep() }
        if withWriter({ $0.allArchives.contains { $0.index.shape != nil } }) ?? false { scheduleBuilding() }
    }
}
