internal import Foundation
internal import VellumCore

/// The tables of one archive, as the writing connection changes them. Used inside the writer's lock, in a transaction.
///
/// `+Writing` carries out writes, `+Eviction` removes the least recently used entries, `+Recency` records uses, and `+Sweep` removes
/// expired entries.
final class ArchiveWriter {
    let id: Int64
    let name: String
    let checksum: Checksum
    /// How many entries the archive may hold. ``totals`` has the limit in bytes.
    var entryLimit = Int.max
    /// Whether limits are ignored, because the content of a damaged or foreign file is being copied.
    var isUnlimited = false
    /// Whether the open transaction evicted an entry although no caller ever set the archive's size.
    var hasEvictedByDefault = false
    /// Whether that was logged.
    var hasReportedDefault = false
    /// The store that knows of uses that are not in the file yet.
    weak var owner: (any DiskArchiveDelegate)?
    /// Uses of entries that the open transaction overwrote: the owner learns of them when it ends.
    var touchesInTransaction: [Int64: UseStamp] = [:]
    /// The search for obsolete records of the recency log continues after this stamp.
    var trimmedThrough = UseStamp.never

    /// What the open transaction changed, for other processes.
    var changed = ChangedKeys()
    /// The number of the last commit among the archive's changes, where other processes can see it.
    var lastChange: OwnChange?

    /// The index, which each write keeps up to date.
    let index: IndexWriter

    /// The retention policy of all readers, and the earliest expiry in each block of entries.
    var retention = Retention()
    var sweepMap = SweepMap()
    /// The retention policies of this process.
    var policies: [RetentionPolicy] = []
    /// Shared by archives that replace one another.
    var versionGroup: String?
    /// Whether the file must record every day that this process has the archive open.
    var needsHeartbeat: Bool { openArchive != nil && (versionGroup != nil || !policies.isEmpty) }
    /// When this process last recorded that, or found it recorded.
    var heartbeatWritten = WallInstant(rawValue: .min)
    /// When the archive was last open, if it is not open in this process.
    var seen = WallInstant.never
    /// The other archives of the version group. Their content counts toward the limit and is evicted first. Unowned, because two archives
    /// may be siblings of each other; ``WriteConnection`` keeps the writers and updates this list.
    var siblings: [Sibling] = []
    /// Entries that the open transaction evicted to make room in a sibling: the owner learns of them when it ends.
    var lostToSibling: [RemovedEntry] = []

    /// The archive that is open in this process, if it is.
    private(set) var openArchive: ObjectIdentifier?

    private var mirror: LimitMirror?

    func serve(_ diskArchive: DiskArchive) {
        openArchive = ObjectIdentifier(diskArchive)
        mirror = diskArchive.mirror
        entryLimit = diskArchive.mirror.capacity.entries
    }

    private(set) var connection: Connection
    private var prepared: [Statement?] = Array(repeating: nil, count: StaticStatement.allCases.count)
    /// The totals in the open transaction.
    var totals = ArchiveTotals()
    private var storedTotals: ArchiveTotals?
    /// Bytes that were removed since free pages were last returned to the file system.
    var bytesRemoved: Int64 = 0

    /// The statements that are kept prepared.
    enum StaticStatement: Int, CaseIterable {
        case loadTotals, storeTotals, findEntry, insertEntry, updateEntry, deleteEntry
        case entryExists, insertTouch, updateTouch, deleteTouch, insertRecency, deleteRecency, oldestRecency, oldestAboveLowWater,
            recencyAfter, datesBetween

        func sql(_ n: Int64) -> String {
            switch self {
            case .loadTotals: ArchiveTotals.load
            case .storeTotals: ArchiveTotals.store
            case .findEntry: EntryTable.find(n)
            case .insertEntry: EntryTable.insert(n)
            case .updateEntry: EntryTable.update(n)
            case .deleteEntry: EntryTable.delete(n)
            case .entryExists: EntryTable.exists(n)
            case .insertTouch: RecencyTables.insertTouch(n)
            case .updateTouch: RecencyTables.updateTouch(n)
            case .deleteTouch: RecencyTables.deleteTouch(n)
            case .insertRecency: RecencyTables.insertRecency(n)
            case .deleteRecency: RecencyTables.deleteRecency(n)
            case .oldestRecency: RecencyTables.oldestRecency(n)
            case .oldestAboveLowWater: RecencyTables.oldestAboveLowWater(n)
            case .recencyAfter: RecencyTables.recencyAfter(n)
            case .datesBetween: EntryTable.datesBetween(n)
            }
        }
    }

    init(id: Int64, name: String, connection: Connection) {
        self.id = id
        self.name = name
        self.checksum = Checksum(archiveName: name)
        self.connection = connection
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

    /// How many rows the last statement changed.
    func changes() -> Int64 { connection.changes }

    // MARK: Totals

    /// Loads ``totals`` and those of the siblings, unless they are what the file holds.
    func load() throws(SQLiteError) {
        try loadOwn()
        for sibling in siblings { try sibling.archive.loadOwn() }
    }

    private func loadOwn() throws(SQLiteError) {
        guard storedTotals == nil else { return }
        try index.load()
        let load = try statement(.loadTotals)
        defer { load.reset() }
        load.bind(id, at: 1)
        if try load.step() {
            totals = ArchiveTotals(load)
            guard totals.isPossible else {
                throw SQLiteError(code: SQLiteError.corrupt, message: "The archive's totals are out of range.")
            }
        } else {
            // It was not open anywhere for weeks, and another process dropped it.
            guard openArchive == nil else { throw .closedArchive }
            totals = ArchiveTotals()
        }
        storedTotals = totals
        mirror?.update(totals.limit)
    }

    /// How much the archive may hold. Loaded with the totals.
    var capacity: Capacity { isUnlimited ? .unlimited : Capacity(bytes: Int(clamping: totals.limit.bytes), entries: entryLimit) }

    /// Writes ``totals`` and the index's state if they changed, at the end of the transaction.
    func writeTotals() throws(SQLiteError) {
        try index.writeState()
        guard let storedTotals, storedTotals != totals else { return }
        try totals.runStore(try statement(.storeTotals), id)
        self.storedTotals = totals
    }

    /// Forgets what was loaded: another process wrote, or the transaction was rolled back.
    func invalidate() {
        storedTotals = nil
        index.invalidate()
        changed = ChangedKeys()
        touchesInTransaction.removeAll()
        lostToSibling.removeAll()
        hasEvictedByDefault = false
    }

    /// Marks the archive as closed. It may still be a sibling of an open one.
    func retire(at now: WallInstant) {
        openArchive = nil
        mirror = nil
        owner = nil
        policies = []
        seen = now
    }
}
