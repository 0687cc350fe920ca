internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// What SQLite answered when it was not what was hoped for.
struct SQLiteError: Error, CustomStringConvertible {
    /// The extended result code (sqlite.org/rescode.html).
    var code: Int32
    /// SQLite's own words. They name tables and columns of ours, never a key or a value.
    var message: String

    /// SQLITE_CORRUPT, for damage that we see before SQLite does.
    static let corrupt = SQLITE_CORRUPT

    /// What an earlier opening found.
    static let foundDamaged = SQLiteError(code: corrupt, message: "Damage was found when the file was last open.")

    static let misuse = SQLITE_MISUSE

    static let busy = SQLiteError(code: SQLITE_BUSY, message: "Another process is opening the file.")

    /// The file is no longer the one at its path. (SQLITE_READONLY_DBMOVED, a macro that is not imported.)
    static let vanished = SQLiteError(code: SQLITE_READONLY | (4 << 8), message: "The file was deleted, replaced or set aside.")

    /// The file was told to hold nothing for a while. (SQLITE_ABORT.)
    static let suspended = SQLiteError(code: SQLITE_ABORT, message: "The file is suspended.")

    /// A code of ours in SQLITE_CANTOPEN's family (sqlite.org/rescode.html has none above 7 there).
    static let unsafePathCode = SQLITE_CANTOPEN | (200 << 8)

    /// An object fits neither the disk nor memory.
    static let tooLarge = SQLiteError(code: SQLITE_TOOBIG, message: "The object is larger than every limit.")

    static let lostTransaction = SQLiteError(code: SQLITE_IOERR, message: "The shared transaction was ended by a read that failed.")

    var isFull: Bool { primaryCode == SQLITE_FULL }

    var primaryCode: Int32 { code & 0xFF }

    /// Whether the file could not be opened, for a reason that SQLite does not tell.
    var isCannotOpen: Bool { !isUnsafePath && [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH].contains(primaryCode) }

    /// Whether the file is not what it should be. A read that finds fewer bytes than a page is such, too: the file was cut. So is
    /// a constraint that fails, for no statement of ours breaks one, and a table that is not as we made it.
    var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT].contains(primaryCode) || code == Self.shortRead || isOfAnotherSchema
    }

    /// For what is wrong with tables SQLite has no code, only words.
    private var isOfAnotherSchema: Bool {
        guard code == SQLITE_ERROR else { return false }
        return [
            "no such table", "no such column", "no such index", "unsupported file format", "malformed", "duplicate column name",
            // A view or a generated column in the place of ours: neither is run.
            "access to view", "cannot modify", "cannot INSERT into generated column", "cannot UPDATE generated column",
        ].contains(where: message.hasPrefix)
            || message.hasSuffix("already exists") || message.contains("has no column named")
    }

    /// SQLITE_IOERR_SHORT_READ, a macro that is not imported.
    private static let shortRead = SQLITE_IOERR | (2 << 8)

    var description: String { "SQLite \(code): \(message)" }
}

extension VellumError {
    static let vanished = VellumError(
        .vanished, "The file was deleted, replaced or renamed while it was open. Open the archive again.")
    static let suspended = VellumError(.suspended, "The archive is suspended. Resume it first.")

    /// The failure in the words of the engine.
    init(_ error: SQLiteError) {
        if error.code == SQLiteError.vanished.code {
            self = .vanished
            return
        }
        if error.code == SQLiteError.suspended.code {
            self = .suspended
            return
        }
        if error.isUnsafePath {
            self.init(.cannotOpen, error.message, sqliteCode: error.code, cause: error)
            return
        }
        switch error.isDamage && error.primaryCode != SQLITE_NOTADB ? SQLITE_CORRUPT : error.primaryCode {
        case SQLITE_FULL:
            self.init(
                .diskFull, "There is no space left on the disk. Free some space, then try again. What was recorded before is still there.",
                sqliteCode: error.code, cause: error)
        case SQLITE_READONLY:
            self.init(
                .readOnly, "The file cannot be written. Check its permissions, and those of its folder: a database needs files beside it.",
                sqliteCode: error.code, cause: error)
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(.busy, "Another process locked the file for too long. Try again.", sqliteCode: error.code, cause: error)
        case SQLITE_NOTADB:
            self.init(
                .notADatabase, "The file is not a database. It was not changed; choose another path.", sqliteCode: error.code, cause: error)
        case SQLITE_CORRUPT:
            self.init(
                .damagedFile, "Parts of the file cannot be read. Close and open it again: what can be read is copied into a new file.",
                sqliteCode: error.code, cause: error)
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            self.init(
                .cannotOpen, "The file cannot be opened. Check its permissions, and those of its folder.", sqliteCode: error.code,
                cause: error)
        case SQLITE_MISUSE:
            self.init(.closed, "The archive was closed. Open it again.", sqliteCode: error.code, cause: error)
        case SQLITE_TOOBIG:
            self.init(
                .tooLarge,
                "The object is larger than both limits, or than SQLite can store (1 GB). Raise a limit; what was recorded before is still there.",
                sqliteCode: error.code, cause: error)
        default:
            self.init(
                .inputOutput, "The system failed to read or write the file. Check the disk, then try again.", sqliteCode: error.code,
                cause: error)
        }
    }
}
