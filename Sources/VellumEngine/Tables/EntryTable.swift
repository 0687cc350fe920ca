internal import Foundation
internal import VellumCore

/// The table `entries`: the entries of all archives, each with its key, dates, checksum and bytes
/// (decision 46).
///
/// `id` numbers the entries of an archive in the order in which they are inserted (``EntryID``); no
/// id is used twice. `hash` stands for the key in the index that finds it: a key of any length
/// takes the same room there. `stamp` is the use under which the entry was inserted;
/// ``RecencyTables`` holds the later ones. `type_version` is that of an ``Entry``. `bytes` come
/// last, because SQLite reads all pages of a large value to find what stands behind it.
package enum EntryTable {
    static let create = """
        CREATE TABLE entries(
            id INTEGER PRIMARY KEY,
            hash INTEGER NOT NULL,
            key BLOB NOT NULL,
            written INTEGER NOT NULL,
            expires INTEGER,
            idle INTEGER,
            stamp INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            type_version INTEGER NOT NULL,
            bytes BLOB NOT NULL
        )
        """

    static let createIndex = "CREATE INDEX entries_by_hash ON entries(hash)"

    static let count = "SELECT count(*) FROM entries"

    /// How many entries belong to no archive of the file.
    static let unlistedCount =
        "SELECT count(*) FROM entries WHERE id >> \(EntryID.bits) NOT IN (SELECT id FROM archives)"

    /// Changes the key of an entry.
    static let rename = "UPDATE entries SET hash = ?2, key = ?3, checksum = ?4 WHERE id = ?1"

    static func runRename(
        _ rename: Statement,
        _ id: Int64,
        _ key: EntryKey,
        _ sums: Checksum.Sums
    ) throws(SQLiteError) {
        rename.bind(id, at: 1)
        rename.bind(sums.storedHash, at: 2)
        rename.bind(copying: key, at: 3)
        rename.bind(sums.storedChecksum, at: 4)
        try rename.run()
    }

    /// The id up to which archive N was emptied, in a statement.
    package static func clearedThrough(_ n: Int64) -> String {
        "(SELECT cleared + \(EntryID.zero(of: n)) FROM archives WHERE id = \(n))"
    }

    /// The size of an entry's value, for which SQLite does not read the value.
    package static let size = "length(bytes)"

    /// The last use in the file, or 0 for an entry whose validity does not depend on it.
    private static let lastUse = """
        CASE WHEN idle IS NULL THEN 0 ELSE max(stamp, coalesce((SELECT u.stamp FROM touches u \
        WHERE u.id = entries.id), 0)) END
        """

    // MARK: Single rows

    static let exists = "SELECT 1 FROM entries WHERE id = ?1"
    static let delete = "DELETE FROM entries WHERE id = ?1"

    /// Deletes the first entries of a range, as many as ?3 says.
    static let deleteFirst =
        """
        DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE id > ?1 AND id <= ?2 \
        ORDER BY id LIMIT ?3)
        """

    /// The version of the type that the newest entry was recorded with.
    package static func newestVersion(_ n: Int64) -> String {
        """
        SELECT type_version FROM entries WHERE id > \(clearedThrough(n)) \
        AND id < \(EntryID.end(of: n)) ORDER BY id DESC LIMIT 1
        """
    }

    /// The id of the last entry, or that after which the first comes.
    static func lastID(_ n: Int64) -> String {
        """
        SELECT coalesce(max(id), \(EntryID.zero(of: n))) FROM entries \
        WHERE id > \(EntryID.zero(of: n)) AND id < \(EntryID.end(of: n))
        """
    }

    // MARK: Whole entries

    /// The columns of an ``EntryRow``.
    private static let columns =
        "id, written, expires, checksum, bytes, idle, type_version, \(lastUse)"

    private static func entriesWithKeys(_ condition: String) -> String {
        "SELECT \(columns), key FROM entries WHERE \(condition)"
    }

    /// The entries whose keys have this hash, among those after an id.
    static func read(_ n: Int64) -> String {
        entriesWithKeys("hash = ?1 AND id > ?2 AND id < \(EntryID.end(of: n))")
    }
    /// The entry with an id, among those after another.
    static func readByID(_ n: Int64) -> String {
        entriesWithKeys("id = ?1 AND id > ?2 AND id < \(EntryID.end(of: n))")
    }

    /// How many entries ``readByIDs(_:)`` reads: to begin and to end a statement takes as long as
    /// to find a row.
    static let mostAtOnce = 16
    /// The entries with these ids, in their order, among those after another.
    static func readByIDs(_ n: Int64) -> String {
        let ids = (1...mostAtOnce).map { "(?\($0))" }.joined(separator: ", ")
        return """
            SELECT \(columns), key FROM (VALUES \(ids)) wanted \
            CROSS JOIN entries ON id = wanted.column1 WHERE id > ?\(mostAtOnce + 1) \
            AND id < \(EntryID.end(of: n))
            """
    }

    /// Binds one id to ``readByID(_:)``, or some to ``readByIDs(_:)``.
    static func bind(_ ids: ArraySlice<Int64>, after cleared: Int64, to read: Statement) {
        let parameters = ids.count == 1 ? 1 : mostAtOnce
        for (place, id) in ids.enumerated() {
            read.bind(id, at: Int32(place + 1))
        }
        for place in ids.count..<parameters {
            read.bind(Int64?.none, at: Int32(place + 1))
        }
        read.bind(cleared, at: Int32(parameters + 1))
    }
    static func between(_ n: Int64) -> String {
        entriesWithKeys(
            """
            id > max(?1, \(clearedThrough(n))) AND id <= min(?2, \(EntryID.end(of: n) - 1)) ORDER \
            BY id
            """
        )
    }

    /// The same, for ``EntryParts``, without the last use.
    static func parts(_ n: Int64) -> String {
        """
        SELECT id, written, expires, checksum, bytes, idle, type_version, 0, key FROM entries \
        WHERE id > max(?1, \(clearedThrough(n))) AND id <= min(?2, \(EntryID.end(of: n) - 1)) \
        ORDER BY id
        """
    }

    /// For a damaged file: without a look at the table `archives`. Entries that were there before
    /// the archive was emptied are among them.
    static func after(_ n: Int64) -> String {
        entriesWithKeys(
            "id > max(?1, \(EntryID.zero(of: n))) AND id < \(EntryID.end(of: n)) ORDER BY id"
        )
    }
    static func before(_ n: Int64) -> String {
        entriesWithKeys(
            "id < min(?1, \(EntryID.end(of: n))) AND id > \(EntryID.zero(of: n)) ORDER BY id DESC"
        )
    }

    // MARK: Without the bytes

    /// The columns of an ``EntryHead`` and the key, of the entries with this hash among those after
    /// an id.
    static func find(_ n: Int64) -> String {
        """
        SELECT id, \(size), written, expires, checksum, idle, \(lastUse), key FROM entries \
        WHERE hash = ?1 AND id > ?2 AND id < \(EntryID.end(of: n))
        """
    }

    /// The columns of a ``SweepRow``, for the entries of a block.
    static let datesBetween =
        """
        SELECT id, \(size), written, expires, idle, \(lastUse), key FROM entries WHERE id >= ?1 \
        AND id < ?2
        """

    /// How many entries were inserted from an id on, their bytes, and the id of the last.
    static func tail(_ n: Int64) -> String {
        """
        SELECT count(*), total(\(size)), max(id) FROM entries WHERE id >= ?1 \
        AND id < \(EntryID.end(of: n))
        """
    }

    private enum TailColumn: Int32 { case entries, bytes, lastID }

    /// Adds the entries that ``tail(_:)`` is bound to.
    static func add(_ tail: Statement, to totals: inout ArchiveTotals) throws(SQLiteError) {
        defer { tail.reset() }
        tail.bind(totals.nextID, at: 1)
        guard try tail.step(), !tail.isNull(TailColumn.lastID) else { return }
        totals.entries = (StoredInteger(totals.entries) + tail.int(TailColumn.entries)).value
        totals.bytes = (StoredInteger(totals.bytes) + tail.int(TailColumn.bytes)).value
        totals.nextID = (tail.int(TailColumn.lastID) + 1).value
    }

    static let revision = "SELECT checksum FROM entries WHERE id = ?1"

    /// The revision of the entry that ``revision`` is bound to; `nil` if there is no such entry.
    static func readRevision(_ statement: Statement) throws(SQLiteError) -> UInt32? {
        try statement.step() ? UInt32(truncatingIfNeeded: statement.int(0).value) : nil
    }

    // MARK: Writing

    static let insert = """
        INSERT INTO entries(id, hash, key, written, expires, idle, stamp, checksum, type_version, \
        bytes)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        """

    static func runInsert(
        _ insert: Statement,
        _ id: Int64,
        _ key: EntryKey,
        _ entry: Entry,
        _ sums: Checksum.Sums,
        stamp: UseStamp
    ) throws(SQLiteError) {
        insert.bind(id, at: 1)
        insert.bind(sums.storedHash, at: 2)
        insert.bind(copying: key, at: 3)
        insert.bind(entry.written.rawValue, at: 4)
        insert.bind(entry.expires?.rawValue, at: 5)
        insert.bind(entry.idle, at: 6)
        insert.bind(stamp.rawValue, at: 7)
        insert.bind(sums.storedChecksum, at: 8)
        insert.bind(entry.typeVersion, at: 9)
        try insert.run(binding: entry.bytes, at: 10)
    }

    static let update = """
        UPDATE entries SET written = ?2, expires = ?3, idle = ?4, checksum = ?5, type_version = \
        ?6, bytes = ?7 WHERE id = ?1
        """

    /// Changes the dates of an entry. SQLite overwrites a row of the same length in place, and only
    /// the pages that change.
    static let renew =
        "UPDATE entries SET written = ?2, expires = ?3, idle = ?4, checksum = ?5 WHERE id = ?1"

    static func runRenew(
        _ renew: Statement,
        _ id: Int64,
        _ entry: Entry,
        _ sums: Checksum.Sums
    ) throws(SQLiteError) {
        bindDates(renew, id, entry, sums)
        try renew.run()
    }

    /// Binds what ``renew`` and ``update`` begin with.
    @inline(__always)
    private static func bindDates(
        _ statement: Statement,
        _ id: Int64,
        _ entry: Entry,
        _ sums: Checksum.Sums
    ) {
        statement.bind(id, at: 1)
        statement.bind(entry.written.rawValue, at: 2)
        statement.bind(entry.expires?.rawValue, at: 3)
        statement.bind(entry.idle, at: 4)
        statement.bind(sums.storedChecksum, at: 5)
    }

    /// As ``update``, of an entry that still has this key and size. The row's size is not read with
    /// its value.
    static let updateKnown = "\(update) AND key = ?8 AND \(size) = ?9"

    static func runUpdate(
        _ update: Statement,
        _ id: Int64,
        _ entry: Entry,
        _ sums: Checksum.Sums
    ) throws(SQLiteError) {
        bindDates(update, id, entry, sums)
        update.bind(entry.typeVersion, at: 6)
        try update.run(binding: entry.bytes, at: 7)
    }

    /// Runs ``updateKnown`` for an entry under this key.
    static func runUpdate(
        _ update: Statement,
        _ known: KnownEntry,
        _ key: EntryKey,
        _ entry: Entry,
        _ sums: Checksum.Sums
    ) throws(SQLiteError) {
        update.bind(copying: key, at: 8)
        update.bind(Int64(known.size), at: 9)
        try runUpdate(update, known.id, entry, sums)
    }
}

