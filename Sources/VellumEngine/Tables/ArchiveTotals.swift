package import VellumCore

/// The table `archives`: the archives of the file, with the totals and the limit of each.
///
/// - `entries` and `bytes` are those of the entries before `next`. A transaction that only inserts
///   a few leaves the row as it is, so that it touches a page less: whoever reads the totals adds
///   the entries from `next` on (``EntryTable/tail(_:)``).
/// - `next`, `low_water` and `cleared` are numbers of entries in the archive (``EntryID``).
///   `low_water` is the low-water mark of the eviction order. Entries up to `cleared` were there
///   when the archive was last emptied: they are deleted in the background. `cleared_check` is its
///   complement: a damaged number must not hide entries. `recency` is the number of records in the
///   recency log. `expiring` is 1 once there was an entry with an age of its own.
/// - `max_bytes` is the disk limit; `is_max_given` is 1 once a caller set it.
/// - The format of the file stands here a second time, because one damaged byte of the header must
///   not make it look newer.
/// - `hash_seed` is that of the archive's ``SeededHash``, a random number, and `hash_seed_check`
///   its complement.
/// - `cache_version` is the version of the cache whose values the archive holds, if it is one;
///   `version_since` is when it was last emptied for another version, or 0.
package enum ArchiveTable {
    static let create = """
        CREATE TABLE archives( -- format \(Schema.formatVersion)
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            entries INTEGER NOT NULL DEFAULT 0,
            bytes INTEGER NOT NULL DEFAULT 0,
            next INTEGER NOT NULL DEFAULT 1,
            low_water INTEGER NOT NULL DEFAULT 0,
            cleared INTEGER NOT NULL DEFAULT 0,
            cleared_check INTEGER NOT NULL DEFAULT -1,
            recency INTEGER NOT NULL DEFAULT 0,
            expiring INTEGER NOT NULL DEFAULT 0,
            max_bytes INTEGER NOT NULL,
            is_max_given INTEGER NOT NULL,
            cache_version TEXT,
            version_since INTEGER NOT NULL DEFAULT 0,
            hash_seed INTEGER NOT NULL,
            hash_seed_check INTEGER NOT NULL
        )
        """

    /// Text that the schema of every file of this package contains.
    static let beginningOfCreate = "CREATE TABLE archives("

    /// Whether the file has a table that no other program's file has.
    static let isPresent = """
        SELECT count(*) FROM sqlite_schema
        WHERE name = 'archives' \
        AND sql LIKE 'CREATE TABLE archives(%low_water INTEGER%recency INTEGER%'
        """

    /// The format that the definition of the table names; `nil` if it names none.
    static func format(on connection: Connection) throws(SQLiteError) -> Int? {
        let read = try connection.prepare("SELECT sql FROM sqlite_schema WHERE name = 'archives'")
        guard try read.step(),
            let line = read.text(0)?.prefix(while: { $0 != "\n" })
        else {
            return nil
        }
        return line.split(separator: " ").last.flatMap { Int($0) }
    }

    /// An archive that was emptied and still has entries from before.
    static func firstCleared(on connection: Connection) throws(SQLiteError) -> Int64? {
        let found = try connection.int(
            """
            SELECT id FROM archives WHERE cleared > 0 AND EXISTS (SELECT 1 FROM entries e
                WHERE e.id > archives.id << \(EntryID.bits) \
            AND e.id <= (archives.id << \(EntryID.bits)) + archives.cleared) LIMIT 1
            """
        )
        guard let id = found?.value, 1...EntryID.lastArchive ~= id else { return nil }
        return id
    }

    static let lastID = "SELECT max(id) FROM archives"

    /// The number of an archive and the hash of its keys.
    package struct Found {
        package var id: Int64
        package var hash: SeededHash
        /// Whether it was made just now.
        var isNew = false

        package init(id: Int64, hash: SeededHash) {
            self.id = id
            self.hash = hash
        }
    }

    /// Adds an archive.
    static func insert(
        _ name: String,
        _ limit: StoredLimit,
        on connection: Connection
    ) throws(SQLiteError) -> Found? {
        let hash = SeededHash.random()
        let insert = try connection.prepare(
            """
            INSERT INTO archives(max_bytes, is_max_given, hash_seed, hash_seed_check, name) \
            VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id
            """,
            limit.bytes,
            limit.isGiven,
            hash.seed,
            ~hash.seed
        )
        insert.bind(name, at: 5)
        return try insert.step()
            ? Found(id: insert.int(0).value, hash: hash)
            : nil
    }

    // MARK: Finding

    private enum RowColumn: Int32 { case name, hashSeed, hashSeedCheck }

    /// The archive of that name.
    static func find(_ name: String, on connection: Connection) throws(SQLiteError) -> Found? {
        let find = try connection.prepare("SELECT id FROM archives WHERE name = ?1")
        find.bind(name, at: 1)
        guard try find.step() else { return nil }
        let id = find.int(0).value
        // The index on names leads to the table, and both must agree, or another archive would be
        // taken for this one.
        let row = try connection.prepare(
            "SELECT name, hash_seed, hash_seed_check FROM archives WHERE id = ?1",
            id
        )
        // A damaged seed would hide every entry.
        guard 1...EntryID.lastArchive ~= id, try row.step(), row.isText(name, at: RowColumn.name),
            row.int(RowColumn.hashSeedCheck).isComplement(of: row.int(RowColumn.hashSeed))
        else {
            throw .corrupt("The list of archives is damaged.")
        }
        return Found(id: id, hash: SeededHash(seed: row.int(RowColumn.hashSeed).value))
    }

    // MARK: Listing

    private static let intactCleared = "iif(cleared_check = -1 - cleared, cleared, 0)"

    package static let list = """
        SELECT id, name, cache_version, max_bytes, is_max_given, \(intactCleared), hash_seed \
        FROM archives ORDER BY id
        """
    static let listBackwards = "\(list) DESC"
    /// Reads the index on the names alone, which may be readable where the table is not.
    static let listByName = "SELECT id, name, NULL, NULL, NULL, 0, 0 FROM archives ORDER BY name"

    /// An archive of the file, as the statements that list them select it.
    package struct Listed {
        package var id: Int64
        package var name: String?
        var cacheVersion: String?
        var limit: StoredLimit
        /// The number of the last entry that was there when the archive was emptied; 0 if it is
        /// damaged.
        var cleared: Int64
        package var hash: SeededHash
        /// Whether it has a limit, which it loses when it is dropped.
        package var hasLimit: Bool { limit != .unknown }

        private enum Column: Int32 {
            case id, name, cacheVersion, bytes, isGiven, cleared, hashSeed
        }

        package init(_ row: Statement) {
            id = row.int(Column.id).value
            name = row.text(Column.name)
            cacheVersion = row.text(Column.cacheVersion)
            limit = StoredLimit(
                bytes: row.int(Column.bytes).value,
                isGiven: row.int(Column.isGiven).value
            )
            cleared = row.int(Column.cleared).value
            hash = SeededHash(seed: row.int(Column.hashSeed).value)
        }
    }

    // MARK: Versions

    private enum VersionColumn: Int32 { case version, since }

    /// The cache version of an archive, and when the archive was emptied for it; `nil` if it has
    /// none.
    static func version(
        of id: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> (version: String, since: WallInstant)? {
        let read = try connection.prepare(
            "SELECT cache_version, version_since FROM archives WHERE id = ?1",
            id
        )
        guard try read.step(), let version = read.text(VersionColumn.version) else { return nil }
        return (version, read.instant(VersionColumn.since))
    }

    static func setVersion(
        _ version: String,
        since now: WallInstant,
        of id: Int64,
        on connection: Connection
    ) throws(SQLiteError) {
        let store = try connection.prepare(
            "UPDATE archives SET version_since = ?2, cache_version = ?3 WHERE id = ?1",
            id,
            now.rawValue
        )
        store.bind(version, at: 3)
        try store.run()
    }
}

/// The totals of an archive, and what else of its row in `archives` changes with its entries. Ids
/// are whole (``EntryID``).
struct ArchiveTotals: Equatable {
    var entries: Int64 = 0
    var bytes: Int64 = 0
    /// The id of the next entry: no id is used twice.
    var nextID: Int64
    /// Every entry up to this id has a touch; a later one may lack it.
    var lowWater: Int64
    /// Every entry up to this id was removed when the archive was emptied, and is deleted in the
    /// background.
    var cleared: Int64
    /// How many records the recency log has.
    var recencyRecords: Int64 = 0
    /// 1 once there was an entry with an age of its own.
    var expiring: Int64 = 0
    var limit = StoredLimit.unknown

    init(ofArchive id: Int64) {
        nextID = EntryID.zero(of: id) + 1
        lowWater = EntryID.zero(of: id)
        cleared = EntryID.zero(of: id)
    }

    /// Whether sums and ranges can be made of these without overflow.
    func isPossible(inArchive id: Int64) -> Bool {
        let possible = 0...Int64(1) << 48
        let zero = EntryID.zero(of: id)
        return [entries, bytes, recencyRecords].allSatisfy(possible.contains) && nextID > zero
            && nextID < EntryID.end(of: id)
            && zero <= cleared && cleared <= lowWater && lowWater < nextID
            && entries < nextID - cleared && 0...1 ~= expiring
            && limit.isPossible
    }

    /// Whether they are others plus some entries that were inserted.
    func extend(_ other: ArchiveTotals, byAtMost count: Int64) -> Bool {
        var extended = other
        extended.entries = entries
        extended.bytes = bytes
        extended.nextID = nextID
        let inserted = nextID - other.nextID
        return extended == self && entries - other.entries == inserted && 0...count ~= inserted
    }
}

extension ArchiveTotals {
    private static let columns =
        """
        entries, bytes, next, low_water, cleared, cleared_check, recency, expiring, max_bytes, \
        is_max_given, cache_version
        """

    static let load = "SELECT \(columns) FROM archives WHERE id = ?1"
    /// The same, and what features the file has, for whoever writes.
    static let loadWithFeatures =
        "SELECT \(columns), \(Features.bitsForWriting) FROM archives WHERE id = ?1"

    private enum Column: Int32 {
        case entries, bytes, next, lowWater, cleared, clearedCheck, recencyRecords, expiring,
            limitBytes, isLimitGiven, cacheVersion,
            features
    }

    /// Whether the file of a row that ``loadWithFeatures`` has read has the table of groups.
    static func fileHasMembers(_ row: Statement) -> Bool {
        row.int(Column.features).value & Features.groups != 0
    }

    /// Whether the row is of an archive that holds this version of a cache.
    static func isOf(version: String, _ row: Statement) -> Bool {
        row.isText(version, at: Column.cacheVersion)
    }

    /// Without the entries from `nextID` on, which ``EntryTable/add(_:to:)`` adds.
    init(_ row: Statement, ofArchive id: Int64) {
        let zero = StoredInteger(EntryID.zero(of: id))
        self.init(ofArchive: id)
        entries = row.int(Column.entries).value
        bytes = row.int(Column.bytes).value
        nextID = (zero + row.int(Column.next)).value
        lowWater = (zero + row.int(Column.lowWater)).value
        // A damaged one is not possible.
        let isIntact = row.int(Column.clearedCheck).isComplement(of: row.int(Column.cleared))
        cleared = isIntact ? (zero + row.int(Column.cleared)).value : .min
        recencyRecords = row.int(Column.recencyRecords).value
        expiring = row.int(Column.expiring).value
        limit = StoredLimit(
            bytes: row.int(Column.limitBytes).value,
            isGiven: row.int(Column.isLimitGiven).value
        )
    }

    static let store = """
        UPDATE archives SET entries = ?2, bytes = ?3, next = ?4, low_water = ?5, cleared = ?6, \
        cleared_check = ?7, recency = ?8, expiring = ?9,
            max_bytes = ?10, is_max_given = ?11
        WHERE id = ?1
        """

    func runStore(_ store: Statement, _ id: Int64) throws(SQLiteError) {
        let zero = EntryID.zero(of: id)
        store.bind(id, at: 1)
        store.bind(entries, at: 2)
        store.bind(bytes, at: 3)
        store.bind(nextID - zero, at: 4)
        store.bind(lowWater - zero, at: 5)
        store.bind(cleared - zero, at: 6)
        store.bind(~(cleared - zero), at: 7)
        store.bind(recencyRecords, at: 8)
        store.bind(expiring, at: 9)
        store.bind(limit.bytes, at: 10)
        store.bind(limit.isGiven, at: 11)
        try store.run()
    }

    /// The id up to which the archive was emptied, and the version of the cache that it holds.
    static func cleared(_ id: Int64) -> String {
        "SELECT cleared, cleared_check, cache_version FROM archives WHERE id = \(id)"
    }

    /// What ``cleared(_:)`` has read; `nil` for no such archive, which has no entries either.
    static func cleared(
        _ row: Statement?,
        ofArchive id: Int64,
        version: String?
    ) throws(SQLiteError) -> Int64 {
        guard let read = row else {
            if version != nil { throw .versionReplaced }
            return .max
        }
        if let version, !read.isText(version, at: 2) { throw .versionReplaced }
        guard read.int(1).isComplement(of: read.int(0)) else {
            throw .corrupt("It is unknown which entries of an archive were removed.")
        }
        return (StoredInteger(EntryID.zero(of: id)) + read.int(0)).value
    }

    /// The low-water mark alone, for a listing.
    static func lowWater(_ id: Int64) -> String {
        "SELECT low_water + \(EntryID.zero(of: id)) FROM archives WHERE id = \(id)"
    }
}
