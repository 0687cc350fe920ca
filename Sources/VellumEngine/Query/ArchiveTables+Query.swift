internal import Foundation
internal import VellumCore

// The reads of queries, on any connection. Each call reads one snapshot.

extension ArchiveTables {
    /// What the index covers. Read once for each snapshot.
    func extent(of shape: IndexShape?) throws(SQLiteError) -> IndexExtent {
        if let knownExtent, knownExtent.definition == shape?.definition { return knownExtent.extent }
        let read = try statement(.extent)
        defer { read.reset() }
        read.bind(id, at: 1)
        let extent = try read.step() ? IndexExtent(read, of: shape) : IndexExtent()
        knownExtent = (shape?.definition, extent)
        return extent
    }

    func answer(
        _ request: IndexRequest, _ shape: IndexShape?, validAt now: WallInstant, _ limit: ReadLimit
    ) throws(SQLiteError) -> QueryAnswer? {
        let extent = try extent(of: shape)
        let coverage = extent.coverage
        guard coverage.isUsable, let query = coverage.isWhole ? request.whole : request.partial else { return nil }
        let entryIDs = try QueryPrinter(.rows, of: query, archive: id, validAt: extent.hasExpiring ? now : nil).rows(self)
        let unindexed = extent.unindexedRows > 0 ? try IndexTables.unindexed(of: id, on: connection) : []
        let (entries, looked) = try entries(of: entryIDs[...], limit)
        return QueryAnswer(
            isWhole: coverage.isWhole, entryIDs: entryIDs, unindexed: unindexed.map { $0.id },
            undecodable: unindexed.filter { $0.kind == .undecodable }.map { $0.id },
            unbuilt: extent.unbuilt, entries: entries, looked: looked)
    }

    /// Returns how many entries match, or `nil` if the index does not cover every entry.
    func count(_ query: ColumnQuery, _ shape: IndexShape?, validAt now: WallInstant) throws(SQLiteError) -> Int? {
        let extent = try extent(of: shape)
        guard extent.coverage.isWhole else { return nil }
        return try QueryPrinter(.count, of: query, archive: id, validAt: extent.hasExpiring ? now : nil).count(self)
    }

    // MARK: Entries

    /// The first entries, as far as `limit` allows, and how many ids were looked up for them.
    func entries(of entryIDs: ArraySlice<Int64>, _ limit: ReadLimit) throws(SQLiteError) -> (entries: [StoredEntry], looked: Int) {
        try clearedThrough()
        let read = try statement(.readByID)
        var entries: [StoredEntry] = []
        var (bytes, looked) = (0, 0)
        for entryID in entryIDs.prefix(limit.entries) where bytes < limit.bytes {
            looked += 1
            defer { read.reset() }
            read.bind(entryID, at: 1)
            if try read.step() {
                entries.append(stored(EntryRow(read)))
                bytes += entries.last?.entry.bytes.count ?? 0
            }
        }
        return (entries, looked)
    }

    func entries(after entryID: Int64, through last: Int64, _ limit: ReadLimit) throws(SQLiteError) -> [StoredEntry] {
        try clearedThrough()
        let read = try statement(.between)
        defer { read.reset() }
        read.bind(entryID, at: 1)
        read.bind(last, at: 2)
        var entries: [StoredEntry] = []
        var bytes = 0
        while entries.count < limit.entries, bytes < limit.bytes, try read.step() {
            entries.append(stored(EntryRow(read)))
            bytes += entries.last?.entry.bytes.count ?? 0
        }
        return entries
    }

    /// The entries after `entryID`, as far as `limit` allows.
    ///
    /// - Parameter last: The last entry of the scan; `nil` for the last one of this snapshot.
    func scanned(after entryID: Int64, through last: Int64?, _ limit: ReadLimit) throws(SQLiteError) -> ScannedEntries {
        let through = if let last { last } else { try lastEntryID() }
        return ScannedEntries(entries: try entries(after: entryID, through: through, limit), through: through)
    }

    private func stored(_ row: EntryRow) -> StoredEntry {
        let (entry, key) = (row.entry, row.keyBytes)
        return StoredEntry(
            key: EntryKey(String(decoding: key, as: UTF8.self)), entry: entry, isIntact: checksum.of(entry, key: key) == entry.revision)
    }

    // MARK: Explaining and checking

    func describe(
        _ query: ColumnQuery, _ shape: IndexShape?, validAt now: WallInstant
    ) throws(SQLiteError) -> (statement: String, access: [String], usesIndex: Bool)? {
        let extent = try extent(of: shape)
        guard extent.isUsable else { return nil }
        let printer = QueryPrinter(.rows, of: query, archive: id, validAt: extent.hasExpiring ? now : nil)
        let (access, usesIndex) = try printer.explain(connection)
        return (printer.sql, access, usesIndex)
    }

    /// The newest indexed entries with their values in the index; empty if another process replaced the index.
    func newestIndexed(_ count: Int, _ shape: IndexShape) throws(SQLiteError) -> [(StoredEntry, IndexedValues?)] {
        guard try extent(of: shape).isUsable else { return [] }
        var found: [(StoredEntry, IndexedValues?)] = []
        for entryID in try IndexTables.newest(count, of: id, on: connection) {
            for entry in try entries(of: [entryID], ReadLimit(entries: 1)).entries {
                found.append((entry, try indexed(entryID, shape)))
            }
        }
        return found
    }

    /// The entry's values in the index.
    func indexed(_ entryID: Int64, _ shape: IndexShape) throws(SQLiteError) -> IndexedValues? {
        let (columns, collections) = (shape.columns.count, shape.collections.count)
        let select = try prepared(query: IndexTables.selectColumns(id, columns, collections))
        return try IndexTables.readColumns(select, entryID, columns: columns, collections: collections)
    }
}
