internal import VellumCore

/// The table `archives`: the archives of the file, with the totals and the limit of each.
///
/// - `next` is the number of the next entry, `low_water` the low-water mark of the eviction order, `recency` the number of records in the
///   recency log. `expiring` is 1 once there was an entry with an age of its own.
/// - `max_bytes` is the disk limit; `is_max_given` is 1 once a caller set it.
/// - `version_group` is shared by archives that replace one another; `seen` is when the archive was last open.
enum ArchiveTable {
    static let create = """
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

    /// Text that the schema of every file of this package contains.
    static let beginningOfCreate = "CREATE TABLE archives("

    /// Whether the file has a table that no other program's file has.
    static let isPresent = """
        SELECT count(*) FROM sqlite_schema
        WHERE name = 'archives' AND sql LIKE 'CREATE TABLE archives(%low_water INTEGER%recency INTEGER%'
        """

    static let entryCount = "SELECT sum(entries) FROM archives"
    static let lastID = "SELECT max(id) FROM archives"
    static let delete = "DELETE FROM archives WHERE id = ?1"

    private static let insertRow = "INSERT INTO archives(name, max_bytes, is_max_given) VALUES (?1, ?2, ?3) RETURNING id"

    /// Adds an archive and returns its number.
    static func insert(_ name: String, _ limit: StoredLimit, on connection: Connection) throws(SQLiteError) -> Int64? {
        let insert = try connection.prepare(insertRow)
        insert.bind(name, at: 1)
        insert.bind(limit.bytes, at: 2)
        insert.bind(limit.isGiven, at: 3)
        return try insert.step() ? insert.int(0) : nil
    }

    // MARK: Finding

    private static let selectID = "SELECT id FROM archives WHERE name = ?1"
    private static let selectName = "SELECT name FROM archives WHERE id = ?1"

    /// The number of the archive of that name.
    static func find(_ name: String, on connection: Connection) throws(SQLiteError) -> Int64? {
        let find = try connection.prepare(selectID)
        find.bind(name, at: 1)
        guard try find.step() else { return nil }
        let id = find.int(0)
        // The index on names leads to the table, and both must agree, or another archive would be taken for this one.
        let confirm = try connection.prepare(selectName)
        confirm.bind(id, at: 1)
        guard id > 0, try confirm.step(), confirm.isText(name, at: 0) else {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The list of archives is damaged.")
        }
        return id
    }

    // MARK: Listing

    static let list = "SELECT id, name, version_group, max_bytes, is_max_given FROM archives ORDER BY id"
    static let listBackwards = "SELECT id, name, version_group, max_bytes, is_max_given FROM archives ORDER BY id DESC"
    /// Reads the index on the names alone, which may be readable where the table is not.
    static let listByName = "SELECT id, name, NULL, NULL, NULL FROM archives ORDER BY name"

    /// An archive of the file, as the statements that list them select it.
    struct Listed {
        var id: Int64
        var name: String?
        var versionGroup: String?
        var limit: StoredLimit

        private enum Column: Int32 { case id, name, versionGroup, bytes, isGiven }

        init(_ row: Statement) {
            id = row.int(Column.id)
            name = row.text(Column.name)
            versionGroup = row.text(Column.versionGroup)
            limit = StoredLimit(bytes: row.int(Column.bytes), isGiven: row.int(Column.isGiven))
        }
    }

    // MARK: Version groups

    private static let selectHeartbeat = "SELECT version_group, seen FROM archives WHERE id = ?1"
    private static let updateHeartbeat = "UPDATE archives SET version_group = ?2, seen = ?3 WHERE id = ?1"

    private enum HeartbeatColumn: Int32 { case versionGroup, seen }

    /// When the archive was last open as one of this version group; `nil` if it is not in the group.
    static func lastSeen(_ id: Int64, in versionGroup: String, on connection: Connection) throws(SQLiteError) -> WallInstant? {
        let read = try connection.prepare(selectHeartbeat)
        read.bind(id, at: 1)
        guard try read.step(), read.text(HeartbeatColumn.versionGroup) == versionGroup else { return nil }
        return read.instant(HeartbeatColumn.seen)
    }

    /// Makes the archive one of the version group, open at `now`.
    static func writeHeartbeat(
        _ id: Int64, in versionGroup: String, at now: WallInstant, on connection: Connection
    ) throws(SQLiteError) {
        let store = try connection.prepare(updateHeartbeat)
        store.bind(id, at: 1)
        store.bind(versionGroup, at: 2)
        store.bind(now.rawValue, at: 3)
        try store.run()
    }

    private static let selectSiblings = """
        SELECT id, name, entries, seen FROM archives WHERE version_group = ?1 AND id <> ?2 ORDER BY seen, id
        """

    /// Another archive of a version group.
    struct Sibling {
        var id: Int64
        var name: String
        var entries: Int64
        /// When it was last open.
        var seen: WallInstant

        private enum Column: Int32 { case id, name, entries, seen }

        init(_ row: Statement) {
            id = row.int(Column.id)
            name = row.text(Column.name) ?? ""
            entries = row.int(Column.entries)
            seen = row.instant(Column.seen)
        }
    }

    /// The archives of the group but for one, the one that was open longest ago first.
    static func siblings(of id: Int64, in versionGroup: String, on connection: Connection) throws(SQLiteError) -> [Sibling] {
        let find = try connection.prepare(selectSiblings)
        find.bind(versionGroup, at: 1)
        find.bind(id, at: 2)
        var found: [Sibling] = []
        while try find.step() { found.append(Sibling(find)) }
        return found
    }

    private static let selectLimit = """
        SELECT max_bytes, is_max_given FROM archives WHERE version_group = ?1 ORDER BY seen DESC, id DESC LIMIT 1
        """

    private enum LimitColumn: Int32 { case bytes, isGiven }

    /// The limit of the archive of the version group that was open last.
    static func limit(ofVersionGroup versionGroup: String, on connection: Connection) throws(SQLiteError) -> StoredLimit? {
        let find = try connection.prepare(selectLimit)
        find.bind(versionGroup, at: 1)
        guard try find.step() else { return nil }
        return StoredLimit(bytes: find.int(LimitColumn.bytes), isGiven: find.int(LimitColumn.isGiven))
    }
}

/// The totals of an archive, and what else of its row in `archives` changes with its entries.
struct ArchiveTotals: Equatable {
    var entries: Int64 = 0
    var bytes: Int64 = 0
    /// The number of the next entry: no number is used twice.
    var nextID: Int64 = 1
    /// Every entry up to this number has a touch; a later one may lack it.
    var lowWater: Int64 = 0
    /// How many records the recency log has.
    var recencyRecords: Int64 = 0
    /// 1 once there was an entry with an age of its own.
    var expiring: Int64 = 0
    var limit = StoredLimit.unknown

    /// Whether sums and ranges can be made of these without overflow.
    var isPossible: Bool {
        let possible = 0...Int64(1) << 48
        return [entries, bytes, lowWater, recencyRecords].allSatisfy(possible.contains) && nextID > 0 && possible.contains(nextID)
            && lowWater < nextID && entries < nextID && 0...1 ~= expiring && limit.isPossible
    }
}

extension ArchiveTotals {
    static let load = "SELECT entries, bytes, next, low_water, recency, expiring, max_bytes, is_max_given FROM archives WHERE id = ?1"

    private enum Column: Int32 { case entries, bytes, nextID, lowWater, recencyRecords, expiring, limitBytes, isLimitGiven }

    init(_ row: Statement) {
        self.init(
            entries: row.int(Column.entries), bytes: row.int(Column.bytes), nextID: row.int(Column.nextID),
            lowWater: row.int(Column.lowWater), recencyRecords: row.int(Column.recencyRecords), expiring: row.int(Column.expiring),
            limit: StoredLimit(bytes: row.int(Column.limitBytes), isGiven: row.int(Column.isLimitGiven)))
    }

    static let store = """
        UPDATE archives SET entries = ?2, bytes = ?3, next = ?4, low_water = ?5, recency = ?6, expiring = ?7, max_bytes = ?8, is_max_given = ?9
        WHERE id = ?1
        """

    func runStore(_ store: Statement, _ id: Int64) throws(SQLiteError) {
        store.bind(id, at: 1)
        store.bind(entries, at: 2)
        store.bind(bytes, at: 3)
        store.bind(nextID, at: 4)
        store.bind(lowWater, at: 5)
        store.bind(recencyRecords, at: 6)
        store.bind(expiring, at: 7)
        store.bind(limit.bytes, at: 8)
        store.bind(limit.isGiven, at: 9)
        try store.run()
    }

    /// The low-water mark alone, for a listing.
    static func lowWater(_ id: Int64) -> String { "SELECT low_water FROM archives WHERE id = \(id)" }
}
