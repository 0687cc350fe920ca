internal import Foundation
internal import VellumCore

/// The tables of one archive, as the writing connection changes them. Used inside the writer's lock, in a transaction.
///
/// `+Writing` carries out writes, `+Eviction` removes the least recently used entries, `+Recency` records uses, and `+Sweep` removes
/// expired entries. The lock excludes other accesses, so none is checked when it runs.
final class ArchiveWriter {
    let id: Int64
    let name: String
    let checksum: Checksum
    /// How many entries the archive may hold. ``totals`` has the limit in bytes.
    @exclusivity(unchecked) var entryLimit = Int.max
    /// Whether limits are ignored, because the content of a damaged or foreign file is being copied.
    @exclusivity(unchecked) var isUnlimited = false
    /// Whether it was logged that an entry was evicted although no caller ever set the archive's size.
    @exclusivity(unchecked) var hasReportedDefault = false
    /// The store that knows of uses that are not in the file yet.
    weak var owner: (any DiskArchiveDelegate)?
    /// The search for obsolete records of the recency log continues after this stamp.
    @exclusivity(unchecked) var trimmedThrough = UseStamp.never

    /// What the open transaction did, or the last one.
    @exclusivity(unchecked) var transaction = Transaction()

    /// What one transaction does to the archive. Begins when the transaction first uses the archive, and ends with it.
    struct Transaction {
        /// The keys that it changes, for other processes.
        var changed = ChangedKeys()
        /// The number of its commit among the archive's changes, where other processes can see it.
        var change: OwnChange?
        /// The uses of entries that it overwrote: the owner learns of them when it is committed.
        var uses: [Int64: UseStamp] = [:]
        var bytesRemoved: Int64 = 0
        /// Those of them that were evicted.
        var bytesEvicted: Int64 = 0
        /// At most so many pages were split, and so many bytes of keys and values stored, as long as the transaction has done nothing but store
        /// entries without an index.
        var splitPages: Int64 = 0
        var newContent: Int64 = 0
        /// Whether it has done something else, which may need any number of pages.
        var hasUnknownGrowth = false
        var hasEmptied = false
        /// Whether it evicted an entry although no caller ever set the archive's size.
        var hasEvictedByDefault = false
    }

    /// The index, which each write keeps up to date.
    let index: IndexWriter

    /// The retention policy of all readers, and the earliest expiry in each block of entries.
    @exclusivity(unchecked) var retention = Retention()
    @exclusivity(unchecked) var sweepMap = SweepMap()
    /// The retention policies of this process.
    @exclusivity(unchecked) var policies: [RetentionPolicy] = []
    /// Whether the policies must be written every day.
    var hasPolicies: Bool { openArchive != nil && !policies.isEmpty }
    /// When this process last wrote them, or found them written.
    @exclusivity(unchecked) var policiesWritten = WallInstant(rawValue: .min)

    /// The archive that is open in this process, if it is.
    @exclusivity(unchecked) private(set) var openArchive: ObjectIdentifier?
    /// The version of the cache for which it is open; `nil` if it is not one.
    @exclusivity(unchecked) private var cacheVersion: String?

    @exclusivity(unchecked) private var mirror: LimitMirror?
    /// Where the archive is listed.
    unowned var registry: ArchiveRegistry?

    /// The open transaction was committed.
    func countEvicted() {
        if transaction.bytesEvicted > 0 { mirror?.countEvicted(Int(transaction.bytesEvicted)) }
    }

    func serve(_ diskArchive: DiskArchive) {
        openArchive = ObjectIdentifier(diskArchive)
        cacheVersion = diskArchive.cacheVersion
        mirror = diskArchive.mirror
        entryLimit = diskArchive.mirror.capacity.entries
    }

    @exclusivity(unchecked) private(set) var connection: Connection
    @exclusivity(unchecked) private var prepared: [Statement?] = Array(repeating: nil, count: StaticStatement.allCases.count)
    /// The totals in the open transaction.
    @exclusivity(unchecked) var totals: ArchiveTotals
    /// ``totals`` when they were loaded or written last.
    @exclusivity(unchecked) private var storedTotals: ArchiveTotals?
    /// The row of the table.
    @exclusivity(unchecked) private var storedRow: ArchiveTotals
    /// Whether an entry that is already in the file was removed, or its size changed, since the row was loaded or written.
    @exclusivity(unchecked) var hasChangedEntries = false

    /// The statements that are kept prepared.
    enum StaticStatement: Int, CaseIterable {
        case loadTotals, tail, storeTotals, findEntry, insertEntry, updateEntry, updateKnown, renewEntry, deleteEntry
        case entryExists, insertTouch, updateTouch, deleteTouch, insertRecency, deleteRecency, oldestRecency, oldestAboveLowWater,
            recencyAfter, datesBetween, deleteFirst, deleteFirstTouches, deleteFirstRecency

