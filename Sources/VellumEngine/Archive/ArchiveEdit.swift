internal import Synchronization
internal import VellumCore

/// What one transaction does to one archive. Made when the transaction first uses the archive, and
/// gone with it.
///
/// `+Writing` carries out writes, `+Index` keeps the index up to date, `+Eviction` removes the
/// least recently used entries, `+Recency` records uses, `+Sweep` removes expired entries, and
/// `+Migration` replaces those of older versions. Used inside the writer's lock, so Swift's checks
/// for exclusive access are off.
final class ArchiveEdit {
    let archive: Archive
    let tables: ArchiveTables
    /// What the transaction has done so far. Can be put back.
    @exclusivity(unchecked) var state: State
    /// The entries that it removes without deleting their rows; `nil` if it deletes them
    /// (``RemovedTable``).
    @exclusivity(unchecked) var removed: Set<Int64>?
    /// Outlives it.
    unowned(unsafe) let writer: Writer

    struct State {
        /// What the archive holds.
        var contents: ArchiveContents
        /// Whether the index is the one that this process declared.
        var isIndexOurs = false
        /// The keys that it changes, for other processes.
        var changed = ChangedKeys()
        /// How many of them this process was told of.
        var told = 0
        /// The number of its commit among the archive's changes, where other processes can see it.
        var change: OwnChange?
        /// What was removed without a write of its key.
        var removed: [Commit.Removal] = []
        /// The uses of entries that it overwrote: the owner learns of them when they are visible.
        var uses: [Int64: UseStamp] = [:]
        var bytesRemoved: Int64 = 0
        /// Those of them that were evicted.
        var bytesEvicted: Int64 = 0
        /// At most so many pages were split, and so many bytes of keys and values stored, as long
        /// as the transaction has done nothing but store entries without an index.
        var splitPages: Int64 = 0
        var newContent: Int64 = 0
        /// Whether it has done something else, which may need any number of pages.
        var hasUnknownGrowth = false
        var hasEmptied = false
        /// Whether it evicted an entry although no caller ever set the archive's size.
        var hasEvictedByDefault = false

        var totals: ArchiveTotals {
            get { contents.totals }
            set { contents.totals = newValue }
        }
    }

    init(
        _ archive: Archive,
        _ contents: ArchiveContents,
        _ tables: ArchiveTables,
        on writer: Writer
    ) {
        self.archive = archive
        self.writer = writer
        self.tables = tables
        state = State(contents: contents)
        guard let index = contents.index else { return }
        state.isIndexOurs = index.definition == archive.shape?.definition
        tables.useIndexStatements(of: index.definition)
    }

    /// Undoes what was done since the state was taken.
    func restore(_ old: State) {
        state = old
        tables.useIndexStatements(of: old.contents.index?.definition)
    }

    var id: Int64 { archive.id }
    var checksum: Checksum { archive.checksum }
    var connection: Connection { tables.connection }

    func statement(_ kind: ArchiveStatement) throws(SQLiteError) -> Statement {
        try tables.statement(kind)
    }

    /// How many rows the last statement changed.
    var changesCount: Int64 { connection.changesCount }

    /// Notes that the transaction changes a key, which is announced to other processes.
    func noteChange(of key: EntryKey, _ kind: ChangeKind) {
        state.changed.insert(
            ChangedKeys.Key(checksum.hash.of(key), kind),
            most: ChangePage.mostKeys
        )
    }

    /// Notes what was removed without a write of its key.
    func noteRemoval(of entries: [RemovedEntry], _ cause: RemovalCause) {
        if !entries.isEmpty {
            state.removed.append(Commit.Removal(entries: entries, cause: cause))
        }
    }

    // MARK: Totals

    /// What the archive holds now.
    var usage: StorageUsage {
        StorageUsage(entries: Int(state.totals.entries), bytes: Int(state.totals.bytes))
    }

    /// How much the archive may hold.
    var capacity: Capacity { archive.limit.capacity(of: state.totals.limit) }

