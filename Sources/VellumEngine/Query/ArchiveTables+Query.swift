internal import Foundation
internal import VellumCore

// The reads of queries, on any connection. Each call reads one snapshot.

extension ArchiveTables {
    /// What the index covers. Read once for each snapshot.
    func extent(of shape: IndexShape?) throws(SQLiteError) -> IndexExtent {
        if let knownExtent, knownExtent.definition == shape?.definition {
            return knownExtent.extent
        }
        let read = try statement(.extent)
        defer { read.reset() }
        read.bind(id, at: 1)
        let extent = try read.step() ? IndexExtent(read, of: shape) : IndexExtent()
        knownExtent = (shape?.definition, extent)
        return extent
    }

    func answer(
        _ request: IndexRequest,
        _ shape: IndexShape?,
        validAt now: WallInstant?,
        _ limit: ReadLimit
    ) throws(SQLiteError) -> QueryAnswer? {
        let extent = try extent(of: shape)
        guard extent.isUsable, let query = extent.isWhole ? request.whole : request.partial else {
            return nil
        }
        let entryIDs = try QueryPrinter.rows(
            of: query,
            in: self,
            validAt: extent.hasExpiring ? now : nil
        )
        let unindexed =
            extent.unindexedRows > 0 ? try IndexTables.unindexed(of: id, on: connection) : []
        let read = request.isAtOnce && entryIDs.count > limit.entries ? [] : entryIDs[...]
        let (entries, looked) = try entries(of: read, limit)
        return QueryAnswer(
            isWhole: extent.isWhole,
            entryIDs: entryIDs,
            unindexed: unindexed.map { $0.id },
            undecodable: unindexed.filter { $0.kind == .undecodable }.map { $0.id },
            unbuilt: extent.unbuilt,
            entries: entries,
            looked: looked
        )
    }

    /// Returns how many entries match, or `nil` if the index does not cover every entry.
    func count(
        _ query: ColumnQuery,
        _ shape: IndexShape?,
        validAt now: WallInstant?
    ) throws(SQLiteError) -> Int? {
        let extent = try extent(of: shape)
        guard extent.isWhole else { return nil }
        return try QueryPrinter.count(of: query, in: self, validAt: extent.hasExpiring ? now : nil)
    }

    /// Returns the aggregate of the entries that match, or `nil` if the index does not determine
    /// it.
    func aggregate(
        _ aggregate: ColumnAggregate,
        of query: ColumnQuery,
        _ shape: IndexShape?,
        validAt now: WallInstant?
    ) throws(SQLiteError) -> AggregateAnswer? {
        let extent = try extent(of: shape)
        guard extent.isWhole else { return nil }
        let moment = extent.hasExpiring ? now : nil
        let answer = try QueryPrinter(
            .aggregate(aggregate),
            of: query,
            archive: id,
            validAt: moment
        ).run(aggregate, self)
        guard aggregate.kind == .least, aggregate.unordered != nil, case .value(.null) = answer
        else { return answer }
        // Every value is unordered, or there is none.
        let greatest = ColumnAggregate(kind: .greatest, column: aggregate.column)
        return try QueryPrinter(.aggregate(greatest), of: query, archive: id, validAt: moment).run(
            greatest,
            self
        )
    }

    // MARK: Entries

    /// The first entries, as far as `limit` allows, and how many ids were looked up for them.
    func entries(
        of entryIDs: ArraySlice<Int64>,
        _ limit: ReadLimit
    ) throws(SQLiteError) -> (entries: [StoredEntry], looked: Int) {
        let cleared = try clearedThrough()
        let wanted = entryIDs.prefix(limit.entries)
        var entries = [StoredEntry]()
        var bytes = 0
        var looked = 0
        var atOnce = EntryTable.mostAtOnce
        entries.reserveCapacity(wanted.count)
        while looked < wanted.count, bytes < limit.bytes {
            let some = wanted.dropFirst(looked).prefix(atOnce)
            let read = try statement(some.count == 1 ? .readByID : .readByIDs)
            defer { read.reset() }
            EntryTable.bind(some, after: cleared, to: read)
            let countBefore = entries.count
            let bytesBefore = bytes
            var rest = some
            var isInOrder = true
            while bytes < limit.bytes, isInOrder, try read.step() {
                let row = EntryRow(read)
                let place = rest.firstIndex(of: row.id)
                rest = place.map { rest[($0 + 1)...] } ?? []
                isInOrder = place != nil
                entries.append(row.stored(checksum))
                bytes += entries.last?.entry.bytes.count ?? 0
            }
            if isInOrder {
                looked += bytes < limit.bytes ? some.count : some.count - rest.count
            } else {
                // SQLite returns the rows in the order of the numbers, and does not promise it:
                // then one by one.
                entries.removeSubrange(countBefore...)
                bytes = bytesBefore
                atOnce = 1
            }
        }
        return (entries, looked)
    }