        func sql(_ n: Int64) -> String {
            switch self {
            case .loadTotals: ArchiveTotals.load
            case .tail: EntryTable.tail(n)
            case .storeTotals: ArchiveTotals.store
            case .findEntry: EntryTable.find(n)
            case .insertEntry: EntryTable.insert
            case .updateEntry: EntryTable.update
            case .updateKnown: EntryTable.updateKnown
            case .renewEntry: EntryTable.renew
            case .deleteEntry: EntryTable.delete
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
            }
        }
    }

    init(_ found: ArchiveTable.Found, name: String, connection: Connection) {
        let id = found.id
        self.id = id
        self.name = name
        self.checksum = Checksum(archiveName: name, hash: found.hash)
        self.connection = connection
        totals = ArchiveTotals(ofArchive: id)
        storedRow = totals
        index = IndexWriter(archive: id, connection: connection)
    }

    /// Continues with another connection to the same file.
    func use(_ new: Connection) {
        connection = new
        prepared = Array(repeating: nil, count: StaticStatement.allCases.count)
        index.use(new)
        invalidate()
    }

    func statement(_ kind: StaticStatement) throws(SQLiteError) -> Statement {
        if let statement = prepared[kind.rawValue] { return statement }
        let statement = try connection.prepare(kind.sql(id))
        prepared[kind.rawValue] = statement
        return statement
    }

    /// Notes that the transaction changes a key, which is announced to other processes.
    func noteChange(of key: EntryKey) { transaction.changed.insert(checksum.hash.of(key)) }

    /// How many rows the last statement changed.
    var changesCount: Int64 { connection.changesCount }

    // MARK: Totals

    /// Loads ``totals``, unless they are what the file holds.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of the cache.
    func load() throws(SQLiteError) {
        registry?.join(self, isLoaded: storedTotals != nil)
        guard storedTotals == nil else { return }
        try index.load()
        let load = try statement(.loadTotals)
        defer { load.reset() }
        load.bind(id, at: 1)
        let knownLimit = totals.limit
        if try load.step() {
            if let cacheVersion, !ArchiveTotals.isOf(version: cacheVersion, load) {
                versionWasReplaced()
                throw .versionReplaced
            }
            storedRow = ArchiveTotals(load, ofArchive: id)
            totals = storedRow
            // Only of a possible row: the entries from `next` on may otherwise be all there are.
            if storedRow.isPossible(inArchive: id) { try EntryTable.add(try statement(.tail), to: &totals) }
            guard totals.isPossible(inArchive: id) else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "The archive's totals are out of range.")
            }
            // Another process has dropped it, and here it is still open: it keeps its limit.
            hasChangedEntries = openArchive != nil && totals.limit == .unknown && knownLimit != .unknown
            if hasChangedEntries { totals.limit = knownLimit }
        } else {
            guard openArchive == nil else { throw .closedArchive }
            totals = ArchiveTotals(ofArchive: id)
            storedRow = totals
        }
        storedTotals = totals
        mirror?.update(totals.limit)
    }

    /// How much the archive may hold. Loaded with the totals.
    var capacity: Capacity { isUnlimited ? .unlimited : Capacity(bytes: Int(clamping: totals.limit.bytes), entries: entryLimit) }

    /// How many entries may be inserted before the row of the totals is written: as many are read whenever another process has written.
    private static let longestTail: Int64 = 64

    /// Writes ``totals`` and the index's state if they changed, at the end of the transaction. The row of the totals stays as it is while
    /// entries are only inserted and few: it would be one more page in the log.
    func writeTotals() throws(SQLiteError) {
        try index.writeState()
        guard let storedTotals, storedTotals != totals || hasChangedEntries else { return }
        self.storedTotals = totals
        if !hasChangedEntries, storedRow.entries > 0, totals.extend(storedRow, byAtMost: Self.longestTail) { return }
        try totals.runStore(try statement(.storeTotals), id)
        storedRow = totals
        hasChangedEntries = false
    }

    /// Forgets what was loaded: another process wrote, or the transaction was rolled back.
    func invalidate() {
        storedTotals = nil
        index.invalidate()
        transaction = Transaction()
    }

    /// Makes the open archive refuse every call: it holds another version of the cache now.
    func versionWasReplaced() {
        mirror?.setReplaced()
        sweepMap.removeAll()
        policies = []
        owner?.archiveWasReplaced()
    }

    /// Whether ``totals`` are what the file holds, as far as this process knows.
    var isLoaded: Bool { storedTotals != nil }
}

/// The keys of one archive that a transaction changes, as announced to other processes.
struct ChangedKeys {
    /// The most keys that are announced one by one; more are announced as a change of the whole archive. A quarter of the ring.
    private static let most = ChangePage.capacity / 4

    private var keys: [UInt64] = []
    private var isEverything = false

    var isEmpty: Bool { keys.isEmpty && !isEverything }

    /// The hashes of the changed keys; `nil` if the whole archive changed.
    var hashes: [UInt64]? { isEverything ? nil : keys }

    /// - Parameter hash: The hash of the key (``SeededHash``).
    mutating func insert(_ hash: UInt64) {
        guard !isEverything else { return }
        guard keys.count < Self.most else { return insertAll() }
        keys.append(hash)
    }

    mutating func insertAll() {
        isEverything = true
        keys = []
    }
}
