internal import Foundation
internal import VellumCore
internal import VellumEngine

/// What is read of archives and entries without their values.
enum RawRows {
    private static let lastUse =
        "max(stamp, coalesce((SELECT u.stamp FROM touches u WHERE u.id = entries.id), 0))"
    private static let columns =
        "id, \(EntryTable.size), written, expires, idle, type_version, \(lastUse), key"

    /// The entries after an id whose keys begin with a prefix, as ``EntryRow`` reads them. A part
    /// of an empty key is `NULL`.
    static func entries(_ n: Int64, bySize: Bool) -> String {
        """
        SELECT \(columns) FROM entries
        WHERE id > max(?1, \(EntryTable.clearedThrough(n))) AND id < \(EntryID.end(of: n))
            AND (length(?2) = 0 OR substr(key, 1, length(?2)) = ?2)
        ORDER BY \(bySize ? "\(EntryTable.size) DESC, id" : "id") LIMIT ?3
        """
    }

    static let entry = "SELECT \(columns) FROM entries WHERE id = ?1"

    struct EntryRow {
        let id: Int64
        let entry: RawArchive.Entry

        private enum Column: Int32 {
            case id, size, written, expires, idle, typeVersion, lastUse, key
        }

        init(_ row: Statement) {
            id = row.int(Column.id).value
            let expires = row.optionalInstant(Column.expires)
            entry = RawArchive.Entry(
                key: row.key(Column.key).normalized,
                size: row.int(Column.size).int,
                recorded: row.instant(Column.written).date,
                expires: expires.flatMap { $0 == .never ? nil : $0.date },
                idle: row.optionalInt(Column.idle).map { .milliseconds($0.value) },
                lastUsed: row.stamp(Column.lastUse).possibleDate
                    ?? row.instant(Column.written).date,
                typeVersion: row.int(Column.typeVersion).int
            )
        }
    }

    static let archive = "SELECT max_bytes, is_max_given, cache_version FROM archives WHERE id = ?1"

    struct ArchiveRow {
        let limit: Int64
        let isLimitGiven: Bool
        let cacheVersion: String?

        private enum Column: Int32 { case limit, isGiven, cacheVersion }

        init(_ row: Statement) {
            limit = row.int(Column.limit).value
            isLimitGiven = row.int(Column.isGiven).value == 1
            cacheVersion = row.text(Column.cacheVersion)
        }
    }

    /// How many entries were there when the archive was emptied, and are not deleted yet.
    static func waiting(_ n: Int64) -> String {
        """
        SELECT count(*) FROM entries WHERE id > \(EntryID.zero(of: n)) \
        AND id <= \(EntryTable.clearedThrough(n))
        """
    }

    /// The least recent last use of an entry: the first record of the log that is not obsolete, or
    /// the first entry that has no touch.
    static func oldestUse(_ n: Int64) -> String {
        """
        SELECT min(coalesce((SELECT m.stamp FROM recency m JOIN touches u ON u.id = m.id \
        AND u.stamp = m.stamp
                             WHERE m.archive = \(n) ORDER BY m.stamp LIMIT 1), \(Int64.max)),
                   coalesce((SELECT e.stamp FROM entries e, archives a WHERE a.id = \(n) \
        AND e.id > a.low_water + \(EntryID.zero(of: n))
                             AND e.id < \(EntryID.end(of: n)) AND NOT EXISTS (SELECT 1 \
        FROM touches u WHERE u.id = e.id)
                             ORDER BY e.id LIMIT 1), \(Int64.max)))
        """
    }

    static let index = "SELECT definition, columns, collections FROM indexes WHERE archive = ?1"

    enum Index: Int32 { case definition, columns, collections }
}

extension ArchiveTables {
    /// The archive's index; `nil` if it has none, or its definition is not that of its tables.
    func rawIndex() throws(SQLiteError) -> RawIndex? {
        let read = try connection.prepare(RawRows.index, id)
        guard try read.step(),
            let index = read.text(RawRows.Index.definition).flatMap(RawIndex.init),
            index.hasColumns(
                read.int(RawRows.Index.columns).int,
                collections: read.int(RawRows.Index.collections).int
            )
        else { return nil }
        return index
    }

    func rawEntry(_ entryID: Int64) throws(SQLiteError) -> RawArchive.Entry? {
        let read = try prepared(query: RawRows.entry)
        defer { read.reset() }
        read.bind(entryID, at: 1)
        return try read.step() ? RawRows.EntryRow(read).entry : nil
    }
}

extension UseStamp {
    /// The moment, if it is one that a program gives.
    var possibleDate: Date? { self > .never && isPossible ? instant.date : nil }
}

extension RawRows {
    enum Key: Int32 { case key }

    /// The keys whose hashes have this lower half.
    static func keysOfHash(_ n: Int64) -> String {
        """
        SELECT key FROM entries WHERE hash = ?1 AND id > \(EntryTable.clearedThrough(n)) \
        AND id < \(EntryID.end(of: n))
        """
    }
}
