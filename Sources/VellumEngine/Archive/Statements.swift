internal import VellumCore

/// Every SQL string of the package.
///
/// The tables of one archive carry its number, so that a listing of it is one contiguous walk and dropping it one
/// statement. Numbers come from the `archives` table alone, never from a user's words.
enum SQL {
    // MARK: Opening

    static let applicationID = "PRAGMA application_id"
    static let formatVersion = "PRAGMA user_version"
    static let archiveTableCount = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB 'entries_[0-9]*'"
    static let tableCount = "SELECT count(*) FROM sqlite_schema"
    static let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
    /// Whether the tables are there that no other program's file has.
    static let hasOurTables = """
        SELECT count(*) FROM sqlite_schema
        WHERE name = 'archives' AND sql LIKE 'CREATE TABLE archives(%low_water INTEGER%recency INTEGER%'
        """
    static let startLog = "PRAGMA journal_mode = WAL"
    static let startPageReuse = "PRAGMA auto_vacuum = INCREMENTAL"

    static func setApplicationID(_ id: Int32) -> String { "PRAGMA application_id = \(id)" }
    static func setFormatVersion(_ version: Int) -> String { "PRAGMA user_version = \(version)" }

    /// Settings of the connection that writes. A commit survives a killed process; a sync of the log, which is ours to
    /// ask for, makes it survive power loss.
    static let writerSettings = """
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA cache_size = -8192;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = OFF;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    static let readerSettings = """
        PRAGMA query_only = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -4096;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    // MARK: Transactions

    static let begin = "BEGIN"
    static let beginWriting = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    // MARK: Schema

    /// `max_bytes` is the disk limit of an archive, and `is_max_given` whether anyone gave it. `versionGroup` is what archives that replace
    /// one another have in common, and `seen` is when one was last opened.
    static let archivesTable = """
        CREATE TABLE archives(
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            entries INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0,
            next INTEGER NOT NULL DEFAULT 1,
            low_water INTEGER NOT NULL DEFAULT 0,
            recency INTEGER NOT NULL DEFAULT 0,
            expiring INTEGER NOT NULL DEFAULT 0,
            max_bytes INTEGER NOT NULL,
            is_max_given INTEGER NOT NULL,
            version_group TEXT,
            seen INTEGER NOT NULL DEFAULT 0
        )
        """

    /// What the schema of every file of ours holds.
    static let beginningOfArchivesTable = "CREATE TABLE archives("

    /// The tables of a file without archives.
    static let fileTables = [archivesTable, indexesTable, retentionTable]

    static let findArchive = "SELECT id FROM archives WHERE name = ?1"
    static let archiveName = "SELECT name FROM archives WHERE id = ?1"
    static let addArchive = "INSERT INTO archives(name, max_bytes, is_max_given) VALUES (?1, ?2, ?3) RETURNING id"
    static let listArchives = "SELECT id, name, version_group, max_bytes, is_max_given FROM archives ORDER BY id"

    static func archiveTables(_ n: Int64) -> [String] { [entriesTable(n), touchesTable(n), recencyTable(n)] }

    static func entriesTable(_ n: Int64) -> String {
        """
        CREATE TABLE entries_\(n)(
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE,
            written INTEGER NOT NULL,
            expires INTEGER,
            stamp INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            bytes BLOB NOT NULL,
            idle INTEGER
        )
        """
    }

    static func touchesTable(_ n: Int64) -> String { "CREATE TABLE touches_\(n)(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)" }
    static func recencyTable(_ n: Int64) -> String { "CREATE TABLE recency_\(n)(stamp INTEGER PRIMARY KEY, id INTEGER NOT NULL)" }

    // MARK: Totals

    static let entryCount = "SELECT sum(entries) FROM archives"
    static let loadTotals = """
        SELECT entries, bytes, next, low_water, recency, expiring, max_bytes, is_max_given FROM archives WHERE id = ?1
        """
    static let storeTotals = """
        UPDATE archives SET entries = ?2, bytes = ?3, next = ?4, low_water = ?5, recency = ?6, expiring = ?7, max_bytes = ?8, is_max_given = ?9
        WHERE id = ?1
        """

