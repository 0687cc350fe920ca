internal import Tiers

/// What the file is, and how an older one becomes today's.
enum Schema {
    /// "VELM", written into the file's header, so that a database of another program is not taken for ours.
    static let applicationID: Int32 = 0x5645_4C4D
    /// The format that this version writes. A higher number than this is refused.
    static let formatVersion = 4

    /// The step from a format to the next; the first makes an empty file one of ours.
    private static func migrate(_ connection: Connection, from version: Int) throws(SQLiteError) {
        switch version {
        case 0: try connection.execute(SQL.createFile)
        case 1: try connection.execute(SQL.createIndexes)
        case 2:
            for number in try connection.ints(SQL.archiveNumbers) { try connection.execute(SQL.addIdleAge(number)) }
            try connection.execute(SQL.createClaims)
        default: break  // The tables are the same; but whoever writes now tells others of it (decision 26).
        }
    }

    /// Makes sure that the connection's file is an archive file of today's format. Several processes may do so at once.
    ///
    /// - Throws: ``SQLiteError``, or ``StoreError`` for a file that is not ours to change; then it was not changed.
    static func prepare(_ connection: Connection) throws {
        // In one transaction, because another process may be making the file.
        try connection.execute(SQL.begin)
        let present = try version(of: connection)
        try connection.execute(SQL.commit)
        if present == formatVersion {
            try connection.execute(SQL.writerSettings)
            return
        }
        // Before the first page exists, or it has no effect.
        try connection.execute(SQL.startPageReuse)
        try startLog(connection)
        CrashPoint.reached(.logStarted)
        try connection.execute(SQL.writerSettings)
        try connection.execute(SQL.beginWriting)
        do {
            // Once more, now that no other process can change it.
            for version in try version(of: connection)..<formatVersion {
                try migrate(connection, from: version)
                CrashPoint.reached(.formatStepTaken)
            }
            try connection.execute(SQL.setApplicationID(applicationID))
            try connection.execute(SQL.setFormatVersion(formatVersion))
            CrashPoint.reached(.formatWritten)
            try connection.execute(SQL.commit)
            CrashPoint.reached(.formatCommitted)
        } catch {
            throw error  // What was begun is rolled back when the connection closes.
        }
    }

    /// The format of the file: 0 for an empty one.
    private static func version(of connection: Connection) throws -> Int {
        let application = try connection.int(SQL.applicationID) ?? 0
        let version = Int(try connection.int(SQL.formatVersion) ?? 0)
        if application == applicationID {
            guard version <= formatVersion || version >= 1 << 16 else {
                throw StoreError(
                    .newerFormat,
                    """
                    The file has format \(version), and this version of the package knows \(formatVersion) at most. \
                    It was left as it is; update the package.
                    """)
            }
            guard 1...formatVersion ~= version else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "The format's number is none.")
            }
            return version
        }
        if 1...formatVersion ~= version, try connection.int(SQL.hasOurTables) ?? 0 > 0 {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The mark of an archive file is damaged.")
        }
        guard application == 0, version == 0, try connection.int(SQL.tableCount) == 0 else {
            throw StoreError(.foreignFile, "The file is a database of another program. It was left as it is; give another place.")
        }
        return 0
    }

    /// Turns the write-ahead log on. SQLite does not always wait for other processes here, so the waiting is ours.
    private static func startLog(_ connection: Connection) throws {
        try Pause.whileBusy { () throws(SQLiteError) in try connection.execute(SQL.startLog) }
    }
}
