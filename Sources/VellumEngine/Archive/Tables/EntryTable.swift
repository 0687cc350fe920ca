internal import Foundation
internal import VellumCore

/// The table `entries_N`: the entries of archive N, each with its key, dates, checksum and bytes.
///
/// `id` numbers the entries in the order in which they are inserted; no number is used twice. `stamp` is the use under which the entry was
/// inserted; ``RecencyTables`` holds the later ones.
enum EntryTable {
    /// The keys in a range, those of the entries written last first: one column, the key.
    static func keysBetween(_ n: Int64) -> String {
        "SELECT key FROM entries_\(n) WHERE key >= ?1 AND key < ?2 ORDER BY written DESC, id DESC"
    }

    static func rename(_ n: Int64) -> String { "UPDATE entries_\(n) SET key = ?2, checksum = ?3 WHERE id = ?1" }

    static func create(_ n: Int64) -> String {
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

    /// How many archives have a table of entries.
    static let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB 'entries_[0-9]*'"

    /// The last use in the file, or 0 for an entry whose validity does not depend on it.
    private static func lastUse(_ n: Int64) -> String {
        """
        CASE WHEN idle IS NULL THEN 0 \
        ELSE max(stamp, coalesce((SELECT u.stamp FROM touches_\(n) u WHERE u.id = entries_\(n).id), 0)) END
        """
    }

    static func exists(_ n: Int64) -> String { "SELECT 1 FROM entries_\(n) WHERE id = ?1" }
    static func delete(_ n: Int64) -> String { "DELETE FROM entries_\(n) WHERE id = ?1" }
    static func deleteAll(_ n: Int64) -> String { "DELETE FROM entries_\(n)" }

    // MARK: Whole entries

    /// The columns of an ``EntryRow``.
    private static func columns(_ n: Int64) -> String { "id, written, expires, checksum, bytes, idle, \(lastUse(n))" }

    private static func entriesWithKeys(_ n: Int64, _ condition: String) -> String {
        "SELECT \(columns(n)), key FROM entries_\(n) WHERE \(condition)"
    }

    static func read(_ n: Int64) -> String { "SELECT \(columns(n)) FROM entries_\(n) WHERE key = ?1" }
    static func readByID(_ n: Int64) -> String { entriesWithKeys(n, "id = ?1") }
    static func after(_ n: Int64) -> String { entriesWithKeys(n, "id > ?1 ORDER BY id") }
    static func before(_ n: Int64) -> String { entriesWithKeys(n, "id < ?1 ORDER BY id DESC") }
    static func between(_ n: Int64) -> String { entriesWithKeys(n, "id > ?1 AND id <= ?2 ORDER BY id") }

    // MARK: Without the bytes

    /// The columns of an ``EntryHead``.
    static func find(_ n: Int64) -> String {
        "SELECT id, length(bytes), written, expires, checksum, idle, \(lastUse(n)) FROM entries_\(n) WHERE key = ?1"
    }

    /// The columns of a ``SweepRow``, for the entries of a block.
    static func datesBetween(_ n: Int64) -> String {
        "SELECT id, length(bytes), written, expires, idle, \(lastUse(n)), key FROM entries_\(n) WHERE id >= ?1 AND id < ?2"
    }

    static func revision(_ n: Int64) -> String { "SELECT checksum FROM entries_\(n) WHERE id = ?1" }

    /// The revision of the entry that ``revision(_:)`` is bound to; `nil` if there is no such entry.
    static func readRevision(_ statement: Statement) throws(SQLiteError) -> UInt32? {
        try statement.step() ? UInt32(truncatingIfNeeded: statement.int(0)) : nil
    }

    // MARK: Writing

    static func insert(_ n: Int64) -> String {
        "INSERT INTO entries_\(n)(id, key, written, expires, idle, stamp, checksum, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    }

    static func runInsert(_ insert: Statement, _ id: Int64, _ content: EntryContent, stamp: UseStamp) throws(SQLiteError) {
        insert.bind(id, at: 1)
        insert.bind(content.key, at: 2)
        insert.bind(content.written, at: 3)
        insert.bind(content.expires, at: 4)
        insert.bind(content.idle, at: 5)
        insert.bind(stamp.rawValue, at: 6)
        insert.bind(Int64(content.checksum), at: 7)
        insert.bind(content.bytes, at: 8)
        try insert.run()
    }

    static func update(_ n: Int64) -> String {
        "UPDATE entries_\(n) SET written = ?2, expires = ?3, idle = ?4, checksum = ?5, bytes = ?6 WHERE id = ?1"
    }

    static func runUpdate(_ update: Statement, _ id: Int64, _ content: EntryContent) throws(SQLiteError) {
        update.bind(id, at: 1)
        update.bind(content.written, at: 2)
        update.bind(content.expires, at: 3)
        update.bind(content.idle, at: 4)
        update.bind(Int64(content.checksum), at: 5)
        update.bind(content.bytes, at: 6)
        try update.run()
    }
}

/// What a write stores of an entry. The key and the bytes are not copied: they are valid inside the closure that they are passed to.
struct EntryContent {
    let key: UnsafeRawBufferPointer
    let bytes: UnsafeRawBufferPointer
    let written: Int64
    let expires: Int64?
    let idle: Int64?
    let checksum: UInt32
}

/// The current row of a statement that selects a whole entry. Valid until the statement's next step.
struct EntryRow {
    let row: Statement

    private enum Column: Int32 { case id, written, expires, checksum, bytes, idle, lastUse, key }

    init(_ row: Statement) { self.row = row }

    var id: Int64 { row.int(Column.id) }
    var checksum: UInt32 { row.checksum(Column.checksum) }

    /// The key, where the statement selects it.
    var keyBytes: UnsafeRawBufferPointer { row.bytes(Column.key) }

    var entry: Entry {
        var entry = Entry(
            bytes: Data(row.bytes(Column.bytes)), written: row.instant(Column.written), expires: row.optionalInstant(Column.expires),
            idle: row.optionalInt(Column.idle))
        entry.row = id
        entry.lastUse = row.stamp(Column.lastUse)
        entry.revision = checksum
        return entry
    }
}

/// What a write reads of the entry that is already under its key, as ``EntryTable/find(_:)`` selects it.
struct EntryHead {
    var id: Int64
    /// Encoded bytes.
    var size: Int64
    var validity: Validity
    /// The last use in the file, if the entry has an idle age of its own.
    var lastUse: UseStamp
    var revision: UInt32

    private enum Column: Int32 { case id, size, written, expires, checksum, idle, lastUse }

    init(_ row: Statement) {
        id = row.int(Column.id)
        size = row.int(Column.size)
        validity = Validity(
            written: row.instant(Column.written), expires: row.optionalInstant(Column.expires), idle: row.optionalInt(Column.idle))
        lastUse = row.stamp(Column.lastUse)
        revision = row.checksum(Column.checksum)
    }
}

/// The current row of ``EntryTable/datesBetween(_:)``. Valid until the statement's next step.
struct SweepRow {
    let row: Statement

    private enum Column: Int32 { case id, size, written, expires, idle, lastUse, key }

    init(_ row: Statement) { self.row = row }

    var id: Int64 { row.int(Column.id) }
    /// Encoded bytes.
    var size: Int64 { row.int(Column.size) }
    var validity: Validity {
        Validity(
            written: row.instant(Column.written), expires: row.optionalInstant(Column.expires), idle: row.optionalInt(Column.idle))
    }
    /// The last use in the file, if the entry has an idle age of its own.
    var lastUse: UseStamp { row.stamp(Column.lastUse) }
    var key: EntryKey { row.key(Column.key) }
}

/// A row of ``EntryTable/keysBetween(_:)``.
struct KeyRow {
    var key: EntryKey

    init(_ row: Statement) { key = EntryKey(String(decoding: row.bytes(0), as: UTF8.self)) }
}
