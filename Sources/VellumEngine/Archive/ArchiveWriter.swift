internal import Foundation
internal import VellumCore

/// The rows of one archive, as the writing connection changes them. Used inside the writer's lock, in a transaction.
///
/// `+Eviction` removes the coldest, `+Recency` keeps the order of use.
final class ArchiveWriter {
    let id: Int64
    let name: String
    let checksum: Checksum
    /// How many entries the archive may hold. The bytes stand in ``row``.
    var entryLimit = Int.max
    /// Whether no limit counts, because what a damaged or foreign file holds is being copied.
    var isUnlimited = false
    /// Whether the open transaction evicted something though nobody ever gave the archive a size.
    var hasEvictedByDefault = false
    /// Whether that was logged.
    var hasReportedDefault = false
    /// Whom to ask for uses that were not written yet.
    weak var owner: (any DiskArchiveDelegate)?
    /// Uses of entries that were overwritten in the open transaction: their owner learns of them after it.
    var usesInTransaction: [Int64: UseStamp] = [:]
    /// Where the search for marks that mean nothing any more goes on.
    var trimmedMarks: Int64 = 0

    /// What the open transaction changed, for others to know.
    var changed = ChangedKeys()
    /// The place of the last commit among the changes of the archive, where others can know of it.
    var lastChange: OwnChange?

    /// What is kept beside the rows for queries.
    let index: IndexWriter

    /// Until when entries are wanted, and where some will not be any more.
    var retention = Retention()
    var sweepMap = SweepMap()
    /// What this process says of the retention.
    var policies: [RetentionPolicy] = []
    /// What the archive has in common with those it replaced, if it did.
    var versionGroup: String?
    /// Whether the file must be told day by day that this process has the archive open.
    var saysOfItself: Bool { diskArchive != nil && (versionGroup != nil || !policies.isEmpty) }
    /// When the file was last told that this process has the archive open.
    var presenceWritten = WallInstant(rawValue: .min)
    /// When the archive was last opened, where it is one that is not open here.
    var seen = WallInstant.never
    /// What the others of its family hold counts toward its limit, and leaves first. Unowned, for two may be each other's; whoever
    /// keeps them all sees to it (``WriteConnection/settleFamilies()``).
    var siblings: [Sibling] = []
    /// What left it in the open transaction to make room in a relative: its owner learns of it.
    var lostToRelative: [RemovedEntry] = []

    /// The tier that this serves, if any.
    private(set) var diskArchive: ObjectIdentifier?

    private var mirror: LimitMirror?

    func serve(_ diskArchive: DiskArchive) {
        self.diskArchive = ObjectIdentifier(diskArchive)
        mirror = diskArchive.mirror
        entryLimit = diskArchive.mirror.capacity.entries
    }

    private(set) var connection: Connection
    private var prepared: [Statement?] = Array(repeating: nil, count: StaticStatement.allCases.count)
    private(set) var row = Row()
    private var storedRow: Row?
    /// Bytes that were removed and not yet looked at by whoever gives space back.
    var bytesRemoved: Int64 = 0

    /// The statements that are kept prepared.
    enum StaticStatement: Int, CaseIterable {
        case loadTotals, storeTotals, findEntry, insertEntry, updateEntry, deleteEntry
        case entryExists, insertTouch, updateTouch, deleteTouch, addRecency, deleteRecency, oldestRecency, oldestAboveLowWater,
            recencyAfter, datesBetween