/// The id of an entry: the number of its archive, times 2^40, plus the entry's number in the
/// archive, which begins with 1.
package enum EntryID {
    static let bits: Int64 = 40
    /// Archives beyond this number would have ids that no integer holds.
    static let lastArchive: Int64 = 1 << 22

    /// The id after which the first entry of an archive comes.
    package static func zero(of archive: Int64) -> Int64 { archive << bits }
    /// The first id of the next archive.
    package static func end(of archive: Int64) -> Int64 { zero(of: archive + 1) }
}

/// The current row of a statement that selects a whole entry. Valid until the statement's next
/// step.
struct EntryRow {
    let row: Statement

    fileprivate enum Column: Int32 {
        case id, written, expires, checksum, bytes, idle, typeVersion, lastUse, key
    }

    init(_ row: Statement) { self.row = row }

    var id: Int64 { row.int(Column.id).value }
    var checksum: UInt32 { row.checksum(Column.checksum) }

    /// The key, where the statement selects it.
    var keyBytes: UnsafeRawBufferPointer { row.bytes(Column.key) }

    /// The entry, its key, and whether both match the checksum.
    func stored(_ checksum: Checksum) -> StoredEntry {
        let entry = entry
        let key = keyBytes
        return StoredEntry(
            key: EntryKey(String(decoding: key, as: UTF8.self)),
            entry: entry,
            isIntact: checksum.of(entry, key: key) == entry.revision
        )
    }