    /// How many entries may be inserted before the row of the totals is written: as many are read
    /// whenever another process has written.
    private static let longestTail: Int64 = 64

    /// Writes the totals and the index's state if they changed. The row of the totals stays as it
    /// is while entries are only inserted and few: it would be one more page in the log.
    func store() throws(SQLiteError) {
        try storeIndex()
        let totals = state.totals
        guard state.contents.stored != totals || state.contents.hasChangedEntries else { return }
        state.contents.stored = totals
        let row = state.contents.row
        if !state.contents.hasChangedEntries, row.entries > 0,
            totals.extend(row, byAtMost: Self.longestTail)
        {
            return
        }
        try totals.runStore(try statement(.storeTotals), id)
        state.contents.row = totals
        state.contents.hasChangedEntries = false
    }

    // MARK: The end

    /// What has become visible in this process since the last call.
    func takeChange() -> Commit.Change {
        let change = Commit.Change(
            archive: id,
            known: archive.isListed ? archive : nil,
            keys: state.changed,
            told: state.told,
            number: state.change,
            removed: state.removed
        )
        state.told = state.changed.single.count
        if !state.removed.isEmpty { state.removed = [] }
        return change
    }

    /// Notes what the archive holds now that the transaction is committed.
    func didCommit(era: UInt64) {
        state.contents.era = era
        tables.contents = state.contents
        archive.limit.countEvicted(state.bytesEvicted)
    }
}

/// What an archive holds: as its row says, and with what a transaction has changed.
struct ArchiveContents {
    var totals: ArchiveTotals
    /// ``totals`` when they were read or written last.
    var stored: ArchiveTotals
    /// The row of the table.
    var row: ArchiveTotals
    /// Whether an entry that is already in the file was removed, or its size changed, since the row
    /// was read or written.
    var hasChangedEntries = false
    /// Whether the file has the table of groups, and whether it has some of the archive.
    var fileHasMembers = false
    var hasMembers = false
    /// The index; `nil` if there is none.
    var index: IndexState?
    var storedIndex: IndexState?
    /// Up to which commit of another process this is known.
    var era: UInt64 = 0
}

extension ArchiveTables {
    /// Reads what the archive holds.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive was opened with another version of
    ///   the cache.
    func readContents(of archive: Archive) throws(SQLiteError) -> ArchiveContents {
        let index = try readIndexState(for: archive.shape)
        let load = try statement(.loadContents)
        defer { load.reset() }
        load.bind(id, at: 1)
        let isOpen = archive.isListed
        guard try load.step() else {
            guard !isOpen else { throw .closedArchive }
            let totals = ArchiveTotals(ofArchive: id)
            return ArchiveContents(totals: totals, stored: totals, row: totals)
        }
        if let version = archive.cacheVersion, !ArchiveTotals.isOf(version: version, load) {
            archive.versionWasReplaced()
            throw .versionReplaced
        }
        let row = ArchiveTotals(load, ofArchive: id)
        var totals = row
        // Only of a possible row: the entries from `next` on may otherwise be all there are.
        if row.isPossible(inArchive: id) {
            try EntryTable.add(try statement(.tail), to: &totals)
        }
        guard totals.isPossible(inArchive: id) else {
            throw .corrupt("The archive's totals are out of range.")
        }
        // Another process has dropped it, and here it is still open: it keeps its limit.
        let known = archive.upkeep.withLock { $0.limit }
        let isDropped = isOpen && totals.limit == .unknown && known != .unknown
        if isDropped { totals.limit = known }
        archive.note(totals.limit)
        let fileHasMembers = ArchiveTotals.fileHasMembers(load)
        return ArchiveContents(
            totals: totals,
            stored: totals,
            row: row,
            hasChangedEntries: isDropped,
            fileHasMembers: fileHasMembers,
            hasMembers: fileHasMembers ? try hasMembers() : false,
            index: index,
            storedIndex: index
        )
    }
}