    // MARK: Entries

    /// The order of the columns that make an entry, where a whole one is read.
    private static func entryColumns(_ n: Int64) -> String { "id, written, expires, checksum, bytes, idle, \(lastUse(n))" }

    /// The last use that is written down, where validity hangs on it.
    static func lastUse(_ n: Int64) -> String {
        """
        CASE WHEN idle IS NULL THEN 0 \
        ELSE max(stamp, coalesce((SELECT u.stamp FROM touches_\(n) u WHERE u.id = entries_\(n).id), 0)) END
        """
    }

    /// Whether entry `e` has been used lately enough: what ``Validity`` says. The first `?` is the end of the slack, the second now.
    static func isUsed(_ n: Int64) -> (String, String) {
        let used = "max(e.stamp, coalesce((SELECT u.stamp FROM touches_\(n) u WHERE u.id = e.id), 0)) >> 20"
        return ("max(e.written, iif((\(used)) <= ?", ", \(used), 0)) + e.idle > ?")
    }

    /// Whole entries with their keys, which come last.
    static func entriesWithKeys(_ n: Int64, _ condition: String) -> String {
        "SELECT \(entryColumns(n)), key FROM entries_\(n) WHERE \(condition)"
    }

    static func readEntry(_ n: Int64) -> String { "SELECT \(entryColumns(n)) FROM entries_\(n) WHERE key = ?1" }
    static func findEntry(_ n: Int64) -> String {
        "SELECT id, length(bytes), written, expires, checksum, idle, \(lastUse(n)) FROM entries_\(n) WHERE key = ?1"
    }

    static func insertEntry(_ n: Int64) -> String {
        "INSERT INTO entries_\(n)(id, key, written, expires, idle, stamp, checksum, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    }

    static func updateEntry(_ n: Int64) -> String {
        "UPDATE entries_\(n) SET written = ?2, expires = ?3, idle = ?4, checksum = ?5, bytes = ?6 WHERE id = ?1"
    }

    static func deleteEntry(_ n: Int64) -> String { "DELETE FROM entries_\(n) WHERE id = ?1" }
    static func deleteAllEntries(_ n: Int64) -> String { "DELETE FROM entries_\(n)" }

    // MARK: The order of use

    static func entryStamps(_ n: Int64) -> String {
        "SELECT e.id, e.stamp, u.stamp FROM entries_\(n) e LEFT JOIN touches_\(n) u ON u.id = e.id WHERE e.key = ?1"
    }

    static func entryExists(_ n: Int64) -> String { "SELECT 1 FROM entries_\(n) WHERE id = ?1" }
    static func insertTouch(_ n: Int64) -> String { "INSERT OR IGNORE INTO touches_\(n)(id, stamp) VALUES (?1, ?2)" }
    static func updateTouch(_ n: Int64) -> String { "UPDATE touches_\(n) SET stamp = ?2 WHERE id = ?1 AND stamp < ?2" }
    /// The last use that is written down.
    static func newestStamp(_ n: Int64) -> String {
        """
        SELECT max(coalesce((SELECT max(stamp) FROM recency_\(n)), 0), coalesce((SELECT stamp FROM entries_\(n) ORDER BY id DESC LIMIT 1), 0))
        """
    }

    static func deleteTouch(_ n: Int64) -> String { "DELETE FROM touches_\(n) WHERE id = ?1" }
    static func deleteAllTouches(_ n: Int64) -> String { "DELETE FROM touches_\(n)" }

    static func addRecency(_ n: Int64) -> String { "INSERT OR IGNORE INTO recency_\(n)(stamp, id) VALUES (?1, ?2)" }
    static func deleteRecency(_ n: Int64) -> String { "DELETE FROM recency_\(n) WHERE stamp = ?1" }
    static func deleteAllRecency(_ n: Int64) -> String { "DELETE FROM recency_\(n)" }

    /// The oldest mark, whether it still is the last use of its entry, and that entry.
    static func oldestRecency(_ n: Int64) -> String {
        """
        SELECT m.stamp, m.id, u.stamp, e.key, length(e.bytes)
        FROM recency_\(n) m LEFT JOIN touches_\(n) u ON u.id = m.id LEFT JOIN entries_\(n) e ON e.id = m.id
        ORDER BY m.stamp LIMIT 1
        """
    }

    /// The first entry that may have no use yet.
    static func oldestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.id, e.stamp, u.stamp, e.key, length(e.bytes)
        FROM entries_\(n) e LEFT JOIN touches_\(n) u ON u.id = e.id WHERE e.id > ?1 ORDER BY e.id LIMIT 1
        """
    }

    /// Marks after a place, for removing those that are no longer the last use of anything.
    static func recencyAfter(_ n: Int64) -> String {
        "SELECT m.stamp, u.stamp FROM recency_\(n) m LEFT JOIN touches_\(n) u ON u.id = m.id WHERE m.stamp > ?1 ORDER BY m.stamp LIMIT ?2"
    }

    static func newestRecency(_ n: Int64) -> String {
        """
        SELECT m.stamp, m.id, e.key, e.written, e.expires, e.idle, length(e.bytes)
        FROM recency_\(n) m JOIN touches_\(n) u ON u.id = m.id AND u.stamp = m.stamp JOIN entries_\(n) e ON e.id = m.id
        ORDER BY m.stamp DESC
        """
    }

    static func settled(_ n: Int64) -> String { "SELECT low_water FROM archives WHERE id = \(n)" }
    static func listedEntry(_ n: Int64) -> String {
        "SELECT 0, id, key, written, expires, idle, length(bytes) FROM entries_\(n) WHERE id = ?1"
    }

    static func newestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.stamp, e.id, e.key, e.written, e.expires, e.idle, length(e.bytes) FROM entries_\(n) e
        WHERE e.id > ?1 AND NOT EXISTS (SELECT 1 FROM touches_\(n) u WHERE u.id = e.id) ORDER BY e.id DESC
        """
    }

