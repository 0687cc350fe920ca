internal import VellumCore

/// The tables `touches_N` and `recency_N`: when the entries of archive N were last used.
///
/// `touches_N` holds the last use of each entry that was used since it was inserted, by entry. `recency_N` is the recency log: uses in
/// their order. A record of the log whose stamp is no longer the entry's touch is obsolete. `ArchiveWriter+Eviction.swift` describes how
/// both give the eviction order.
enum RecencyTables {
    static func createTouches(_ n: Int64) -> String { "CREATE TABLE touches_\(n)(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)" }
    static func createRecency(_ n: Int64) -> String { "CREATE TABLE recency_\(n)(stamp INTEGER PRIMARY KEY, id INTEGER NOT NULL)" }

    /// Replaces a table that is missing in a damaged file.
    static func createEmptyTouches(_ n: Int64) -> String {
        "CREATE TEMP TABLE touches_\(n)(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)"
    }

    // MARK: Touches

    static func insertTouch(_ n: Int64) -> String { "INSERT OR IGNORE INTO touches_\(n)(id, stamp) VALUES (?1, ?2)" }
    static func updateTouch(_ n: Int64) -> String { "UPDATE touches_\(n) SET stamp = ?2 WHERE id = ?1 AND stamp < ?2" }
    static func deleteTouch(_ n: Int64) -> String { "DELETE FROM touches_\(n) WHERE id = ?1" }
    static func deleteAllTouches(_ n: Int64) -> String { "DELETE FROM touches_\(n)" }

    /// The stamps of one entry: that of its insertion, and its touch.
    static func lastUse(_ n: Int64) -> String {
        "SELECT e.id, e.stamp, u.stamp FROM entries_\(n) e LEFT JOIN touches_\(n) u ON u.id = e.id WHERE e.key = ?1"
    }

    private enum LastUseColumn: Int32 { case id, inserted, touched }

    /// The last use that ``lastUse(_:)`` selects; `nil` if there is no such entry.
    static func readLastUse(_ statement: Statement) throws(SQLiteError) -> Touch? {
        guard try statement.step() else { return nil }
        let stamp = max(statement.int(LastUseColumn.inserted), statement.optionalInt(LastUseColumn.touched) ?? 0)
        return Touch(row: statement.int(LastUseColumn.id), stamp: UseStamp(rawValue: stamp))
    }

    /// The last use of any entry in the file.
    static func newestStamp(_ n: Int64) -> String {
        """
        SELECT max(coalesce((SELECT max(stamp) FROM recency_\(n)), 0), coalesce((SELECT stamp FROM entries_\(n) ORDER BY id DESC LIMIT 1), 0))
        """
    }

    // MARK: The recency log

    static func insertRecency(_ n: Int64) -> String { "INSERT OR IGNORE INTO recency_\(n)(stamp, id) VALUES (?1, ?2)" }
    static func deleteRecency(_ n: Int64) -> String { "DELETE FROM recency_\(n) WHERE stamp = ?1" }
    static func deleteAllRecency(_ n: Int64) -> String { "DELETE FROM recency_\(n)" }

    /// A part of the log, as ``RecencyRecord`` reads it.
    static func recencyAfter(_ n: Int64) -> String {
        "SELECT m.stamp, u.stamp FROM recency_\(n) m LEFT JOIN touches_\(n) u ON u.id = m.id WHERE m.stamp > ?1 ORDER BY m.stamp LIMIT ?2"
    }

    // MARK: The oldest

    /// The oldest record of the log and its entry, as ``EvictionCandidate`` reads them.
    static func oldestRecency(_ n: Int64) -> String {
        """
        SELECT m.stamp, m.id, u.stamp, e.key, length(e.bytes)
        FROM recency_\(n) m LEFT JOIN touches_\(n) u ON u.id = m.id LEFT JOIN entries_\(n) e ON e.id = m.id
        ORDER BY m.stamp LIMIT 1
        """
    }

