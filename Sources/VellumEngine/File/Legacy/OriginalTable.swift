internal import Foundation
internal import VellumCore

/// The table `ZCACHEENTRY` of an original MiniCache file, a Core Data store.
enum OriginalTable {
    /// How many of the columns that its model leads to are there.
    static let columnCount = """
        SELECT count(*) FROM pragma_table_info('ZCACHEENTRY') WHERE name IN ('ZCACHE', 'ZCACHEVERSION', 'ZKEY', 'ZVALUE', 'ZDATE')
        """

    /// Copies the log into the database and removes it: the file is whole by itself then.
    static let endLog = "PRAGMA journal_mode = DELETE"

    private static let selectLastVersions = "SELECT ZCACHE, ZCACHEVERSION, max(ZDATE) FROM ZCACHEENTRY GROUP BY ZCACHE"

    private enum LastVersionColumn: Int32 { case cache, version }

    /// The version of each cache that was written last.
    static func lastVersions(on connection: Connection) throws(SQLiteError) -> [String: String] {
        let read = try connection.prepare(selectLastVersions)
        var found: [String: String] = [:]
        while try read.step() {
            guard let cache = read.text(LastVersionColumn.cache), let version = read.text(LastVersionColumn.version) else { continue }
            found[cache] = version
        }
        return found
    }

    /// Its entries, the oldest first, so that of several under one key the newest stays.
    static let entries = "SELECT ZCACHE, ZCACHEVERSION, ZKEY, ZVALUE, ZDATE FROM ZCACHEENTRY ORDER BY ZDATE, rowid"
}

/// A row of ``OriginalTable/entries``.
struct OriginalRow {
    /// `nil` if a column is missing.
    var entry: OriginalCache.Entry?
    var written: WallInstant

    private enum Column: Int32 { case cache, version, key, value, date }

    init(_ row: Statement) {
        // Core Data counts seconds from 2001.
        written = WallInstant(Date(timeIntervalSinceReferenceDate: row.double(Column.date)))
        guard
            let cache = row.text(Column.cache), let version = row.text(Column.version), let key = row.text(Column.key),
            let value = row.text(Column.value), !row.isNull(Column.date)
        else { return }
        entry = OriginalCache.Entry(cache: cache, version: version, key: key, value: value)
    }
}