    // MARK: Room

    static let pageCount = "PRAGMA page_count"
    static let freePageCount = "PRAGMA freelist_count"
    static func freePages(_ count: Int) -> String { "PRAGMA incremental_vacuum(\(count))" }

    // MARK: Checking and salvage

    /// Uses without their marks, entries that have none but should, and entries whose numbers will be given out again.
    static func countMisplaced(_ n: Int64) -> String {
        """
        SELECT (SELECT count(*) FROM touches_\(n) u LEFT JOIN recency_\(n) m ON m.stamp = u.stamp WHERE m.id IS NOT u.id)
            + (SELECT count(*) FROM entries_\(n) e WHERE e.id >= a.next
                OR (e.id <= a.low_water AND NOT EXISTS (SELECT 1 FROM touches_\(n) u WHERE u.id = e.id)))
        FROM archives a WHERE a.id = \(n)
        """
    }
    static let integrityCheck = "PRAGMA integrity_check(100)"
    static func entriesAfter(_ n: Int64) -> String { entriesWithKeys(n, "id > ?1 ORDER BY id") }
    /// Reads what can be read: of a file that was cut, of a schema that is damaged, and of a page with a bad cell.
    static let salvageSettings = """
        PRAGMA writable_schema = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = OFF;
        """
    static let forgetSchemaItem = "DELETE FROM sqlite_schema WHERE type = ?1 AND name = ?2"
    static let redefineTable = "UPDATE sqlite_schema SET sql = ?3 WHERE type = ?1 AND name = ?2"
    /// By the index on the names, for when the table cannot be read.
    static let listArchivesByName = "SELECT id, name, NULL, NULL, NULL FROM archives ORDER BY name"
    static let listArchivesBackwards = "SELECT id, name, version_group, max_bytes, is_max_given FROM archives ORDER BY id DESC"
    /// Stands in for a table that is missing.
    static func createNoTouches(_ n: Int64) -> String { "CREATE TEMP TABLE touches_\(n)(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)" }
    static func entriesBefore(_ n: Int64) -> String { entriesWithKeys(n, "id < ?1 ORDER BY id DESC") }
}
