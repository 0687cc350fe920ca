internal import Foundation
internal import VellumCore

/// The tables of one archive, as any connection reads them: that of a reader, or the writer's while it has an open transaction that no reader
/// can see.
final class ArchiveReader {
    let id: Int64
    let checksum: Checksum
    let connection: Connection
    /// The number of the snapshot that is read.
    var snapshot: UInt64 = 0 {
        didSet { if snapshot != oldValue { (cleared, knownExtent) = (nil, nil) } }
    }
    /// The id up to which the archive was emptied, in this snapshot.
    private var cleared: Int64?
    /// The version of the cache that the archive must hold; `nil` for any.
    private var version: String?
    private var readCleared: Statement?
    private var readEntry: Statement?
    private var readLastUse: Statement?
    private var loadTotals: Statement?
    private var readTail: Statement?
    // What `ArchiveReader+Query` keeps: what the index of a definition covers in this snapshot, and statements.
    var knownExtent: (definition: String?, extent: IndexExtent)?
    var readExtent: Statement?
    var readByID: Statement?
    private var queries: [String: Statement] = [:]

    init(id: Int64, checksum: Checksum, connection: Connection) {
        self.id = id
        self.checksum = checksum
        self.connection = connection
    }

    /// An entry, or the fact that it does not match its checksum. Indirect, because it is passed through many closures.
    indirect enum Found {
        case entry(Entry)
        case damaged
    }

    func entry(forKey key: EntryKey) throws(SQLiteError) -> Found? {
        let cleared = try clearedThrough()
        let read = try prepared(&readEntry, EntryTable.read(id))
        defer { read.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            let hash = checksum.storedHash(ofKey: bytes)
            read.bind(hash, at: 1)
            read.bind(cleared, at: 2)
            var found: Found?
            while try read.step() {
                let row = EntryRow(read)
                if row.keyBytes.elementsEqual(bytes) {
                    let entry = row.entry
                    return checksum.of(entry, key: bytes) == entry.revision ? .entry(entry) : .damaged
                }
                if checksum.storedHash(ofKey: row.keyBytes) == hash { continue }  // Another key with this hash.
                // The row's key is damaged, or the index leads to a sound row of another key: in which case the entry exists, but the index does not find it.
                guard checksum.of(row.entry, key: row.keyBytes) != row.checksum else {
                    throw SQLiteError(code: SQLiteError.corrupt, message: "The index of keys is damaged.")
                }
                found = .damaged
            }
            return found
        }
    }

    /// The id up to which the archive was emptied. Read before any entry: a damaged one must not hide entries.
    @discardableResult
    func clearedThrough() throws(SQLiteError) -> Int64 {
        if let cleared { return cleared }
        let found = try ArchiveTotals.readCleared(try prepared(&readCleared, ArchiveTotals.cleared(id)), ofArchive: id, version: version)
        cleared = found
        return found
    }

    /// Requires that the archive holds this version of a cache.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if it holds another one in this snapshot.
    func require(version: String) throws(SQLiteError) {
        if self.version != version { (self.version, cleared) = (version, nil) }
        try clearedThrough()
    }

    /// The entry's id and its last use in the file.
    func lastUse(ofKey key: EntryKey) throws(SQLiteError) -> Touch? {
        try clearedThrough()
        let read = try prepared(&readLastUse, RecencyTables.lastUse(id))
        defer { read.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            read.bind(bytes, at: 1)
            read.bind(checksum.storedHash(ofKey: bytes), at: 2)
            return try RecencyTables.readLastUse(read)
        }
    }

    func totals() throws(SQLiteError) -> StorageUsage {
        let load = try prepared(&loadTotals, ArchiveTotals.load)
        defer { load.reset() }
        load.bind(id, at: 1)
        guard try load.step() else { return StorageUsage() }
        var totals = ArchiveTotals(load, ofArchive: id)
        try EntryTable.add(try prepared(&readTail, EntryTable.tail(id)), to: &totals)
        return StorageUsage(entries: Int(totals.entries), bytes: Int(totals.bytes))
    }

