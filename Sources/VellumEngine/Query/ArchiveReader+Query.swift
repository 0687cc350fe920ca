internal import Foundation
internal import VellumCore

// Queries, as any connection reads them. Each call is made on one snapshot.

extension ArchiveReader {
    /// What a query must know of the archive before it is planned.
    struct Coverage {
        var hasExpiring = true
        /// Whether there is an index, of whatever definition.
        var hasIndex = false
        /// Whether it is of the definition that was asked for.
        var isUsable = false
        var through: Int64 = 0
        var until: Int64 = 0
        var unindexedRows: Int64 = 0
        var entries: Int64 = 0
        var built: Int64 = 0
        var lastRow: Int64 = 0

        var unbuilt: UnbuiltRows? { through == .max ? nil : UnbuiltRows(after: through, through: until) }

        var index: IndexCoverage { IndexCoverage(isUsable: isUsable, isWhole: isUsable && through == .max && unindexedRows == 0) }
    }

    func coverage(of shape: IndexShape?) throws(SQLiteError) -> Coverage {
        let read = try prepared(&readCoverage, SQL.coverage)
        defer { read.reset() }
        read.bind(id, at: 1)
        guard try read.step() else { return Coverage() }
        return Coverage(
            hasExpiring: read.int(0) != 0, hasIndex: !read.isNull(1), isUsable: shape.map { read.isText($0.definition, at: 1) } ?? false,
            through: read.int(2), until: read.int(3), unindexedRows: read.int(4),
            entries: read.int(5), built: read.int(6), lastRow: read.int(7) - 1)
    }

    func answer(
        _ shape: IndexShape?, validAt now: WallInstant, _ limit: ReadLimit, _ planning: (IndexCoverage) -> ColumnQuery?
    ) throws(SQLiteError) -> QueryAnswer? {
        let coverage = try coverage(of: shape)
        guard let query = planning(coverage.index) else { return nil }
        let rows = try rows(of: QueryPrinter(.rows, of: query, archive: id, validAt: coverage.hasExpiring ? now : nil))
        let unindexedRows = coverage.unindexedRows > 0 ? try unindexedRows() : []
        let (entries, looked) = try entries(of: rows[...], limit)
        return QueryAnswer(
            rows: rows, uncovered: unindexedRows.map { $0.row },
            undecodable: unindexedRows.filter { $0.kind == .undecodable }.map { $0.row },
            unbuilt: coverage.unbuilt, entries: entries, looked: looked)
    }

    func count(
        _ shape: IndexShape?, validAt now: WallInstant, _ planning: (IndexCoverage) -> ColumnQuery?
    ) throws(SQLiteError) -> Int? {
        let coverage = try coverage(of: shape)
        guard let query = planning(coverage.index) else { return nil }
        let printer = QueryPrinter(.count, of: query, archive: id, validAt: coverage.hasExpiring ? now : nil)
        let count = try prepared(query: printer.sql)
        defer { count.clear() }
        count.bind(printer.bindings)
        return try count.step() ? Int(count.int(0)) : 0
    }

    private func rows(of query: QueryPrinter) throws(SQLiteError) -> [Int64] {
        let find = try prepared(query: query.sql)
        defer { find.clear() }
        find.bind(query.bindings)
        var rows: [Int64] = []
        while try find.step() { rows.append(find.int(0)) }
        return rows
    }

    private func unindexedRows() throws(SQLiteError) -> [(row: Int64, kind: IndexWriter.UnindexedKind)] {
        let list = try connection.prepare(SQL.unindexedRows(id))
        var unindexedRows: [(row: Int64, kind: IndexWriter.UnindexedKind)] = []
        while try list.step() { unindexedRows.append((list.int(0), IndexWriter.UnindexedKind(rawValue: list.int(1)) ?? .unknown)) }
        return unindexedRows
    }

    /// A few of the strays that the builder must look at.
    func unknownStrays(limit: Int) throws(SQLiteError) -> [Int64] {
        let find = try connection.prepare(SQL.unindexedOfKind(id))
        find.bind(IndexWriter.UnindexedKind.unknown.rawValue, at: 1)
        find.bind(Int64(limit), at: 2)
        var rows: [Int64] = []
        while try find.step() { rows.append(find.int(0)) }
        return rows
    }

    // MARK: Entries

    func entries(of rows: ArraySlice<Int64>, _ limit: ReadLimit) throws(SQLiteError) -> (entries: [StoredEntry], looked: Int) {
        let read = try prepared(&readRow, SQL.entryOfRow(id))
        var entries: [StoredEntry] = []
        var (bytes, looked) = (0, 0)
        for row in rows.prefix(limit.entries) where bytes < limit.bytes {
            looked += 1
            read.bind(row, at: 1)
            if try read.step() {
                entries.append(stored(read))
                bytes += entries.last?.entry.bytes.count ?? 0
            }
            read.reset()
        }
        return (entries, looked)
    }

    func entries(after row: Int64, through last: Int64, _ limit: ReadLimit) throws(SQLiteError) -> [StoredEntry] {
        let read = try prepared(query: SQL.entriesBetween(id))
        defer { read.reset() }
        read.bind(row, at: 1)
        read.bind(last, at: 2)
        var entries: [StoredEntry] = []
        var bytes = 0
        while entries.count < limit.entries, bytes < limit.bytes, try read.step() {
            entries.append(stored(read))
            bytes += entries.last?.entry.bytes.count ?? 0
        }
        return entries
    }

    private func stored(_ row: Statement) -> StoredEntry {
        let (entry, key, revision) = (row.entry, row.entryKey, row.checksum)
        return StoredEntry(
            key: EntryKey(String(decoding: key, as: UTF8.self)), entry: entry, revision: revision,
            isIntact: checksum.of(entry, key: key) == revision)
    }

    // MARK: Explaining and checking

    func describe(
        _ query: ColumnQuery, _ shape: IndexShape?, validAt now: WallInstant
    ) throws(SQLiteError) -> (statement: String, access: [String])? {
        let coverage = try coverage(of: shape)
        guard coverage.isUsable else { return nil }
        let printer = QueryPrinter(.rows, of: query, archive: id, validAt: coverage.hasExpiring ? now : nil)
        let explain = try connection.prepare(SQL.explain(printer.sql))
        explain.bind(printer.bindings)
        var access: [String] = []
        while try explain.step() { access.append(explain.text(3) ?? "") }
        return (printer.sql, access)
    }

    /// The newest rows of the index, with what it holds of them; none if another process changed what it holds.
    func newestIndexed(_ count: Int, _ shape: IndexShape) throws(SQLiteError) -> [(StoredEntry, IndexedValues?)] {
        guard try coverage(of: shape).isUsable else { return [] }
        let newest = try connection.prepare(SQL.newestRows(id))
        newest.bind(Int64(count), at: 1)
        var found: [(StoredEntry, IndexedValues?)] = []
        while try newest.step() {
            for entry in try entries(of: [newest.int(0)], ReadLimit(entries: 1)).entries {
                found.append((entry, try indexed(entry.entry.row, shape)))
            }
        }
        return found
    }

    /// What the index holds of a row.
    func indexed(_ row: Int64, _ shape: IndexShape) throws(SQLiteError) -> IndexedValues? {
        let read = try prepared(query: SQL.readColumns(id, shape.columns.count, shape.collections.count))
        defer { read.reset() }
        read.bind(row, at: 1)
        guard try read.step() else { return nil }
        return read.indexedValues(columns: shape.columns.count, collections: shape.collections.count)
    }
}
