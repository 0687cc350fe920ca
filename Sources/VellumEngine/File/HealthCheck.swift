package import VellumCore

/// Finds out whether an open file can be read and written, and changes nothing.
package struct HealthCheck {
    let file: DatabaseFile
    /// When to stop waiting for others that write, by ``CoarseClock``.
    let end: Int64

    package init(of file: DatabaseFile, timeout: Duration) {
        self.file = file
        end = CoarseClock.milliseconds + min(Expiration.milliseconds(timeout), 3_600_000)
    }

    /// - Throws: ``VellumError`` if the file cannot be used or read.
    package func run() throws(VellumError) -> FileHealth {
        var health = FileHealth()
        let (clock, path) = (ContinuousClock(), file.path)
        let start = clock.now
        do throws(VellumError) {
            try file.checkUsable()
            // The last look may be 20 ms old.
            try file.checkLocation()
            try read()
            health.readTime = clock.now - start
            if !file.access.isReading {
                health.writeFailure = try write()
                health.writeTime = clock.now - start - health.readTime
            }
        } catch {
            throw error.located(archive: nil, path: path)
        }
        health.freeSpace = FileSystem.freeSpace(path).map { DataSize(bytes: Int(clamping: $0)) }
        health.fileSize = DataSize(bytes: FileSystem.size(path))
        health.logSize = DataSize(bytes: FileSystem.size(path + "-wal"))
        health.lastFailure = file.lastFailure.withLock { $0 }
        return health
    }

    private func read() throws(VellumError) {
        let none = Archive(ArchiveTable.Found(id: 0, hash: SeededHash(seed: 0)), name: "")
        try file.reading(none, onlyCommitted: true) { (tables) throws(SQLiteError) in
            _ = try tables.connection.prepare(ArchiveTable.list).step()
            // SQLite may have had that in memory.
            if let failure = tables.connection.readFailure(ofFirst: 1) { throw failure }
        }
    }

    /// - Returns: Why the file cannot be written.
    private func write() throws(VellumError) -> VellumError? {
        do throws(SQLiteError) {
            let done: Void? = try file.writing.withWriter(until: end) { (writer) throws(SQLiteError) in try writer.probe(until: end) }
            if done != nil { return nil }
        } catch {
            // Not noted as a failure: those that callers have met must not be lost.
            let failure = VellumError(file.classify(error))
            guard failure.code == .vanished else { return failure.located(archive: nil, path: file.path) }
            throw failure
        }
        throw file.unusable
    }
}

extension Writer {
    /// Commits open relaxed writes, then writes a page into the log, makes room as the commit of a small entry does, and rolls back.
    fileprivate func probe(until end: Int64) throws(SQLiteError) {
        try endBatch()
        // SQLite syncs the header of a log before its first page, which may take long.
        try connection.execute(SQL.syncNothing)
        connection.busyHandler.milliseconds = max(0, end - CoarseClock.milliseconds)
        let result = Result { () throws(SQLiteError) in
            _ = try begin()
            defer { rollBack() }
            try connection.execute(RecencyTables.probe)
            try makeRoom(forGrowth: 4 * pageSize)
            try connection.writePages()
        }
        connection.busyHandler.milliseconds = Connection.longestWait
        try connection.execute(SQL.syncAgain)
        try result.get()
    }
}
