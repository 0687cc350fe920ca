import Foundation
import RawDatabase

/// A file as the original MiniCache creates it with Core Data: in WAL mode, with its log beside it.
enum OriginalFile {
    /// Creates a file with a number of entries of the cache "safe", and two unreadable ones.
    static func make(at path: String, entries: Int) throws {
        let scratch = path + "-scratch"
        let database = try RawDatabase(URL(filePath: scratch))
        let rows = (0..<entries).map { "(1, 1, 700000000.0, 'safe', '1', '\"k\($0)\"', '\($0)')" }
            .joined(separator: ",\n")
        try database.execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE ZCACHEENTRY (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \
            ZDATE TIMESTAMP, ZCACHE VARCHAR,
            ZCACHEVERSION VARCHAR, ZKEY VARCHAR, ZVALUE VARCHAR);
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, \
            Z_MAX INTEGER);
            INSERT INTO ZCACHEENTRY(Z_ENT, Z_OPT, ZDATE, ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE) \
            VALUES \(rows);
            INSERT INTO ZCACHEENTRY(ZCACHE, ZKEY) VALUES ('safe', NULL), (NULL, 'k');
            """
        )
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: scratch + suffix, toPath: path + suffix)
        }
    }

    /// The number of entries of a file.
    static func count(at path: String) throws -> Int {
        try RawDatabase(URL(filePath: path)).int("SELECT count(*) FROM ZCACHEENTRY")
    }
}
