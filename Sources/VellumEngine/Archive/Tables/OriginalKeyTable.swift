internal import VellumCore

/// The table `original_keys`: the entries of an original MiniCache file that have not got their keys yet, by their ids. It may also name
/// entries that are gone.
enum OriginalKeyTable {
    static let create = "CREATE TABLE original_keys(id INTEGER PRIMARY KEY)"

    private static let insert = "INSERT OR IGNORE INTO original_keys(id) VALUES (?1)"
    private static let delete = "DELETE FROM original_keys WHERE id = ?1"

    static func insert(_ id: Int64, on connection: Connection) throws(SQLiteError) { try run(insert, id, on: connection) }
    static func delete(_ id: Int64, on connection: Connection) throws(SQLiteError) { try run(delete, id, on: connection) }

    private static func run(_ sql: String, _ id: Int64, on connection: Connection) throws(SQLiteError) {
        let statement = try connection.prepare(sql)
        statement.bind(id, at: 1)
        try statement.run()
    }

    private static func select(_ n: Int64) -> String {
        """
        SELECT o.id, e.key FROM original_keys o LEFT JOIN entries e ON e.id = o.id AND e.id > \(EntryTable.clearedThrough(n))
        WHERE o.id > \(EntryID.zero(of: n)) AND o.id < \(EntryID.end(of: n)) ORDER BY e.written DESC, e.id DESC
        """
    }

    private enum Column: Int32 { case id, key }

    /// The entries of an archive and their keys, those written last first; `nil` for an entry that is gone.
    static func entries(of n: Int64, on connection: Connection) throws(SQLiteError) -> [(id: Int64, key: EntryKey?)] {
        let list = try connection.prepare(select(n))
        var found: [(id: Int64, key: EntryKey?)] = []
        while try list.step() { found.append((list.int(Column.id), list.isNull(Column.key) ? nil : list.key(Column.key))) }
        return found
    }
}