        func sql(_ n: Int64) -> String {
            switch self {
            case .loadTotals: SQL.loadTotals
            case .storeTotals: SQL.storeTotals
            case .findEntry: SQL.findEntry(n)
            case .insertEntry: SQL.insertEntry(n)
            case .updateEntry: SQL.updateEntry(n)
            case .deleteEntry: SQL.deleteEntry(n)
            case .entryExists: SQL.entryExists(n)
            case .insertTouch: SQL.insertTouch(n)
            case .updateTouch: SQL.updateTouch(n)
            case .deleteTouch: SQL.deleteTouch(n)
            case .addRecency: SQL.addRecency(n)
            case .deleteRecency: SQL.deleteRecency(n)
            case .oldestRecency: SQL.oldestRecency(n)
            case .oldestAboveLowWater: SQL.oldestAboveLowWater(n)
            case .recencyAfter: SQL.recencyAfter(n)
            case .datesBetween: SQL.datesBetween(n)
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

    /// Goes on with another connection to the same file.
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

    // MARK: Totals

    /// Makes sure that ``row`` is what the file holds, and that of each relative.
    func load() throws(SQLiteError) {
        try loadOwn()
        for sibling in siblings { try sibling.archive.loadOwn() }
    }

    private func loadOwn() throws(SQLiteError) {
        guard storedRow == nil else { return }
        try index.load()
        let load = try statement(.loadTotals)
        defer { load.reset() }
        load.bind(id, at: 1)
        if try load.step() {
            row = Row(
                entries: load.int(0), bytes: load.int(1), next: load.int(2), settled: load.int(3), marks: load.int(4),
                expiring: load.int(5), limit: StoredLimit(bytes: load.int(6), isGiven: load.int(7)))
            // Sums and ranges are made of these.
            guard row.isPossible else { throw SQLiteError(code: SQLiteError.corrupt, message: "The totals of an archive are none.") }
        } else {
            // Nobody had opened it for weeks, and another process dropped it.
            guard diskArchive == nil else { throw .closedArchive }
            row = Row()
        }
        storedRow = row
        mirror?.update(row.limit)
    }

    /// How much the archive may hold. Loaded with the totals.
    var capacity: Capacity { isUnlimited ? .unlimited : Capacity(bytes: Int(clamping: row.limit.bytes), entries: entryLimit) }

    /// Writes ``row`` if it changed, at the end of the transaction.
    func store() throws(SQLiteError) {
        try index.store()
        guard let storedRow, storedRow != row else { return }
        let store = try statement(.storeTotals)
        store.bind(id, at: 1)
        store.bind(row.entries, at: 2)
        store.bind(row.bytes, at: 3)
        store.bind(row.next, at: 4)
        store.bind(row.settled, at: 5)
        store.bind(row.marks, at: 6)
        store.bind(row.expiring, at: 7)
        store.bind(row.limit.bytes, at: 8)
        store.bind(row.limit.isGiven, at: 9)
        try store.run()
        self.storedRow = row
    }

    /// Forgets ``row``: another process wrote, or the transaction was rolled back.
    func invalidate() {
        storedRow = nil
        index.invalidate()
        changed = ChangedKeys()
        usesInTransaction.removeAll()
        lostToRelative.removeAll()
        hasEvictedByDefault = false
    }

    /// The tier is closed, but the archive may still be a relative of another.
    func retire(at now: WallInstant) {
        diskArchive = nil
        mirror = nil
        owner = nil
        policies = []
        seen = now
    }

    /// How many rows the last statement changed.
    func changes() -> Int64 { connection.changes }

    func change(_ body: (inout Row) -> Void) { body(&row) }

    // MARK: Writing

    func apply(_ write: ArchiveWrite) throws(SQLiteError) -> WriteOutcome {
        var outcome = WriteOutcome()
        if let condition = write.condition, try !isMet(condition, write.key) {
            outcome.wasDeclined = true
            return outcome
        }
        switch write.change {
        case .store(let entry):
            try store(entry, write, onlyIfAbsent: false, &outcome)
        case .storeIfAbsent(let entry):
            try store(entry, write, onlyIfAbsent: true, &outcome)
        case .remove:
            if let present = try find(write.key) {
                outcome.wasPresent = true
                try delete(row: present.row, bytes: present.bytes, key: write.key)
            } else {
                changed.insert(write.key)  // It may live in the memory of another process alone.
            }
        case .removeUnchanged(let number, let revision):
            if let present = try find(write.key), present.row == number, present.revision == revision {
                outcome.wasPresent = true
                try delete(row: number, bytes: present.bytes, key: write.key)
            } else {
                outcome.wasDeclined = true
            }
        case .removeAll:
            outcome.wasPresent = row.entries > 0
            try removeAll()
        }
        return outcome
    }

    private func isMet(_ condition: WriteCondition, _ key: EntryKey) throws(SQLiteError) -> Bool {
        guard let present = try find(key) else { return condition.isMet(by: nil, isValid: false) }
        let version = EntryVersion(row: present.row, written: present.validity.written, revision: present.revision)
        var lastUse = present.lastUse
        if !present.validity.isOwn, condition.expiration.idle != .max {
            lastUse = try latestUse(of: RemovedEntry(key: key, row: present.row))
        }
        return condition.isMet(
            by: version, isValid: present.validity.contains(condition.now, key, lastUse: lastUse, under: condition.expiration))
    }

    private func store(
        _ entry: Entry, _ write: ArchiveWrite, onlyIfAbsent: Bool, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        // The store asked already; another process may have lowered the limit since.
        guard entry.bytes.count <= capacity.bytes || write.isKeptInMemory else { throw .tooLarge }
        try store(entry, write.key, write.stamp, onlyIfAbsent: onlyIfAbsent, &outcome)
    }

    private func store(
        _ entry: Entry, _ key: EntryKey, _ stamp: UseStamp, onlyIfAbsent: Bool, _ outcome: inout WriteOutcome
    ) throws(SQLiteError) {
        let present = try find(key)
        outcome.wasPresent = present != nil
        if onlyIfAbsent, let present, present.validity.contains(entry.written, key, lastUse: present.lastUse) {
            outcome.wasDeclined = true
            return
        }
        guard entry.bytes.count <= capacity.bytes else {
            // It skips this tier and evicts nothing, but what it replaces must not come back.
            if let present { try delete(row: present.row, bytes: present.bytes, key: key) } else { changed.insert(key) }
            return
        }
        changed.insert(key)
        if let present {
            try update(present.row, key, entry)
            CrashPoint.reached(.entryUpdated)
            row.bytes += Int64(entry.bytes.count) - present.bytes
            usesInTransaction[present.row] = stamp
            outcome.row = present.row
            try index.didStore(present.row, entry.indexed, isNew: false)
        } else {
            outcome.row = row.next
            try insert(outcome.row, key, entry, stamp)
            CrashPoint.reached(.entryInserted)
            row.next += 1
            row.entries += 1
            row.bytes += Int64(entry.bytes.count)
            try index.didStore(outcome.row, entry.indexed, isNew: true)
        }
        if entry.validity.isOwn { row.expiring = 1 }
        noteEnd(outcome.row, entry, lastUse: stamp)
        CrashPoint.reached(.entryIndexed)
        outcome.evicted = try evict().removed.map(\.key)
        CrashPoint.reached(.roomMade)
    }

    private struct Present {
        var row: Int64
        var bytes: Int64
        var validity: Validity
        var lastUse: UseStamp
        var revision: UInt32
    }

    private func find(_ key: EntryKey) throws(SQLiteError) -> Present? {
        let find = try statement(.findEntry)
        defer { find.reset() }
        return try key.withBytes { (bytes) throws(SQLiteError) in
            find.bind(bytes, at: 1)
            guard try find.step() else { return nil }
            let validity = Validity(
                written: WallInstant(rawValue: find.int(2)), expires: find.optionalInt(3).map(WallInstant.init(rawValue:)),
                idle: find.optionalInt(5))
            let written = UseStamp(rawValue: find.int(6))
            let lastUse = validity.idle == .max ? written : max(written, owner?.latestUse(ofKey: key, row: find.int(0)) ?? .never)
            return Present(
                row: find.int(0), bytes: find.int(1), validity: validity, lastUse: lastUse,
                revision: UInt32(truncatingIfNeeded: find.int(4)))
        }
    }

    private func insert(_ number: Int64, _ key: EntryKey, _ entry: Entry, _ stamp: UseStamp) throws(SQLiteError) {
        let insert = try statement(.insertEntry)
        try withParts(key, entry) { (keyBytes, bytes, checksum) throws(SQLiteError) in
            insert.bind(number, at: 1)
            insert.bind(keyBytes, at: 2)
            insert.bind(entry.written.rawValue, at: 3)
            insert.bind(entry.expires?.rawValue, at: 4)
            insert.bind(entry.idle, at: 5)
            insert.bind(stamp.rawValue, at: 6)
            insert.bind(Int64(checksum), at: 7)
            insert.bind(bytes, at: 8)
            try insert.run()
        }
    }

    private func update(_ number: Int64, _ key: EntryKey, _ entry: Entry) throws(SQLiteError) {
        let update = try statement(.updateEntry)
        try withParts(key, entry) { (_, bytes, checksum) throws(SQLiteError) in
            update.bind(number, at: 1)
            update.bind(entry.written.rawValue, at: 2)
            update.bind(entry.expires?.rawValue, at: 3)
            update.bind(entry.idle, at: 4)
            update.bind(Int64(checksum), at: 5)
            update.bind(bytes, at: 6)
            try update.run()
        }
    }

    /// Hands out the bytes of key and value, which stay where they are meanwhile, and their checksum.
    private func withParts(
        _ key: EntryKey, _ entry: Entry,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UInt32) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try key.withBytes { (keyBytes) throws(SQLiteError) in
            let result = entry.bytes.withUnsafeBytes { bytes -> Result<Void, SQLiteError> in
                let checksum = checksum.of(
                    key: keyBytes, written: entry.written.rawValue, expires: entry.expires?.rawValue, idle: entry.idle, bytes: bytes)
                return Result { () throws(SQLiteError) in try body(keyBytes, bytes, checksum) }
            }
            try result.get()
        }
    }

    /// Takes over an entry of a damaged file.
    func salvage(_ entry: Entry, _ key: EntryKey, at now: WallInstant) throws(SQLiteError) {
        // No later than now: every use from now on is stamped later than the last.
        let last = min(max(UseStamp(startOf: entry.written), entry.lastUse), UseStamp(startOf: now))
        let stamp = UseStamp(rawValue: (last.rawValue & ~0xFFFFF) + row.next & 0xFFFFF)
        var outcome = WriteOutcome()
        try store(entry, key, stamp, onlyIfAbsent: false, &outcome)
    }

    // MARK: Removing

    func delete(row number: Int64, bytes: Int64, key: EntryKey) throws(SQLiteError) {
        changed.insert(key)
        let delete = try statement(.deleteEntry)
        delete.bind(number, at: 1)
        try delete.run()
        CrashPoint.reached(.entryDeleted)
        let deleteTouch = try statement(.deleteTouch)
        deleteTouch.bind(number, at: 1)
        try deleteTouch.run()
        CrashPoint.reached(.useDeleted)
        try index.didRemove(number)
        CrashPoint.reached(.deletionIndexed)
        usesInTransaction[number] = nil
        row.entries -= 1
        row.bytes -= bytes
        bytesRemoved += bytes
    }

    private func removeAll() throws(SQLiteError) {
        for sql in [SQL.deleteAllEntries(id), SQL.deleteAllTouches(id), SQL.deleteAllRecency(id)] { try connection.execute(sql) }
        CrashPoint.reached(.allDeleted)
        try index.didRemoveAll()
        changed.insertAll()
        usesInTransaction.removeAll()
        bytesRemoved += row.bytes
        row.entries = 0
        row.bytes = 0
        row.settled = row.next - 1
        row.marks = 0
        row.expiring = 0
    }
}
