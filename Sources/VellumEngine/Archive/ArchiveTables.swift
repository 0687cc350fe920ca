internal import Foundation
package import VellumCore

/// One archive as one connection sees it: the prepared statements for its rows in the shared tables
/// and for its index, and what was read of them.
///
/// A connection that reads sees a snapshot. The one that writes sees its open transaction. Guarded
/// by the lock of its connection, so Swift's checks for exclusive access are off.
package final class ArchiveTables {
    package let id: Int64
    package let checksum: Checksum
    package let connection: Connection
    /// The number of the snapshot that is read.
    @exclusivity(unchecked) var snapshot: UInt64 = 0 {
        didSet {
            if snapshot != oldValue {
                cleared = nil
                knownExtent = nil
            }
        }
    }
    /// The id up to which the archive was emptied, in this snapshot.
    @exclusivity(unchecked) private var cleared: Int64?
    /// What the index of a definition covers in this snapshot.
    @exclusivity(unchecked) var knownExtent: (definition: String?, extent: IndexExtent)?
    /// The version of the cache that the archive must hold; `nil` for any.
    @exclusivity(unchecked) private var version: String?
    /// What the last transaction of this connection left in the file; `nil` if that is unknown.
    @exclusivity(unchecked) var contents: ArchiveContents?
    @exclusivity(unchecked) private var prepared: [Statement?] = Array(
        repeating: nil,
        count: ArchiveStatement.allCases.count
    )
    @exclusivity(unchecked) private var indexStatements: [IndexStatement: Statement] = [:]
    /// The index that they are for.
    @exclusivity(unchecked) private var indexDefinition: String?
    @exclusivity(unchecked) private var queries: [String: Statement] = [:]
    /// Some of them, by the codes of the shapes of simple queries.
    @exclusivity(unchecked) var shapes: [UInt64: Statement] = [:]

    init(id: Int64, checksum: Checksum, connection: Connection) {
        self.id = id
        self.checksum = checksum
        self.connection = connection
    }

    /// An entry, or the fact that it does not match its checksum. Indirect, because it is passed
    /// through many closures.
    package indirect enum Found {
        case entry(Entry)
        case damaged
    }

    /// What is under the keys, in their order.
    func entries(forKeys keys: [EntryKey]) throws(SQLiteError) -> [Found?] {
        var found: [Found?] = []
        found.reserveCapacity(keys.count)
        for key in keys { found.append(try entry(forKey: key)) }
        return found
    }

    package func entry(forKey key: EntryKey) throws(SQLiteError) -> Found? {
        let cleared = try clearedThrough()
        let read = try statement(.readEntry)
        defer { read.reset() }
        let hash = checksum.storedHash(ofKey: key)
        read.bind(hash, at: 1)
        read.bind(cleared, at: 2)
        var found: Found?
        while try read.step() {
            let row = EntryRow(read)
            if key.hasBytes(row.keyBytes) {
                let entry = row.entry
                return checksum.of(entry, key: row.keyBytes) == entry.revision
                    ? .entry(entry) : .damaged
            }
            // Another key with this hash.
            if checksum.storedHash(ofKey: row.keyBytes) == hash { continue }
            // The row's key is damaged, or the index leads to a sound row of another key: in which
            // case the entry exists, but the index does not find it.
            guard checksum.of(row.entry, key: row.keyBytes) != row.checksum else {
                throw .corrupt("The index of keys is damaged.")
            }
            found = .damaged
        }
        return found
    }

    /// The id up to which the archive was emptied. Read before any entry: a damaged one must not
    /// hide entries.
    @discardableResult
    package func clearedThrough() throws(SQLiteError) -> Int64 {
        if let cleared { return cleared }
        let read = try statement(.cleared)
        defer { read.reset() }
        let found = try ArchiveTotals.cleared(
            try read.step() ? read : nil,
            ofArchive: id,
            version: version
        )
        cleared = found
        return found
    }

    /// Requires that the archive holds this version of a cache.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if it holds another one in this snapshot.
    func require(version: String) throws(SQLiteError) {
        if self.version != version {
            self.version = version
            cleared = nil
        }
        try clearedThrough()
    }

    /// The entry's id and its last use in the file.
    package func lastUse(ofKey key: EntryKey) throws(SQLiteError) -> Touch? {
        try lastUse(ofKey: key, after: try clearedThrough())
    }

    /// - Parameter cleared: The id up to which the archive was emptied.
    func lastUse(ofKey key: EntryKey, after cleared: Int64) throws(SQLiteError) -> Touch? {
        let read = try statement(.lastUse)
        defer { read.reset() }
        read.bind(copying: key, at: 1)
        read.bind(checksum.storedHash(ofKey: key), at: 2)
        read.bind(cleared, at: 3)
        return try RecencyTables.readLastUse(read)
    }

    package func totals() throws(SQLiteError) -> StorageUsage {
        guard var totals = try loadTotals() else { return StorageUsage() }
        try EntryTable.add(try statement(.tail), to: &totals)
        return StorageUsage(entries: Int(totals.entries), bytes: Int(totals.bytes))
    }

    /// Whether there was an entry with an age of its own since the archive was emptied.
    func mayExpire() throws(SQLiteError) -> Bool {
        try loadTotals()?.expiring ?? 0 != 0
    }

    /// The totals, without the entries that were inserted since; `nil` if there is no such archive.
    func loadTotals() throws(SQLiteError) -> ArchiveTotals? {
        let load = try statement(.loadTotals)
        defer { load.reset() }
        load.bind(id, at: 1)
        return try load.step() ? ArchiveTotals(load, ofArchive: id) : nil
    }

    /// The id of the last entry that was inserted.
    func lastEntryID() throws(SQLiteError) -> Int64 {
        try statement(.lastID).firstInt()
    }

    // MARK: Listing

    /// The keys of valid entries, or of all, by last use, newest first. Merges three orders: the
    /// recency log, the entries above the low-water mark, and the uses that are not in the file
    /// yet.
    package func keysByUse(
        limit: Int,
        validAt now: WallInstant,
        under expiration: Expiration,
        withExpired: Bool,
        pending: [Touch]
    ) throws(SQLiteError) -> [ListedKey] {
        try clearedThrough()
        let lowWater = try connection.int(ArchiveTotals.lowWater(id))?.value ?? 0
        var pending = pending.sorted { $0.stamp > $1.stamp }[...]
        var logged = try Cursor(connection.prepare(RecencyTables.newestRecency(id)))
        var untouched = try Cursor(
            connection.prepare(RecencyTables.newestAboveLowWater(id), lowWater)
        )
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
            guard let found, listed.insert(found.id).inserted else { continue }
            let isValid = found.validity.contains(
                now,
                found.key,
                lastUse: lastUse,
                under: expiration
            )
            if isValid || withExpired {
                keys.append(
                    ListedKey(key: found.key, lastUse: lastUse, bytes: found.size, isValid: isValid)
                )
            }
        }
        return keys
    }

    private static func listed(
        _ entryID: Int64,
        _ byID: Statement
    ) throws(SQLiteError) -> ListedEntry? {
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
                stamp = 0
                current = nil
                return
            }
            let entry = ListedEntry(statement)
            // No checksum covers a stamp: a damaged one must not hide the entries after it.
            stamp = entry.stamp.isPossible ? max(entry.stamp.rawValue, 1) : 1
            current = entry
        }
    }

    // MARK: Groups

    /// Whether the file has the table of groups, in this snapshot.
    package func fileHasMembers() throws(SQLiteError) -> Bool {
        try connection.int(MemberTable.isThere) ?? 0 > 0
    }

    func hasMembers() throws(SQLiteError) -> Bool {
        let any = try statement(.anyMember)
        defer { any.reset() }
        return try any.step()
    }

    /// The entries of a group.
    ///
    /// - Parameter cleared: The id up to which the archive was emptied.
    func members(of group: EntryKey, after cleared: Int64) throws(SQLiteError) -> [ListedEntry] {
        let list = try statement(.listMembers)
        defer { list.reset() }
        list.bind(group.normalized, at: 1)
        list.bind(cleared, at: 2)
        var found: [ListedEntry] = []
        while try list.step() { found.append(ListedEntry(list)) }
        return found
    }

    /// The groups of an entry.
    ///
    /// - Parameter revision: That of the entry: rows of another value are left out; `nil` for all.
    package func groups(of entryID: Int64, revision: UInt32? = nil) throws(SQLiteError) -> [String]
    {
        let read = try statement(.groupsOfEntry)
        defer { read.reset() }
        read.bind(entryID, at: 1)
        read.bind(revision.map(Checksum.stored), at: 2)
        return try MemberTable.readNames(read)
    }

    // MARK: Statements

    /// A query, kept prepared until there are many of them.
    package func prepared(query sql: String) throws(SQLiteError) -> Statement {
        // A text of thousands of tests is not asked again in the same words, and takes memory.
        guard sql.utf8.count < 1 << 14 else { return try connection.prepare(sql) }
        if let statement = queries[sql] { return statement }
        let new = try connection.prepare(sql)
        if queries.count >= 64 { queries.removeAll() }
        queries[sql] = new
        return new
    }

    func statement(_ kind: ArchiveStatement) throws(SQLiteError) -> Statement {
        if let statement = prepared[kind.rawValue] { return statement }
        let new = try connection.prepare(kind.sql(id))
        prepared[kind.rawValue] = new
        return new
    }

    /// A statement of the index, kept prepared until there is another index.
    func statement(
        _ kind: IndexStatement,
        _ sql: @autoclosure () -> String
    ) throws(SQLiteError) -> Statement {
        if let statement = indexStatements[kind] { return statement }
        let new = try connection.prepare(sql())
        indexStatements[kind] = new
        return new
    }

    /// Forgets the statements of another index.
    func useIndexStatements(of definition: String?) {
        guard definition != indexDefinition else { return }
        indexDefinition = definition
        forgetIndexStatements()
    }

    func forgetIndexStatements() { if !indexStatements.isEmpty { indexStatements = [:] } }
}

