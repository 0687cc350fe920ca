import Foundation

#if canImport(SQLite3)
    import SQLite3
#else
    import CSQLite
#endif

/// A file as the original MiniCache made it, with Core Data: in the mode with a log, which is still beside it.
enum OriginalFile {
    struct Failure: Error { var message: String }

    /// Makes one at the path, with so many entries of the cache "safe", and some that nobody can read.
    static func make(at path: String, entries: Int) throws {
        let scratch = path + "-scratch"
        var handle: OpaquePointer?
        guard sqlite3_open_v2(scratch, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil) == SQLITE_OK else {
            throw Failure(message: "cannot open")
        }
        defer { sqlite3_close_v2(handle) }
        let rows = (0..<entries).map { "(1, 1, 700000000.0, 'safe', '1', 'k\($0)', '\($0)')" }.joined(separator: ",\n")
        let sql = """
            PRAGMA journal_mode = WAL;
            CREATE TABLE ZCACHEENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDATE TIMESTAMP, ZCACHE VARCHAR,
            ZCACHEVERSION VARCHAR, ZKEY VARCHAR, ZVALUE VARCHAR);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            INSERT INTO ZCACHEENTRY(Z_ENT, Z_OPT, ZDATE, ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE) VALUES \(rows);
            INSERT INTO ZCACHEENTRY(ZCACHE, ZKEY) VALUES ('safe', NULL), (NULL, 'k');
            """
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)))
        }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: scratch + suffix, toPath: path + suffix) }
    }

    /// How many entries there are in one.
    static func count(at path: String) throws -> Int {
        var (handle, statement): (OpaquePointer?, OpaquePointer?)
        guard sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { throw Failure(message: "cannot open") }
        defer { sqlite3_close_v2(handle) }
        guard sqlite3_prepare_v2(handle, "SELECT count(*) FROM ZCACHEENTRY", -1, &statement, nil) == SQLITE_OK else {
            throw Failure(message: String(cString: sqlite3_errmsg(handle)))
        }
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure(message: "no row") }
        return Int(sqlite3_column_int64(statement, 0))
    }
}
