internal import VellumCore

/// The table `removed`: entries that are removed, and whose rows are still to be deleted (decision
/// 99).
///
/// To delete an entry some pages are written, and on a full disk the log has room for a few. A
/// transaction that removes more entries writes here which: `bits` has one for each of the 64 ids
/// from `block` times 64 on. Later transactions delete the rows, a few at a time. Until then
/// nothing else is written (`Writer.begin`), and readers see the tables without them
/// (``hide(on:)``).
enum RemovedTable {
    /// A plain table, as programs require that do not know the feature (decision 73).
    static let create = "CREATE TABLE removed(block INTEGER PRIMARY KEY, bits INTEGER NOT NULL)"
    private static let isThere = "SELECT count(*) FROM sqlite_schema WHERE name = 'removed'"

    /// Writes which entries are removed. Nothing else is.
    static func write(
        _ ids: [Int64],
        on connection: Connection
    ) throws(SQLiteError) {
        if try connection.int(isThere) == 0 {
            try connection.execute(create)
            try connection.execute(Features.addRemovedTable)
        }
        var blocks: [Int64: UInt64] = [:]
        for id in ids { blocks[id >> 6, default: 0] |= 1 << UInt64(id & 63) }
        let insert = try connection.prepare("INSERT INTO removed(block, bits) VALUES (?1, ?2)")
        // In order: pages that are appended to are full.
        for (block, bits) in blocks.sorted(by: { $0.key < $1.key }) {
            try insert.run(block, Int64(bitPattern: bits))
        }
        try connection.execute(Features.beginRemovals)
    }

    /// The first entries, all of one archive, of a file that has the table. Read at once, because
    /// another process may be deleting the last of them.
    static func first(_ limit: Int, on connection: Connection) throws(SQLiteError) -> [Int64] {
        let read = try connection.prepare(
            """
            SELECT block, removed.bits FROM features LEFT JOIN removed \
            WHERE \(Features.areRemoved) ORDER BY block LIMIT 1
            """
        )
        guard try read.step() else { return [] }
        guard !read.isNull(0) else { throw .corrupt("No entry is removed.") }
        let block = read.int(0).value
        let bits = UInt64(bitPattern: read.int(1).value)
        return Array(
            (0..<64).lazy.filter { bits >> $0 & 1 == 1 }.map { block << 6 + $0 }.prefix(limit)
        )
    }

    /// Forgets entries whose rows are deleted, all of one block, and that any are removed after the
    /// last of them.
    static func forget(_ ids: [Int64], on connection: Connection) throws(SQLiteError) {
        guard let block = ids.first.map({ $0 >> 6 }) else { return }
        let bits: UInt64 = ids.reduce(0) { $0 | 1 << UInt64($1 & 63) }
        try connection.prepare("UPDATE removed SET bits = bits & ~?2 WHERE block = ?1")
            .run(block, Int64(bitPattern: bits))
        try connection.execute("DELETE FROM removed WHERE bits = 0")
        if try connection.int("SELECT EXISTS (SELECT 1 FROM removed)") == 0 {
            try connection.execute(Features.endRemovals)
        }
    }

    /// All entries, of a file that may be damaged.
    static func all(on connection: Connection) -> Set<Int64> {
        var found: Set<Int64> = []
        do throws(SQLiteError) {
            guard try connection.int(isThere) ?? 0 > 0 else { return [] }
            let read = try connection.prepare("SELECT block, bits FROM removed")
            while try read.step() {
                let block = read.int(0).value
                let bits = UInt64(bitPattern: read.int(1).value)
                found.formUnion((0..<64).filter { bits >> $0 & 1 == 1 }.map { block << 6 + $0 })
            }
        } catch {
            Log.error("Entries may come back that were removed on a full disk.", error)
        }
        return found
    }

    // MARK: Reading

    /// Lets the connection see the tables without the rows of removed entries, until ``show(on:)``:
    /// a view of the connection itself comes before the table of its name
    /// (sqlite.org/lang_naming.html).
    static func hide(on connection: Connection) throws(SQLiteError) {
        let list = try connection.prepare(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND (name IN ('entries', \
            'touches', 'members') OR name GLOB '*_[0-9]*')
            """
        )
        var views: [String] = []
        while try list.step() {
            guard let name = list.text(0) else { continue }
            let id = name == "members" ? "entry" : "id"
            views.append(
                """
                CREATE TEMP VIEW \(name) AS SELECT * FROM main.\(name) t WHERE NOT EXISTS (SELECT \
                1 FROM main.removed r WHERE r.block = t.\(id) >> 6 AND r.bits >> (t.\(id) & 63) & 1)
                """
            )
        }
        list.reset()
        try change(connection, views)
    }

    static func show(on connection: Connection) throws(SQLiteError) {
        let list = try connection.prepare("SELECT name FROM sqlite_temp_schema WHERE type = 'view'")
        var drops: [String] = []
        while try list.step() {
            if let name = list.text(0) { drops.append("DROP VIEW temp.\(name)") }
        }
        list.reset()
        try change(connection, drops)
    }

    private static func change(
        _ connection: Connection,
        _ statements: [String]
    ) throws(SQLiteError) {
        let onlyReads = try connection.int("PRAGMA query_only") ?? 0 > 0
        if onlyReads { try connection.execute("PRAGMA query_only = OFF") }
        for statement in statements { try connection.execute(statement) }
        if onlyReads { try connection.execute(SQL.refuseWrites) }
    }
}
