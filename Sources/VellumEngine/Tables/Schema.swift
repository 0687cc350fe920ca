package import VellumCore

/// Checks the format of a file, and creates the schema in an empty one.
package enum Schema {
    /// The format that this version reads and writes. Files with a higher number are refused.
    static let formatVersion = 1

    /// Opens a connection and checks or creates the schema.
    static func connect(_ path: String, _ kind: FileKind) throws -> Connection {
        let connection = try Connection(path: path)
        CrashPoint.reached(.fileConnected)
        try prepare(connection, kind)
        if connection.isReadOnly, FileSystem.isWritable(path) {
            throw SQLiteError.corrupt("The header of the file says that it cannot be written.")
        }
        return connection
    }

    /// Checks that the file has this package's format and the given kind, and that its schema holds
    /// nothing foreign. Creates the schema in an empty file. Several processes may call this
    /// concurrently.
    ///
    /// - Throws: ``SQLiteError``, or ``VellumError`` for a file that must not be changed; the file
    ///   is unchanged then.
    static func prepare(_ connection: Connection, _ kind: FileKind) throws {
        if let features = try present(in: connection, kind) {
            try connection.execute(SQL.writerSettings)
            try features.apply(to: connection)
            try connection.findLog()
            // A header that forbids to write is damaged, which the caller finds.
            guard !connection.hasLog, connection.writeRefusal == nil,
                !(connection.isReadOnly && FileSystem.isWritable(connection.path))
            else {
                return
            }
            // It is a backup, which has none until it is used.
            try startLog(of: connection)
            try connection.findLog()
            return
        }
        // Has an effect only before the first page exists.
        try connection.execute(SQL.startPageReuse)
        try startLog(of: connection)
        CrashPoint.reached(.logStarted)
        try connection.execute(SQL.writerSettings)
        // Closing the connection rolls the transaction back.
        try connection.execute(SQL.beginWriting)
        // Checked again, now that no other process can create the schema.
        if try !isOurs(connection, kind) {
            for (_, sql) in SQL.tables { try connection.execute(sql) }
            for (_, sql) in SQL.indexes { try connection.execute(sql) }
            try connection.execute(Features.insertNone)
            CrashPoint.reached(.fileTablesCreated)
            try connection.execute(SQL.setApplicationID(kind.rawValue))
            try connection.execute(SQL.setFormatVersion(formatVersion))
            CrashPoint.reached(.formatWritten)
        }
        try connection.execute(SQL.commit)
        CrashPoint.reached(.formatCommitted)
    }

    /// Checks a file that is only read as ``prepare(_:_:)`` does. Changes nothing.
    ///
    /// - Throws: ``SQLiteError``, or ``VellumError`` also for a database without tables.
    package static func check(_ connection: Connection, _ kind: FileKind) throws {
        try connection.execute(SQL.readerSettings)
        guard try present(in: connection, kind) != nil else {
            throw VellumError(
                .foreignFile,
                "The file is a database without archives. It was not changed; choose another path."
            )
        }
        try connection.findLog()
        connection.writeRefusal = .onlyRead
    }

    /// The features of a file of this package's format whose schema was checked; `nil` for an empty
    /// file.
    private static func present(in connection: Connection, _ kind: FileKind) throws -> Features? {
        // In one transaction, because another process may be creating the file.
        try connection.execute(SQL.begin)
        let isPresent = try isOurs(connection, kind)
        let features = isPresent ? try features(of: connection) : nil
        if let features {
            try SchemaCheck(connection, mayHaveMoreTables: features.mayHaveMoreTables).run(features)
        }
        try connection.execute(SQL.commit)
        return features
    }

    /// Gives a file a log.
    private static func startLog(of connection: Connection) throws(SQLiteError) {
        // SQLite does not always wait for other processes here.
        try BusyRetry.whileBusy { () throws(SQLiteError) in try connection.execute(SQL.startLog) }
    }

    /// Returns whether the file already has this package's format; `false` for an empty file.
    ///
    /// - Throws: ``VellumError`` for another kind, a newer format or a database of another program;
    ///   ``SQLiteError`` for damage.
    private static func isOurs(_ connection: Connection, _ kind: FileKind) throws -> Bool {
        let application = Int32(
            truncatingIfNeeded: try connection.int(SQL.applicationID)?.value ?? 0
        )
        let version = try connection.int(SQL.formatVersion)?.int ?? 0
        if let present = FileKind(rawValue: application) {
            guard present == kind else {
                throw VellumError.wrongKind(present, wanted: kind, connection.path)
            }
            // Only both places together mean a newer format.
            if version > formatVersion, try ArchiveTable.format(on: connection) == version {
                throw VellumError(
                    .newerFormat,
                    """
                    The file has format \(version), and this version of the package knows \
                    \(formatVersion) at most. It was not changed; update the package.
                    """
                )
            }
            guard version == formatVersion else {
                throw SQLiteError.corrupt("Invalid format version.")
            }
            return true
        }
        if 1...formatVersion ~= version, try connection.int(ArchiveTable.isPresent) ?? 0 > 0 {
            throw SQLiteError.corrupt("The application ID of the archive file is damaged.")
        }
        guard application == 0, version == 0, try connection.int(SQL.tableCount) == 0 else {
            throw VellumError(
                .foreignFile,
                """
                The file is a database of another program. It was not changed; choose another path.
                """
            )
        }
        return false
    }

    private static func features(of connection: Connection) throws -> Features {
        let features = try Features(of: connection)
        guard features.forOpening == 0 else {
            throw VellumError(
                .newerFormat,
                """
                The file has features of a later version of the package, which must be known to \
                open it. It was not changed; update the package.
                """
            )
        }
        return features
    }
}

extension VellumError {
    package static func wrongKind(
        _ present: FileKind,
        wanted: FileKind,
        _ path: String
    ) -> VellumError {
        VellumError(
            .wrongKind,
            """
            The file \(path) holds \(present.name) and cannot also hold \(wanted.name). It was not \
            changed; choose another name or folder.
            """
        )
    }
}

extension SQL {
    /// The tables of every file, by their names.
    static let tables: KeyValuePairs = [
        "archives": ArchiveTable.create, "entries": EntryTable.create,
        "touches": RecencyTables.createTouches,
        "recency": RecencyTables.createRecency, "indexes": IndexTables.create,
        "retention": RetentionTable.create,
        "features": Features.create,
    ]

    /// The indexes of every file.
    static let indexes: KeyValuePairs = [
        "entries_by_hash": EntryTable.createIndex
    ]
}
