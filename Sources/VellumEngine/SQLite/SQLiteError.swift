internal import Foundation
package import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// An error that SQLite returned, or that the engine reports with an SQLite result code.
package struct SQLiteError: Error, CustomStringConvertible {
    /// The extended result code (sqlite.org/rescode.html).
    var code: Int32
    /// SQLite's message. It may name tables and columns, never a key or a value.
    var message: String
    /// The error of the system behind it (`errno`), or 0.
    var systemError: Int32 = 0

    /// Damage that the engine detects before SQLite does.
    package static func corrupt(_ message: String) -> SQLiteError {
        SQLiteError(code: SQLITE_CORRUPT, message: message)
    }

    /// Damage that was found when the file was open before.
    static let foundDamaged = corrupt("Damage was found when the file was last open.")

    static let misuse = SQLITE_MISUSE

    /// The statement was interrupted, because whoever asked for it needs it no more.
    var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

    static let full = SQLiteError(code: SQLITE_FULL, message: "The disk is full.")

    package static let busy = SQLiteError(
        code: SQLITE_BUSY,
        message: "Another process is opening the file."
    )

    /// A reader keeps its snapshot. Our own code in the family of SQLITE_BUSY (SQLite defines none
    /// above 3 there).
    static let keptLog = SQLiteError(
        code: SQLITE_BUSY | (203 << 8),
        message: "A reader needs the log."
    )

    /// Whether another process has a lock that a statement needs.
    var isOfOtherProcess: Bool { primaryCode == SQLITE_BUSY && code != Self.keptLog.code }

    /// The open file is no longer at its path. (SQLITE_READONLY_DBMOVED, a macro that Swift does
    /// not import.)
    static let vanished = SQLiteError(
        code: SQLITE_READONLY | (4 << 8),
        message: "The file was deleted, replaced or set aside."
    )

    /// A later version of the package has added to the file what this one cannot keep up to date.
    /// Our own code in the family of SQLITE_READONLY.
    static let unknownFeatures = SQLiteError(
        code: vanished.primaryCode | (202 << 8),
        message:
            """
            A later version of this package added to the file what this version does not know. It \
            can be read, and not written: update the package.
            """
    )

    /// The file is suspended and may not be used. (SQLITE_ABORT.)
    static let suspended = SQLiteError(code: SQLITE_ABORT, message: "The file is suspended.")

    /// Our own code in the family of SQLITE_CANTOPEN (SQLite defines none above 7 there:
    /// sqlite.org/rescode.html).
    static let unsafePathCode = SQLITE_CANTOPEN | (200 << 8)

    /// The object exceeds both the disk limit and the memory limit.
    static let tooLarge = SQLiteError(
        code: SQLITE_TOOBIG,
        message: "The object is larger than every limit."
    )

    /// The archive holds another version of its cache. Our own code in the family of SQLITE_ABORT,
    /// which SQLite uses for suspended files here.
    static let versionReplaced = SQLiteError(
        code: SQLITE_ABORT | (201 << 8),
        message: "The cache was opened with another version."
    )

    var isVersionReplaced: Bool { code == Self.versionReplaced.code }

    static let lostTransaction = SQLiteError(
        code: SQLITE_IOERR,
        message: "The shared transaction was ended by a read that failed."
    )

    var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Whether the device is locked, and the protection of the file forbids to read it meanwhile.
    /// Only SQLite's errors of access and reading say so.
    var isOfLockedDevice: Bool {
        Self.meansLockedDevice(systemError)
            && [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH, SQLITE_IOERR].contains(primaryCode)
    }

    /// Whether the device may be locked: SQLite does not keep the error of the system with these
    /// codes.
    var mayBeOfLockedDevice: Bool {
        Self.devicesLock && [SQLITE_AUTH, SQLITE_PERM].contains(primaryCode)
    }

    /// Whether an error of the system means that the device is locked. A Mac is never locked in
    /// this sense, and its sandbox has the same error.
    static func meansLockedDevice(_ systemError: Int32, locks: Bool = devicesLock) -> Bool {
        locks && systemError == EPERM
    }

    private static var devicesLock: Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            true
        #else
            false
        #endif
    }

    var isOfDevice: Bool { primaryCode == SQLITE_IOERR }

    var primaryCode: Int32 { code & 0xFF }

    /// Whether the file could not be opened and SQLite does not report why.
    var isCannotOpen: Bool {
        !isUnsafePath && [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH].contains(primaryCode)
    }

    /// Whether the file is damaged. This includes a short read (the file was truncated), a failed
    /// constraint (our statements never violate one), and a table whose schema is not ours.
    package var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CONSTRAINT].contains(primaryCode)
            || code == Self.shortRead || isOfAnotherSchema
    }

    /// Whether the schema is not ours. SQLite reports this only in its message, not with a code.
    private var isOfAnotherSchema: Bool {
        guard code == SQLITE_ERROR else { return false }
        return [
            "no such table", "no such column", "no such index", "unsupported file format",
            "malformed", "duplicate column name",
            // A view or a generated column replaced one of our tables or columns. Neither is
            // executed.
            "access to view", "cannot modify", "cannot INSERT into generated column",
            "cannot UPDATE generated column",
        ].contains(where: message.hasPrefix)
            || message.hasSuffix("already exists") || message.contains("has no column named")
    }

    /// SQLITE_IOERR_SHORT_READ, a macro that Swift does not import.
    private static let shortRead = SQLITE_IOERR | (2 << 8)

    package var description: String { "SQLite \(code): \(message)" }
}

