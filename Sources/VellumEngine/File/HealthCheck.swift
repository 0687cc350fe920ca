package import VellumCore

extension FileHealth {
    /// Finds out whether an open file can be read and written, and changes nothing.
    ///
    /// - Parameter timeout: How long to wait for others that write.
    /// - Throws: ``VellumError`` if the file cannot be used or read.
    package init(of file: DatabaseFile, timeout: Duration) throws(VellumError) {
        self.init()
        let clock = ContinuousClock()
        let path = file.path
        let start = ContinuousClock.now
        do throws(VellumError) {
            try file.checkUsable()
            // The last look may be 20 ms old.
            try file.checkLocation()
            let none = Archive(
                ArchiveTable.Found(id: 0, hash: SeededHash(seed: 0)),
                name: ""
            )
            try file.reading(none, onlyCommitted: true) { tables throws(SQLiteError) in
                _ = try tables.connection.prepare(ArchiveTable.list).step()
                // SQLite may have had that in memory.
                if let failure = tables.connection.readFailure(ofFirst: 1) { throw failure }
            }
            readTime = clock.now - start
            if !file.access.isReading {
                writeFailure = try Self.writeFailure(
                    of: file,
                    until: CoarseClock.milliseconds
                        + min(Expiration.milliseconds(timeout), 3_600_000)
                )
                writeTime = clock.now - start - readTime
            }
        } catch {
            throw error.located(archive: nil, path: path)
        }
        freeSpace = FileSystem.freeSpace(path).map { DataSize(bytes: Int(clamping: $0)) }
        fileSize = file.fileSize
        logSize = file.logSize
        lastFailure = file.lastFailure.withLock { $0 }
    }

    private static func writeFailure(
        of file: DatabaseFile,
        until end: Int64
    ) throws(VellumError) -> VellumError? {
        do throws(SQLiteError) {
            if try file.writing.withWriter(
                until: end,
                { writer throws(SQLiteError) in try writer.probe() }
            ) != nil {
                return nil
            }
        } catch {
            // Not noted: the last failure that a caller has met must not be lost.
            let failure = VellumError(file.classify(error)).located(archive: nil, path: file.path)
            if failure.code != .vanished { return failure }
            throw failure
        }
        throw file.unusable
    }
}
