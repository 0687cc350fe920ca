internal import VellumCore

/// What the file is, and how an empty one becomes ours.
enum Schema {
    /// The format that this version reads and writes. A higher number than this is refused.
    static let formatVersion = 6

    /// Makes sure that the connection's file is one of ours, of this format and kind, and that nothing in its schema is not ours. Several
    /// processes may do so at once.
    ///
    /// - Throws: ``SQLiteError``, or ``VellumError`` for a file that is not ours to change; then it was not changed.
    static func prepare(_ connection: Connection, _ kind: FileKind) throws {
        // In one transaction, because another process may be making the file.
        try connection.execute(SQL.begin)
        let isPresent = try isOurs(connection, kind)
        if isPresent { try SchemaCheck(connection).run() }
        try connection.execute(SQL.commit)
        if isPresent {
            try connection.execute(SQL.writerSettings)
            return
        }
        // Before the first page exists, or it has no effect.
        try connection.execute(SQL.startPageReuse)
        try startLog(connection)
        CrashPoint.reached(.logStarted)
        try connection.execute(SQL.writerSettings)
        // What was begun is rolled back when the connection closes.
        try connection.execute(SQL.beginWriting)
        // Once more, now that no other process can make it.
        if try !isOurs(connection, kind) {
            for table in SQL.fileTables { try connection.execute(table) }
            CrashPoint.reached(.fileTablesCreated)
            try connection.execute(SQL.setApplicationID(kind.applicationID))
            try connection.execute(SQL.setFormatVersion(formatVersion))
            CrashPoint.reached(.formatWritten)
        }
        try connection.execute(SQL.commit)
        CrashPoint.reached(.formatCommitted)
    }

    /// Whether the file is one of ours already: an empty one is not.
    private static func isOurs(_ connection: Connection, _ kind: FileKind) throws -> Bool {
        let application = Int32(truncatingIfNeeded: try connection.int(SQL.applicationID) ?? 0)
        let version = Int(try connection.int(SQL.formatVersion) ?? 0)
        if let present = FileKind(rawValue: application) {
            guard present == kind else { throw VellumError.wrongKind(present, wanted: kind, connection.path) }
            guard version <= formatVersion || version >= 1 << 16 else {
                throw VellumError(
                    .newerFormat,
                    """
                    The file has format \(version), and this version of the package knows \(formatVersion) at most. \
                    It was left as it is; update the package.
                    """)
            }
            guard version == formatVersion else { throw SQLiteError(code: SQLiteError.corrupt, message: "Invalid format version.") }
            return true
        }
        if 1...formatVersion ~= version, try connection.int(ArchiveTable.isPresent) ?? 0 > 0 {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The mark of an archive file is damaged.")
        }
        guard application == 0, version == 0, try connection.int(SQL.tableCount) == 0 else {
            throw VellumError(.foreignFile, "The file is a database of another program. It was left as it is; give another place.")
        }
        return false
    }

    /// Turns the write-ahead log on. SQLite does not always wait for other processes here, so the waiting is ours.
    private static func startLog(_ connection: Connection) throws {
        try BusyRetry.whileBusy { () throws(SQLiteError) in try connection.execute(SQL.startLog) }
    }
}

extension VellumError {
    static func wrongKind(_ present: FileKind, wanted: FileKind, _ path: String) -> VellumError {
        VellumError(
            .wrongKind,
            """
            The file \(path) holds \(present.name) and cannot hold \(wanted.name), too. It was left as it is; choose another name or folder.
            """)
    }
}