    var entry: Entry {
        var entry = Entry(
            bytes: Data(row.bytes(Column.bytes)),
            written: row.instant(Column.written),
            expires: row.optionalInstant(Column.expires),
            idle: row.optionalInt(Column.idle)?.value
        )
        entry.id = id
        entry.typeVersion = row.int(Column.typeVersion).value
        entry.lastUse = row.stamp(Column.lastUse)
        entry.revision = checksum
        return entry
    }
}

/// The parts of a row that stands for a whole entry, none of which is copied. Valid until the
/// statement's next step.
package struct EntryParts {
    package let id: Int64
    package let key: UnsafeRawBufferPointer
    package let bytes: UnsafeRawBufferPointer
    /// Moments, in milliseconds since 1970.
    package let written: Int64
    package let expires: Int64?
    package let idle: Int64?
    package let typeVersion: Int64
    package let checksum: UInt32

    init(_ row: Statement) {
        typealias Column = EntryRow.Column
        id = row.int(Column.id).value
        key = row.bytes(Column.key)
        bytes = row.bytes(Column.bytes)
        written = row.int(Column.written).value
        expires = row.optionalInt(Column.expires)?.value
        idle = row.optionalInt(Column.idle)?.value
        typeVersion = row.int(Column.typeVersion).value
        checksum = row.checksum(Column.checksum)
    }

    /// Whether the entry and its key match the checksum.
    package func isIntact(_ sum: Checksum) -> Bool {
        let metadata = (written, expires ?? .max, idle ?? -1, typeVersion)
        return sum.of(key, metadata, bytes) == checksum
    }
}

