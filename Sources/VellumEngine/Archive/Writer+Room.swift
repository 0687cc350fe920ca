internal import VellumCore

// Room on the disk, which the log and the file need before they grow (decision 45).

extension Writer {
    /// Makes the next transaction make room, because the log has lost its own.
    func forgetRoom() { bytesWithRoom = 0 }

    /// For how many bytes of the file there is room now.
    private var room: Int64 { min(bytesWithRoom, connection.roomOfFile ?? bytesWithRoom) }

    /// The size of the file's pages, as the last transaction left them.
    var bytesOfPages: Int64 {
        get throws(SQLiteError) { try statements.pageCount.firstInt() * pageSize }
    }

    /// Makes sure, before the file grows, that the log can be copied into it and that a later
    /// transaction finds room in the log, however full the disk is then: so a store that has filled
    /// its disk can be emptied.
    func makeRoom(for transaction: Transaction) throws(SQLiteError) {
        // A small record may find room on a full disk, in a page. In a test none does.
        if connection.isDiskFull, transaction.stores { throw .full }
        // SQLite compiles the question for the number of pages each time.
        let growth = transaction.greatestGrowth
        let room = room
        let present = connection.pagesOfLastCommit().map { $0 * pageSize }
        if let growth, let present,
            case let bytes = present + growth, bytes + transaction.room(leftOf: bytes) <= room
        {
            return
        }
        let bytes = try bytesOfPages
        // Small transactions get room for some that follow, where there is room.
        let wanted = bytes + transaction.room(leftOf: bytes)
        if let growth, wanted + growth > room, !isOnFullDisk,
            !FileSystem.isAlmostFull(connection.path),
            try reserve(wanted + roomAhead(of: bytes))
        {
            return
        }
        // What does not make the file grow, such as a deletion, needs no more than there is.
        let needed = present.map { bytes <= $0 } ?? false ? bytes : wanted
        guard needed > room else { return }
        try reserveOrFail(needed)
    }

    /// Room in which a transaction can write which entries it removes (``RemovedTable``): a row of
    /// 20 bytes for 64 of them, of which each takes a hundred bytes and more.
    static func roomForRemovals(in bytes: Int64) -> Int64 { min(7 << 16, 1 << 16 + bytes / 256) }

    /// Room for some hundred small entries: an eighth of the file, 64 KB at least, and less than
    /// what ``DatabaseFile/hasUntruncatedSpace()`` looks for at most.
    private func roomAhead(of bytes: Int64) -> Int64 {
        min(1 << 19, max(1 << 16, bytes / 8))
    }

    /// - Returns: Whether there was room.
    private func reserve(_ bytes: Int64) throws(SQLiteError) -> Bool {
        do throws(SQLiteError) {
            try reserveOrFail(bytes)
            return true
        } catch {
            guard error.isFull else { throw error }
            return false
        }
    }

    private func reserveOrFail(_ bytes: Int64) throws(SQLiteError) {
        let present = Int64(FileSystem.size(connection.path))
        do throws(SQLiteError) {
            try extendLog(besides: bytes)
        } catch {
            // What does not make the file grow, such as a deletion, is tried with the log that
            // there is.
            guard error.isFull, bytes <= present else { throw error }
        }
        // After the log: a record that is refused must not take the log's room.
        try connection.extendFile(from: present, to: bytes)
        let chunk = Int64(Connection.chunk)
        bytesWithRoom = (bytes + chunk - 1) / chunk * chunk
    }

    private func extendLog(besides bytes: Int64) throws(SQLiteError) {
        // Deleting sixteen entries writes some forty pages, and freeing pages writes one for each
        // thousand that are free.
        try connection.extendLog(to: 1 << 18 + bytes / 256)
    }

    /// Commits open relaxed writes, then writes a page into the log, makes room as the commit of a
    /// small entry does, and rolls back.
    func probe() throws(SQLiteError) {
        try endBatch()
        // SQLite syncs the header of a log before its first page, which may take long.
        try connection.execute(SQL.syncNothing)
        let result = Result { () throws(SQLiteError) in
            if connection.isDiskFull { throw .full }
            _ = try begin()
            defer { rollBack() }
            try connection.execute(RecencyTables.probe)
            let bytes = try bytesOfPages + 4 * pageSize
            let wanted = bytes + Self.roomForRemovals(in: bytes)
            if wanted > room { try reserveOrFail(wanted) }
            try connection.writePages()
        }
        try connection.execute(SQL.syncAgain)
        try result.get()
    }
}