    /// Whether there was an entry with an age of its own since the archive was emptied.
    func mayExpire() throws(SQLiteError) -> Bool {
        let load = try prepared(&loadTotals, ArchiveTotals.load)
        defer { load.reset() }
        load.bind(id, at: 1)
        return try load.step() ? ArchiveTotals(load, ofArchive: id).expiring != 0 : false
    }

    /// The id of the last entry that was inserted.
    func lastEntryID() throws(SQLiteError) -> Int64 {
        try EntryTable.readLastID(try prepared(query: EntryTable.lastID(id)))
    }

    // MARK: Listing

    /// The keys of valid entries by last use, newest first. Merges three orders: the recency log, the entries above the low-water mark, and
    /// the uses that are not in the file yet.
    func keysByUse(
        limit: Int, validAt now: WallInstant, under expiration: Expiration, pending: [Touch]
    ) throws(SQLiteError) -> [ListedKey] {
        try clearedThrough()
        let lowWater = try connection.int(ArchiveTotals.lowWater(id))?.value ?? 0
        var pending = pending.sorted { $0.stamp > $1.stamp }[...]
        var logged = try Cursor(connection.prepare(RecencyTables.newestRecency(id)))
        let untouchedStatement = try connection.prepare(RecencyTables.newestAboveLowWater(id))
        untouchedStatement.bind(lowWater, at: 1)
        var untouched = try Cursor(untouchedStatement)
        let byID = try connection.prepare(RecencyTables.listedEntry(id))

        var listed = Set<Int64>()
        var keys: [ListedKey] = []
        while keys.count < limit {
            let next = max(pending.first?.stamp.rawValue ?? 0, logged.stamp, untouched.stamp)
            guard next > 0 else { break }
            var found: ListedEntry?
            if let touch = pending.first, touch.stamp.rawValue == next {
                pending.removeFirst()
                found = try Self.listed(touch.entryID, byID)
            } else if logged.stamp == next {
                found = logged.current
                try logged.advance()
            } else {
                found = untouched.current
                try untouched.advance()
            }
            // Each entry is met first under its last use, whichever order it comes from.
            let lastUse = UseStamp(rawValue: next)
            guard let found, listed.insert(found.id).inserted,
                found.validity.contains(now, found.key, lastUse: lastUse, under: expiration)
            else { continue }
            keys.append(ListedKey(key: found.key, lastUse: lastUse, bytes: found.size))
        }
        return keys
    }

    private static func listed(_ entryID: Int64, _ byID: Statement) throws(SQLiteError) -> ListedEntry? {
        defer { byID.reset() }
        byID.bind(entryID, at: 1)
        return try byID.step() ? ListedEntry(byID) : nil
    }

    private struct Cursor {
        private let statement: Statement
        private(set) var stamp: Int64 = 0
        private(set) var current: ListedEntry?

        init(_ statement: Statement) throws(SQLiteError) {
            self.statement = statement
            try advance()
        }

        mutating func advance() throws(SQLiteError) {
            guard try statement.step() else {
                (stamp, current) = (0, nil)
                return
            }
            let entry = ListedEntry(statement)
            // No checksum covers a stamp: a damaged one must not hide the entries after it.
            stamp = entry.stamp.isPossible ? max(entry.stamp.rawValue, 1) : 1
            current = entry
        }
    }

    // MARK: Statements

    /// A query, kept prepared until there are many of them.
    func prepared(query sql: String) throws(SQLiteError) -> Statement {
        // A text of thousands of tests is not asked again in the same words, and takes memory.
        guard sql.utf8.count < 1 << 14 else { return try connection.prepare(sql) }
        if let statement = queries[sql] { return statement }
        let new = try connection.prepare(sql)
        if queries.count >= 64 { queries.removeAll() }
        queries[sql] = new
        return new
    }

    func prepared(_ statement: inout Statement?, _ sql: @autoclosure () -> String) throws(SQLiteError) -> Statement {
        if let statement { return statement }
        let new = try connection.prepare(sql())
        statement = new
        return new
    }
}
