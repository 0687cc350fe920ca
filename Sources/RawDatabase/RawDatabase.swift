package import Foundation

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A separate connection with which tests inspect and damage a file. It uses SQLite, because
/// opening and closing the file directly would drop the locks of the store under test (P50).
package final class RawDatabase {
    /// What SQLite says of a call that failed.
    package struct Failure: Error, CustomStringConvertible {
        /// SQLite's message.
        package let description: String
    }

    private var handle: OpaquePointer?

    /// Opens the file, or creates it.
    package init(_ url: URL) throws {
        guard
            sqlite3_open_v2(url.path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
                == SQLITE_OK
        else {
            throw Failure(description: "\(url.path) cannot be opened")
        }
        sqlite3_busy_timeout(handle, 60_000)
    }

    deinit { sqlite3_close_v2(handle) }

    private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(handle))) }

    /// Copies the database by SQLite's own means (sqlite.org/backup.html), for a comparison.
    package func copy(to url: URL) throws {
        let target = try RawDatabase(url)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.failure
        }
        sqlite3_backup_step(backup, -1)
        guard sqlite3_backup_finish(backup) == SQLITE_OK else { throw target.failure }
    }

    /// Runs statements that return nothing.
    package func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Names another format in both places where a file names it.
    package func declareFormat(_ version: Int) throws {
        try execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema \
            SET sql = 'CREATE TABLE archives( -- format \(version)' \
            || substr(sql, instr(sql, char(10))) WHERE name = 'archives';
            PRAGMA user_version = \(version);
            PRAGMA writable_schema = OFF;
            """
        )
    }

    /// Changes the checksums of the entries with these ids and this key.
    ///
    /// - Returns: How many there are.
    package func damageEntries(
        withKey key: Data,
        from first: Int64,
        to last: Int64
    ) throws -> Int {
        let digits = key.map {
            String(UInt16($0) | 0x100, radix: 16).dropFirst()
        }.joined()
        let entries = "key = x'\(digits)' AND id >= \(first) AND id < \(last)"
        try execute("UPDATE entries SET checksum = checksum + 1 WHERE \(entries)")
        return try int("SELECT count(*) FROM entries WHERE \(entries)")
    }

    /// The first column of every row.
    package func ints(_ sql: String) throws -> [Int] {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw failure
        }
        defer { sqlite3_finalize(statement) }
        var ints: [Int] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: ints.append(Int(sqlite3_column_int64(statement, 0)))
            case SQLITE_DONE: return ints
            default: throw failure
            }
        }
    }

    /// The first column of the first row.
    package func int(_ sql: String) throws -> Int {
        guard let int = try ints(sql).first else { throw Failure(description: "no row") }
        return int
    }

    /// The first column of the first row, as a text.
    package func text(_ sql: String) throws -> String {
        String(decoding: try data(sql), as: UTF8.self)
    }

    /// The first column of the first row, as bytes.
    package func data(_ sql: String) throws -> Data {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            throw failure
        }
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure(description: "no row") }
        guard let start = sqlite3_column_blob(statement, 0) else { return Data() }
        return Data(bytes: start, count: Int(sqlite3_column_bytes(statement, 0)))
    }
}
