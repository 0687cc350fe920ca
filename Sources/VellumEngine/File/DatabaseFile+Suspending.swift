internal import Synchronization
package import VellumCore

extension DatabaseFile {
    /// Commits open transactions, ends running work and releases every lock and file until ``resume()``. For an app that is about to be
    /// suspended: the system kills apps that hold a lock then (0xDEAD10CC).
    ///
    /// Values in memory are still found while no other process writes. Calls that need the disk throw ``VellumError/Code/suspended``.
    /// Blocks until running calls have ended. Suspending a suspended file does nothing.
    ///
    /// - Throws: ``VellumError`` if the open transaction cannot be committed; the file is not suspended then.
    package func suspend() throws(VellumError) {
        try suspending.withLock { _ throws(VellumError) in try suspendAlone() }
    }

    private func suspendAlone() throws(VellumError) {
        guard state != .suspended else { return }
        try withUsableFile { () throws(SQLiteError) in
            try commitBatch()
            try writeAllTouches()
        }
        guard move(from: .open, to: .suspended) else { return }
        do throws(SQLiteError) {
            try releasingConnections { (sync: inout LogSync) throws(SQLiteError) in
                sync.release()
                readers.suspend()
                try writing.close { (writer) throws(SQLiteError) in _ = try writer?.commitBatch() }
            }
            // The last connection that closes may have removed the log.
            seenLog.withLock { $0 = nil }
        } catch {
            readers.resume()
            move(from: .suspended, to: .open)
            throw VellumError(error)
        }
    }

    /// Releases the connection that checkpoints, and runs `body` with what syncs the log, in the lock order of everything else.
    func releasingConnections(_ body: (inout sending LogSync) throws(SQLiteError) -> sending Void) throws(SQLiteError) {
        try checkpointing.withLock { (checkpointer: inout Connection?) throws(SQLiteError) in
            checkpointer = nil
            try syncing.withLock(body)
        }
    }

    /// Reopens the file after ``suspend()``. Does nothing if the file is not suspended.
    ///
    /// - Throws: ``VellumError`` if the file cannot be opened; ``VellumError/Code/vanished`` if it is no longer at its path.
    package func resume() throws(VellumError) {
        guard forkGuard.isThisProcess else { throw .forked }
        try suspending.withLock { _ throws(VellumError) in try resumeAlone() }
        watcher.poke()
        scheduleWritingTouches()
        if nextEnd != nil { scheduleSweep() }
        if writing.archives.contains(where: { $0.shape != nil }) { scheduleBuilding() }
        scheduleReclaiming()
    }

    private func resumeAlone() throws(VellumError) {
        guard state == .suspended else { return }
        try checkLocation()
        do throws(SQLiteError) {
            try writing.reopen { (lasting) throws(SQLiteError) in
                guard state == .suspended else { return nil }
                let connection = try Connection(path: path)
                try connection.execute(SQL.writerSettings)
                try Features(of: connection).apply(to: connection)
                let writer = try Writer(connection, notifying: changesFile, openBatch: writing.openBatch, lasting)
                try waitForOpenBatches(connection)
                readers.resume()
                move(from: .suspended, to: .open)
                return writer
            }
        } catch {
            throw VellumError(error)
        }
    }
}
