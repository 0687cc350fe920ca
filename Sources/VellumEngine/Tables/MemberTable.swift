public import VellumCore

/// The table `members`: the groups of entries, a row for each entry of a group (decision 82). Only
/// a file that had groups has it (``Features/groups``).
///
/// `revision` is the checksum of the entry: a row is that of the very value with which it was
/// written. Of an entry that a program has changed which knows nothing of groups it is not valid
/// any more.
enum MemberTable {
    /// A plain table, as programs require that do not know the feature (decision 73).
    static let create = """
        CREATE TABLE members(
            entry INTEGER NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL
        )
        """

    static let indexes: KeyValuePairs = [
        "members_by_entry": "CREATE INDEX members_by_entry ON members(entry)",
        "members_by_name": "CREATE INDEX members_by_name ON members(name, entry)",
    ]

    static let isThere = "SELECT count(*) FROM sqlite_schema WHERE name = 'members'"

    // MARK: Statements of an archive

    /// Whether an archive has members, or had some that are not deleted yet.
    static func any(_ n: Int64) -> String {
        """
        SELECT 1 FROM members WHERE entry > \(EntryID.zero(of: n)) \
        AND entry < \(EntryID.end(of: n)) LIMIT 1
        """
    }

    static let insert = "INSERT INTO members(entry, name, revision) VALUES (?1, ?2, ?3)"
    static let delete = "DELETE FROM members WHERE entry = ?1"
    static let renew =
        "UPDATE members SET revision = ?2 WHERE entry = ?1 AND revision = coalesce(?3, revision)"

    /// Deletes the rows of those entries that ``EntryTable/deleteFirst`` deletes.
    static let deleteFirst = """
        DELETE FROM members WHERE entry IN (SELECT id FROM entries WHERE id > ?1 AND id <= ?2 \
        ORDER BY id LIMIT ?3)
        """

    /// All rows, without a look at an index that may be damaged.
    static let all = "SELECT entry, name, revision FROM members NOT INDEXED"

    /// The groups of an entry, with this revision or any.
    static let groups =
        "SELECT name FROM members WHERE entry = ?1 AND revision = coalesce(?2, revision)"

    static func readNames(_ groups: Statement) throws(SQLiteError) -> [String] {
        var names: [String] = []
        while try groups.step() {
            if let name = groups.text(0) { names.append(name) }
        }
        return names
    }

    /// The entries of a group, as ``ListedEntry`` reads them, each with its last use in the file:
    /// once, whatever rows a foreign file has.
    static func list(_ n: Int64) -> String {
        """
        SELECT max(e.stamp, coalesce((SELECT u.stamp FROM touches u \
        WHERE u.id = e.id), 0)), e.id, e.key, e.written, e.expires, e.idle,
            \(EntryTable.size)
        FROM members m JOIN entries e ON e.id = m.entry
        WHERE m.name = ?1 AND m.entry > ?2 AND m.entry < \(EntryID.end(of: n)) \
        AND e.checksum = m.revision
        GROUP BY m.entry
        """
    }
}

/// The current row of ``MemberTable/all``. Valid until the statement's next step.
struct MemberRow {
    let row: Statement

    private enum Column: Int32 { case entry, name, revision }

    init(_ row: Statement) { self.row = row }

    var entryID: Int64 { row.int(Column.entry).value }
    var name: String? { row.text(Column.name) }
    var revision: UInt32 { row.checksum(Column.revision) }
}

/// The groups of a value that is written.
@usableFromInline package enum Grouping: Sendable {
    /// It has none, whatever the value had that was there.
    case none
    /// Those of the value that was there.
    case kept
    case groups([EntryKey])
}