/// What a write reads of the entry that is already under its key, as ``EntryTable/find(_:)``
/// selects it.
struct EntryHead {
    var id: Int64
    /// Encoded bytes.
    var size: Int64
    var validity: Validity
    /// The last use in the file, if the entry has an idle age of its own.
    var lastUse: UseStamp
    var revision: UInt32

    private enum Column: Int32 { case id, size, written, expires, checksum, idle, lastUse, key }

    /// - Returns: `nil` if the row has another key.
    init?(_ row: Statement, of key: EntryKey) {
        guard key.hasBytes(row.bytes(Column.key)) else { return nil }
        id = row.int(Column.id).value
        size = row.int(Column.size).value
        validity = Validity(
            written: row.instant(Column.written),
            expires: row.optionalInstant(Column.expires),
            idle: row.optionalInt(Column.idle)?.value
        )
        lastUse = row.stamp(Column.lastUse)
        revision = row.checksum(Column.checksum)
    }
}

/// The current row of ``EntryTable/datesBetween``. Valid until the statement's next step.
struct SweepRow {
    let row: Statement

    private enum Column: Int32 { case id, size, written, expires, idle, lastUse, key }

    init(_ row: Statement) { self.row = row }

    var id: Int64 { row.int(Column.id).value }
    /// Encoded bytes.
    var size: Int64 { row.int(Column.size).value }
    var validity: Validity {
        Validity(
            written: row.instant(Column.written),
            expires: row.optionalInstant(Column.expires),
            idle: row.optionalInt(Column.idle)?.value
        )
    }
    /// The last use in the file, if the entry has an idle age of its own.
    var lastUse: UseStamp { row.stamp(Column.lastUse) }
    var key: EntryKey { row.key(Column.key) }
}