/// The statements that are kept prepared for each archive.
enum ArchiveStatement: Int, CaseIterable {
    case cleared, readEntry, readByID, readByIDs, between, lastUse, lastID, extent
    case loadTotals, loadContents, tail, storeTotals, findEntry, insertEntry, updateEntry,
        updateKnown, renewEntry, deleteEntry, revision
    case entryExists, insertTouch, updateTouch, deleteTouch, insertRecency, deleteRecency,
        oldestRecency, oldestAboveLowWater,
        recencyAfter, datesBetween, deleteFirst, deleteFirstTouches, deleteFirstRecency
    case loadIndex, storeIndex
    case anyMember, insertMember, deleteMembers, renewMembers, deleteFirstMembers, listMembers,
        groupsOfEntry

    func sql(_ n: Int64) -> String {
        switch self {
        case .cleared: ArchiveTotals.cleared(n)
        case .readEntry: EntryTable.read(n)
        case .readByID: EntryTable.readByID(n)
        case .readByIDs: EntryTable.readByIDs(n)
        case .between: EntryTable.between(n)
        case .lastUse: RecencyTables.lastUse(n)
        case .lastID: EntryTable.lastID(n)
        case .extent: IndexExtent.load
        case .loadTotals: ArchiveTotals.load
        case .loadContents: ArchiveTotals.loadWithFeatures
        case .tail: EntryTable.tail(n)
        case .storeTotals: ArchiveTotals.store
        case .findEntry: EntryTable.find(n)
        case .insertEntry: EntryTable.insert
        case .updateEntry: EntryTable.update
        case .updateKnown: EntryTable.updateKnown
        case .renewEntry: EntryTable.renew
        case .deleteEntry: EntryTable.delete
        case .revision: EntryTable.revision
        case .entryExists: EntryTable.exists
        case .insertTouch: RecencyTables.insertTouch
        case .updateTouch: RecencyTables.updateTouch
        case .deleteTouch: RecencyTables.deleteTouch
        case .insertRecency: RecencyTables.insertRecency
        case .deleteRecency: RecencyTables.deleteRecency
        case .oldestRecency: RecencyTables.oldestRecency
        case .oldestAboveLowWater: RecencyTables.oldestAboveLowWater(n)
        case .recencyAfter: RecencyTables.recencyAfter
        case .datesBetween: EntryTable.datesBetween
        case .deleteFirst: EntryTable.deleteFirst
        case .deleteFirstTouches: RecencyTables.deleteFirstTouches
        case .deleteFirstRecency: RecencyTables.deleteFirstRecency
        case .loadIndex: IndexState.load
        case .storeIndex: IndexState.store
        case .anyMember: MemberTable.any(n)
        case .insertMember: MemberTable.insert
        case .deleteMembers: MemberTable.delete
        case .renewMembers: MemberTable.renew
        case .deleteFirstMembers: MemberTable.deleteFirst
        case .listMembers: MemberTable.list(n)
        case .groupsOfEntry: MemberTable.groups
        }
    }
}

/// The statements of an archive's index, which depend on its columns.
enum IndexStatement: Hashable {
    case insertColumns, selectColumns, deleteColumns, insertElement(Int), deleteElement(Int)
    case insertUnindexed, deleteUnindexed
}
