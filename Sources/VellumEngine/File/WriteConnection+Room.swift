internal import VellumCore

// Room on the disk, which the log and the file need before they grow.

extension WriteConnection {
    /// Whether transactions take as little space as possible: see ``ArchiveRegistry/retriesOnFullDisk``.
    var isOnFullDisk: Bool { archives.retriesOnFullDisk > 0 }

    /// Begins or ends a try of a thread to write on the full disk.
    func useLittleSpace(_ isNeeded: Bool) { archives.retriesOnFullDisk += isNeeded ? 1 : -1 }

    /// Makes the next transaction look whether the file has room.
    func forgetRoom() { bytesWithRoom = 0 }

    /// The size of the file's pages, as the last transaction left them.
    var bytesOfPages: Int64 {
        get throws(SQLiteError) { try SQL.readPageCount(pageCount) * pageSize }
    }

    /// Makes sure, before the file grows, that the log can be copied into it and that a later transaction finds room in the log, however full
    /// the disk is then: so a store that has filled its disk can be emptied.
    func makeRoom() throws(SQLiteError) {
        let bytes = try bytesOfPages
        guard bytes > bytesWithRoom else { return }
        let present = Int64(FileSystem.size(connection.path))
        do throws(SQLiteError) {
            try extendLog(besides: bytes)
        } catch {
            // What does not make the file grow, such as a deletion, is tried with the log that there is.
            guard error.isFull, bytes <= present else { throw error }
        }
        // After the log: a record that is refused must not take the log's room.
        try connection.extendFile(from: present, to: bytes)
        let chunk = Int64(Connection.chunk)
        bytesWithRoom = (bytes + chunk - 1) / chunk * chunk
    }

    /// Makes sure that a later transaction finds room in the log.
    func makeRoomInLog() throws(SQLiteError) { try extendLog(besides: bytesOfPages) }

    private func extendLog(besides bytes: Int64) throws(SQLiteError) {
        // Deleting sixteen entries writes some forty pages, and freeing pages writes one for each thousand that are free.
        try connection.extendLog(to: 1 << 18 + bytes / 256)
    }
}