extension SQLiteError {
    /// Creates the error of the last call on a connection.
    init(_ code: Int32, of connection: OpaquePointer) {
        self.init(
            code: code,
            message: String(cString: sqlite3_errmsg(connection)),
            systemError: sqlite3_system_errno(connection)
        )
    }
}

extension VellumError {
    static let vanished = VellumError(
        .vanished,
        """
        The file, or a folder above it, was deleted, replaced or renamed while it was open. Open \
        the archive again: it uses what is at the path then.
        """
    )
    static func deviceLocked(cause: any Error, sqliteCode: Int32? = nil) -> VellumError {
        VellumError(
            .deviceLocked,
            """
            The device is locked, and the protection of the file does not let it be read until it \
            is unlocked. Try again then, or open the file with a 'fileProtection' that allows it.
            """,
            sqliteCode: sqliteCode,
            cause: cause
        )
    }

    package static let suspended = VellumError(
        .suspended,
        "The file is suspended. Call resume() on its factory, manager or storage first."
    )

    /// Creates the public error for an SQLite error.
    package init(_ error: SQLiteError) {
        switch error.code {
        case SQLiteError.vanished.code: self = .vanished
        case SQLiteError.suspended.code: self = .suspended
        case SQLiteError.versionReplaced.code: self = .cacheVersionChanged
        case SQLiteError.unknownFeatures.code, SQLiteError.onlyRead.code:
            self.init(.readOnly, error.message, cause: error)
        case SQLiteError.unsafePathCode: self.init(.cannotOpen, error.message, cause: error)
        case _ where error.isInterrupted: self = .cancelled
        case _ where error.isOfLockedDevice:
            self = .deviceLocked(cause: error, sqliteCode: error.code)
        default:
            let (code, message) = Self.failure(error)
            self.init(code, message, sqliteCode: error.code, cause: error)
        }
    }

    /// What an error is that has no error of its own here, and what to do about it.
    private static func failure(_ error: SQLiteError) -> (Code, String) {
        switch error.isDamage && error.primaryCode != SQLITE_NOTADB
            ? SQLITE_CORRUPT : error.primaryCode
        {
        case SQLITE_FULL:
            (
                .diskFull,
                """
                There is no space left on the disk. Free some space, then try again. Values \
                recorded before are still there.
                """
            )
        case SQLITE_READONLY:
            (
                .readOnly,
                """
                The file cannot be written. Check its permissions, and those of its folder: a \
                database needs side files there.
                """
            )
        case SQLITE_BUSY, SQLITE_LOCKED:
            (.busy, "Another process locked the file for too long. Try again.")
        case SQLITE_NOTADB:
            (
                .notADatabase,
                """
                The file is not a database. It was not changed. If it is the archive's own file, \
                restore it from a backup or move it away; otherwise choose another path.
                """
            )
        case SQLITE_CORRUPT:
            (
                .damagedFile,
                """
                Parts of the file cannot be read. Close and open it again: readable entries are \
                copied to a new file.
                """
            )
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
            (
                .cannotOpen,
                "The file cannot be opened. Check its permissions, and those of its folder."
            )
        case SQLITE_MISUSE: (.closed, "The archive was closed. Open it again.")
        case SQLITE_TOOBIG:
            (
                .tooLarge,
                """
                The object is larger than both limits, or than SQLite can store (1 GB). Raise a \
                limit. Earlier values are still there.
                """
            )
        default:
            (
                .inputOutput,
                "The system failed to read or write the file. Check the disk, then try again."
            )
        }
    }
}

extension Log {
    package static func error(_ message: String, _ cause: SQLiteError) {
        error(message, sqliteCode: cause.code)
    }
}