    /// The next entries of a scan, as far as `limit` allows.
    func entries(of scan: inout EntryScan, _ limit: ReadLimit) throws(SQLiteError) -> [StoredEntry]
    {
        let through = if let last = scan.through { last } else { try lastEntryID() }
        try clearedThrough()
        let read = try statement(.between)
        defer { read.reset() }
        read.bind(scan.after, at: 1)
        read.bind(through, at: 2)
        var entries: [StoredEntry] = []
        var bytes = 0
        while entries.count < limit.entries, bytes < limit.bytes, try read.step() {
            entries.append(EntryRow(read).stored(checksum))
            bytes += entries.last?.entry.bytes.count ?? 0
        }
        let last = entries.last?.entry.id
        scan = EntryScan(
            after: last ?? scan.after,
            through: through,
            hasMore: last.map { $0 < through } ?? false
        )
        return entries
    }

    /// Calls `body` with the rows of the next entries of a scan, until they have so many bytes.
    package func scan(
        _ scan: inout EntryScan,
        most: Int,
        _ body: (EntryParts) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let through = if let last = scan.through { last } else { try lastEntryID() }
        try clearedThrough()
        let read = try prepared(query: EntryTable.parts(id))
        defer { read.reset() }
        read.bind(scan.after, at: 1)
        read.bind(through, at: 2)
        var last = Int64?.none
        var bytes = 0
        while bytes < most, try read.step() {
            let parts = EntryParts(read)
            try body(parts)
            last = parts.id
            bytes += 100 + parts.bytes.count
        }
        scan = EntryScan(
            after: last ?? scan.after,
            through: through,
            hasMore: last.map { $0 < through } ?? false
        )
    }

    // MARK: Explaining and checking

    func describe(
        _ query: ColumnQuery,
        _ purpose: QueryPrinter.Purpose,
        _ shape: IndexShape?,
        validAt now: WallInstant
    ) throws(SQLiteError) -> (statement: String, access: [String], usesIndex: Bool)? {
        let extent = try extent(of: shape)
        guard extent.isUsable else { return nil }
        if case .aggregate(let aggregate) = purpose, aggregate.kind == .sum {
            _ = try connection.columnSum()
        }
        let printer = QueryPrinter(
            purpose,
            of: query,
            archive: id,
            validAt: extent.hasExpiring ? now : nil
        )
        let (access, usesIndex) = try printer.explain(connection)
        return (printer.sql, access, usesIndex)
    }

    /// The newest indexed entries with their values in the index; empty if another process replaced
    /// the index.
    func newestIndexed(
        _ count: Int,
        _ shape: IndexShape
    ) throws(SQLiteError) -> [(
        StoredEntry, IndexedValues?
    )] {
        guard try extent(of: shape).isUsable else { return [] }
        var found: [(StoredEntry, IndexedValues?)] = []
        let newest = try IndexTables.newest(count, of: id, on: connection)
        for entry in try entries(
            of: newest[...],
            ReadLimit(entries: count, bytes: .max)
        ).entries {
            found.append((entry, try indexed(entry.entry.id, shape)))
        }
        return found
    }

    /// The entry's values in the index.
    func indexed(_ entryID: Int64, _ shape: IndexShape) throws(SQLiteError) -> IndexedValues? {
        let columns = shape.columns.count
        let collections = shape.collections.count
        let select = try prepared(query: IndexTables.selectColumns(id, columns, collections))
        return try IndexTables.readColumns(
            select,
            entryID,
            columns: columns,
            collections: collections
        )
    }
}
