package import VellumCore

/// The tables `touches` and `recency`: when the entries were last used (decision 6).
///
/// `touches` holds the last use of each entry that was used since it was inserted, by entry.
/// `recency` is the recency log of each archive: uses in their order. A record of the log whose
/// stamp is no longer the entry's touch is obsolete. `ArchiveEdit+Eviction.swift` describes how
/// both give the eviction order.
package enum RecencyTables {
    static let createTouches =
        "CREATE TABLE touches(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)"
    /// A write that is undone, of no entry.
    static let probe = "INSERT OR REPLACE INTO touches(id, stamp) VALUES (0, 0)"
    static let createRecency = """
        CREATE TABLE recency(
            archive INTEGER NOT NULL,
            stamp INTEGER NOT NULL,
            id INTEGER NOT NULL,
            PRIMARY KEY(archive, stamp)
        ) WITHOUT ROWID
        """

    /// Replaces a table that is missing in a damaged file.
    static let createEmptyTouches =
        "CREATE TEMP TABLE touches(id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL)"

    // MARK: Touches

    static let insertTouch = "INSERT OR IGNORE INTO touches(id, stamp) VALUES (?1, ?2)"
    static let updateTouch = "UPDATE touches SET stamp = ?2 WHERE id = ?1 AND stamp < ?2"
    static let deleteTouch = "DELETE FROM touches WHERE id = ?1"
    /// Deletes the first touches of a range, as many as ?3 says.
    static let deleteFirstTouches =
        """
        DELETE FROM touches WHERE id IN (SELECT id FROM touches WHERE id > ?1 AND id <= ?2 \
        ORDER BY id LIMIT ?3)
        """

    /// The stamps of one entry among those after an id: that of its insertion, and its touch.
    static func lastUse(_ n: Int64) -> String {
        """
        SELECT e.id, e.stamp, u.stamp FROM entries e LEFT JOIN touches u ON u.id = e.id \
        WHERE e.hash = ?2 AND e.key = ?1 AND e.id > ?3 AND e.id < \(EntryID.end(of: n))
        """
    }

    private enum LastUseColumn: Int32 { case id, inserted, touched }

    /// The last use that ``lastUse(_:)`` selects; `nil` if there is no such entry.
    static func readLastUse(_ statement: Statement) throws(SQLiteError) -> Touch? {
        guard try statement.step() else { return nil }
        let stamp = max(
            statement.stamp(LastUseColumn.inserted),
            statement.optionalStamp(LastUseColumn.touched) ?? .never
        )
        return Touch(entryID: statement.int(LastUseColumn.id).value, stamp: stamp)
    }

    /// The last use of any entry of the archive in the file; 0 if it has none.
    package static func readNewestStamp(
        of n: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> UseStamp {
        let newest = try connection.int(
            """
            SELECT max(coalesce((SELECT max(stamp) FROM recency \
            WHERE archive = \(n)), 0), coalesce((SELECT stamp FROM entries \
            WHERE id > \(EntryID.zero(of: n)) AND id < \(EntryID.end(of: n)) ORDER BY id DESC \
            LIMIT 1), 0))
            """
        )
        return UseStamp(rawValue: newest?.value ?? 0)
    }

    // MARK: The recency log

    static let insertRecency =
        "INSERT OR IGNORE INTO recency(archive, stamp, id) VALUES (?1, ?2, ?3)"
    static let deleteRecency = "DELETE FROM recency WHERE archive = ?1 AND stamp = ?2"
    /// Deletes those of the first records that are of entries up to an id, as many as ?3 says.
    static let deleteFirstRecency = """
        DELETE FROM recency WHERE archive = ?1 AND id <= ?2
            AND stamp IN (SELECT stamp FROM recency WHERE archive = ?1 ORDER BY stamp LIMIT ?3)
        """

    /// A part of the log, as ``RecencyRecord`` reads it.
    static let recencyAfter = """
        SELECT m.stamp, u.stamp FROM recency m LEFT JOIN touches u ON u.id = m.id
        WHERE m.archive = ?1 AND m.stamp > ?2 ORDER BY m.stamp LIMIT ?3
        """

    // MARK: The oldest

    /// The oldest record of the log and its entry, as ``EvictionCandidate`` reads them.
    static let oldestRecency = """
        SELECT m.stamp, m.id, u.stamp, e.key, \(EntryTable.size)
        FROM recency m LEFT JOIN touches u ON u.id = m.id LEFT JOIN entries e ON e.id = m.id
        WHERE m.archive = ?1 ORDER BY m.stamp LIMIT 1
        """

    /// The first entry above the low-water mark, as ``EvictionCandidate`` reads it.
    static func oldestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.stamp, e.id, u.stamp, e.key, \(EntryTable.size)
        FROM entries e LEFT JOIN touches u ON u.id = e.id WHERE e.id > ?1 \
        AND e.id < \(EntryID.end(of: n)) ORDER BY e.id LIMIT 1
        """
    }

    // MARK: The newest

    /// Records of the log, the newest first, as ``ListedEntry`` reads them.
    static func newestRecency(_ n: Int64) -> String {
        """
        SELECT m.stamp, m.id, e.key, e.written, e.expires, e.idle, \(EntryTable.size)
        FROM recency m JOIN touches u ON u.id = m.id AND u.stamp = m.stamp \
        JOIN entries e ON e.id = m.id
        WHERE m.archive = \(n) AND m.id > \(EntryTable.clearedThrough(n)) \
        AND m.id < \(EntryID.end(of: n)) ORDER BY m.stamp DESC
        """
    }

    /// Entries above the low-water mark that have no touch, the newest first, as ``ListedEntry``
    /// reads them.
    static func newestAboveLowWater(_ n: Int64) -> String {
        """
        SELECT e.stamp, e.id, e.key, e.written, e.expires, e.idle, \(EntryTable.size) FROM entries e
        WHERE e.id > ?1 AND e.id < \(EntryID.end(of: n)) AND NOT EXISTS (SELECT 1 FROM touches u \
        WHERE u.id = e.id) ORDER BY e.id DESC
        """
    }

    /// One entry, as ``ListedEntry`` reads it.
    static func listedEntry(_ n: Int64) -> String {
        """
        SELECT 0, id, key, written, expires, idle, \(EntryTable.size) FROM entries WHERE id = ?1 \
        AND id > \(EntryTable.clearedThrough(n))
        """
    }

    // MARK: Checking

    /// Touches without a record in the log, entries that lack a touch, and stamps that no process
    /// gives.
    static func countMisplaced(_ n: Int64) -> String {
        let isOfArchive = "id > \(EntryTable.clearedThrough(n)) AND id < \(EntryID.end(of: n))"
        return """
            SELECT (SELECT count(*) FROM (SELECT id, stamp FROM touches WHERE \(isOfArchive)) u
                    LEFT JOIN recency m ON m.archive = \(n) AND m.stamp = u.stamp \
            WHERE m.id IS NOT u.id)
                + (SELECT count(*) FROM (SELECT id FROM entries WHERE \(isOfArchive)) e
                    WHERE e.id <= a.low_water + \(EntryID.zero(of: n)) AND NOT EXISTS (SELECT 1 \
            FROM touches u WHERE u.id = e.id))
                + (SELECT count(*) FROM entries WHERE \(isOfArchive) AND stamp NOT BETWEEN 0 \
            AND \(UseStamp.lastPossible.rawValue))
                + (SELECT count(*) FROM recency WHERE archive = \(n) AND stamp NOT BETWEEN 0 \
            AND \(UseStamp.lastPossible.rawValue))
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
        touched = row.optionalStamp(Column.touched)
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

    init(_ row: Statement) throws(SQLiteError) {
        stamp = row.stamp(Column.stamp)
        touched = row.optionalStamp(Column.touched)
        try stamp.check()
        id = row.int(Column.id).value
        key = row.isNull(Column.key) ? nil : row.key(Column.key)
        size = row.int(Column.size).value
    }
}

/// An entry in a listing by last use.
struct ListedEntry {
    /// The stamp that places it; 0 where the caller knows a later one.
    var stamp: UseStamp
    var id: Int64
    var key: EntryKey
    var validity: Validity
    /// Encoded bytes.
    var size: Int

    private enum Column: Int32 { case stamp, id, key, written, expires, idle, size }

    init(_ row: Statement) {
        stamp = row.stamp(Column.stamp)
        id = row.int(Column.id).value
        key = row.key(Column.key)
        validity = Validity(
            written: row.instant(Column.written),
            expires: row.optionalInstant(Column.expires),
            idle: row.optionalInt(Column.idle)?.value
        )
        size = row.int(Column.size).int
    }
}

extension UseStamp {
    /// - Throws: An error of damage for a stamp that no process gives.
    func check() throws(SQLiteError) {
        guard isPossible else { throw .corrupt("Invalid last use of an entry.") }
    }
}