    /// The first entry above the low-water mark, as ``EvictionCandidate`` reads it.
    static func oldestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.stamp, e.id, u.stamp, e.key, length(e.bytes)
        FROM entries_\(n) e LEFT JOIN touches_\(n) u ON u.id = e.id WHERE e.id > ?1 ORDER BY e.id LIMIT 1
        """
    }

    // MARK: The newest

    /// Records of the log, the newest first, as ``ListedEntry`` reads them.
    static func newestRecency(_ n: Int64) -> String {
        """
        SELECT m.stamp, m.id, e.key, e.written, e.expires, e.idle, length(e.bytes)
        FROM recency_\(n) m JOIN touches_\(n) u ON u.id = m.id AND u.stamp = m.stamp JOIN entries_\(n) e ON e.id = m.id
        ORDER BY m.stamp DESC
        """
    }

    /// Entries above the low-water mark that have no touch, the newest first, as ``ListedEntry`` reads them.
    static func newestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.stamp, e.id, e.key, e.written, e.expires, e.idle, length(e.bytes) FROM entries_\(n) e
        WHERE e.id > ?1 AND NOT EXISTS (SELECT 1 FROM touches_\(n) u WHERE u.id = e.id) ORDER BY e.id DESC
        """
    }

    /// One entry, as ``ListedEntry`` reads it.
    static func listedEntry(_ n: Int64) -> String {
        "SELECT 0, id, key, written, expires, idle, length(bytes) FROM entries_\(n) WHERE id = ?1"
    }

    // MARK: Checking

    /// Touches without a record in the log, entries that lack a touch, and entries whose numbers would be used again.
    static func countMisplaced(_ n: Int64) -> String {
        """
        SELECT (SELECT count(*) FROM touches_\(n) u LEFT JOIN recency_\(n) m ON m.stamp = u.stamp WHERE m.id IS NOT u.id)
            + (SELECT count(*) FROM entries_\(n) e WHERE e.id >= a.next
                OR (e.id <= a.low_water AND NOT EXISTS (SELECT 1 FROM touches_\(n) u WHERE u.id = e.id)))
        FROM archives a WHERE a.id = \(n)
        """
    }
}

/// A record of the recency log, with the touch of its entry.
struct RecencyRecord {
    var stamp: UseStamp
    private var touched: UseStamp?

    private enum Column: Int32 { case stamp, touched }

    init(_ row: Statement) {
        stamp = row.stamp(Column.stamp)
        touched = row.optionalInt(Column.touched).map(UseStamp.init(rawValue:))
    }

    /// Whether its entry was used again, or is gone.
    var isObsolete: Bool { touched != stamp }
}

/// An entry that may be the least recently used.
struct EvictionCandidate {
    var id: Int64
    /// The stamp that places it: that of its record in the log, or that of its insertion.
    var stamp: UseStamp
    /// Its touch in the file.
    var touched: UseStamp?
    /// `nil` if a record of the log has no entry any more.
    var key: EntryKey?
    /// Encoded bytes.
    var size: Int64

    private enum Column: Int32 { case stamp, id, touched, key, size }

    init(_ row: Statement) {
        stamp = row.stamp(Column.stamp)
        id = row.int(Column.id)
        touched = row.optionalInt(Column.touched).map(UseStamp.init(rawValue:))
        key = row.isNull(Column.key) ? nil : row.key(Column.key)
        size = row.int(Column.size)
    }
}

/// An entry in a listing by last use.
struct ListedEntry {
    /// The stamp that places it; 0 where the caller knows a later one.
    var stamp: Int64
    var id: Int64
    var key: EntryKey
    var validity: Validity
    /// Encoded bytes.
    var size: Int

    private enum Column: Int32 { case stamp, id, key, written, expires, idle, size }

    init(_ row: Statement) {
        stamp = row.int(Column.stamp)
        id = row.int(Column.id)
        key = row.key(Column.key)
        validity = Validity(
            written: row.instant(Column.written), expires: row.optionalInstant(Column.expires), idle: row.optionalInt(Column.idle))
        size = Int(row.int(Column.size))
    }
}
