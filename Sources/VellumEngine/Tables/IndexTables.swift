internal import VellumCore

/// The table `indexes`, and the tables of an archive's index: `columns_N` with SQLite's own indexes
/// over it, `elements_N_M` for each collection, and `unindexed_N`.
enum IndexTables {
    static let create = """
        CREATE TABLE indexes(
            archive INTEGER PRIMARY KEY,
            definition TEXT NOT NULL,
            columns INTEGER NOT NULL,
            collections INTEGER NOT NULL,
            through INTEGER NOT NULL,
            until INTEGER NOT NULL,
            built INTEGER NOT NULL,
            unindexed_rows INTEGER NOT NULL
        )
        """

    static let delete = "DELETE FROM indexes WHERE archive = ?1"

    /// How many archives have the tables of an index that `indexes` does not list.
    static let unlistedCount = """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name GLOB 'columns_[0-9]*' \
        AND CAST(substr(name, 9) AS INTEGER) NOT IN (SELECT archive FROM indexes)
        """

    // MARK: Sizes

    private enum SizeColumn: Int32 { case archive, columns, collections }

    /// How many columns and collections each index has, by the number of its archive.
    static func sizes(
        on connection: Connection
    ) throws(SQLiteError) -> [Int64: (
        columns: Int, collections: Int
    )] {
        let read = try connection.prepare("SELECT archive, columns, collections FROM indexes")
        var sizes: [Int64: (columns: Int, collections: Int)] = [:]
        while try read.step() {
            sizes[read.int(SizeColumn.archive).value] = (
                read.int(SizeColumn.columns).int, read.int(SizeColumn.collections).int
            )
        }
        return sizes
    }

    // MARK: The tables of one index

    static func createIndex(_ n: Int64, _ shape: IndexShape) -> String {
        let tables = [createColumns(n, shape.columns.count, shape.collections.count)]
        let orders = shape.indexes.enumerated().map {
            createOrder(n, $0.offset, columns: $0.element)
        }
        let elements = (0..<shape.collections.count).map { createElements(n, $0) }
        return (tables + orders + elements + [createUnindexed(n)]).joined(separator: ";\n")
    }

    static func createColumns(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        """
        CREATE TABLE \
        columns_\(n)(\((["id INTEGER PRIMARY KEY"] + columnNames(columns, collections))
            .joined(separator: ", ")))
        """
    }

    static func createOrder(_ n: Int64, _ number: Int, columns: [Int]) -> String {
        """
        CREATE INDEX index_\(n)_\(number) ON \
        columns_\(n)(\(columns.map { "c\($0)" }.joined(separator: ", ")))
        """
    }

    static func createElements(_ n: Int64, _ collection: Int) -> String {
        """
        CREATE TABLE elements_\(n)_\(collection)(value, id INTEGER NOT NULL, PRIMARY KEY(value, \
        id)) WITHOUT ROWID
        """
    }

    static func createUnindexed(_ n: Int64) -> String {
        "CREATE TABLE unindexed_\(n)(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL)"
    }

    static func dropIndex(_ n: Int64, collections: Int) -> String {
        tables(n, collections).map { "DROP TABLE IF EXISTS \($0);" }.joined(separator: "\n")
    }

    static func emptyIndex(_ n: Int64, collections: Int) -> String {
        tables(n, collections).map { "DELETE FROM \($0);" }.joined(separator: "\n")
    }

    private static func tables(_ n: Int64, _ collections: Int) -> [String] {
        ["columns_\(n)", "unindexed_\(n)"] + (0..<collections).map { "elements_\(n)_\($0)" }
    }

    // MARK: Columns

    /// The columns of the indexed values, without `id`, which comes first in the table.
    private static func columnNames(_ columns: Int, _ collections: Int) -> [String] {
        (0..<columns).map { "c\($0)" } + (0..<collections).map { "e\($0)" }
    }

    static func insertColumns(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        let parameters = (0...(columns + collections)).map {
            "?\($0 + 1)"
        }.joined(separator: ", ")
        return "INSERT INTO columns_\(n) VALUES (\(parameters))"
    }

    static func runInsertColumns(
        _ insert: Statement,
        _ entryID: Int64,
        _ values: IndexedValues
    ) throws(SQLiteError) {
        insert.bind(entryID, at: 1)
        for (index, value) in values.columns.enumerated() {
            insert.bind(value, at: Int32(index + 2))
        }
        for (index, elements) in values.elements.enumerated() {
            insert.bind(
                IndexValue.bytes(ElementList.encode(elements)),
                at: Int32(values.columns.count + index + 2)
            )
        }
        try insert.run()
    }

    static func selectColumns(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        """
        SELECT \(columnNames(columns, collections).joined(separator: ", ")) FROM columns_\(n) \
        WHERE id = ?1
        """
    }

    /// The values that ``selectColumns(_:_:_:)`` selects; `nil` if the entry has none, or its
    /// elements cannot be decoded.
    static func readColumns(
        _ read: Statement,
        _ entryID: Int64,
        columns: Int,
        collections: Int
    ) throws(SQLiteError) -> IndexedValues? {
        defer { read.reset() }
        read.bind(entryID, at: 1)
        guard try read.step() else { return nil }
        var values = IndexedValues(
            columns: (0..<columns).map { read.indexValue(Int32($0)) }
        )
        for collection in 0..<collections {
            guard let elements = ElementList.decode(read.bytes(Int32(columns + collection))) else {
                return nil
            }
            values.elements.append(elements)
        }
        return values
    }

    static func deleteColumns(_ n: Int64) -> String { "DELETE FROM columns_\(n) WHERE id = ?1" }

    /// The newest entries that have columns, the newest first.
    static func newest(
        _ count: Int,
        of n: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> [Int64] {
        try connection.prepare(
            "SELECT id FROM columns_\(n) ORDER BY id DESC LIMIT ?1",
            Int64(count)
        ).ints()
    }

    // MARK: Elements

    static func insertElement(_ n: Int64, _ collection: Int) -> String {
        "INSERT INTO elements_\(n)_\(collection)(value, id) VALUES (?1, ?2)"
    }

    static func deleteElement(_ n: Int64, _ collection: Int) -> String {
        "DELETE FROM elements_\(n)_\(collection) WHERE value = ?1 AND id = ?2"
    }

    /// Runs ``insertElement(_:_:)`` or ``deleteElement(_:_:)`` for each element.
    static func run(
        _ statement: Statement,
        _ elements: [IndexValue],
        of entryID: Int64
    ) throws(SQLiteError) {
        for element in elements {
            statement.bind(element, at: 1)
            statement.bind(entryID, at: 2)
            try statement.run()
        }
    }

    // MARK: Unindexed rows

    /// Why an entry is in `unindexed_N`.
    enum UnindexedKind: Int64 {
        /// The builder has not read it yet.
        case unknown = 0
        /// One of its values cannot be ordered.
        case noPlace = 1
        /// It could not be decoded.
        case undecodable = 2
    }

    static func insertUnindexed(_ n: Int64) -> String {
        "INSERT OR REPLACE INTO unindexed_\(n)(id, kind) VALUES (?1, ?2)"
    }
    static func updateUnindexed(_ n: Int64) -> String {
        "UPDATE unindexed_\(n) SET kind = ?2 WHERE id = ?1"
    }

    /// Runs ``insertUnindexed(_:)`` or ``updateUnindexed(_:)``.
    static func run(
        _ statement: Statement,
        _ entryID: Int64,
        _ kind: UnindexedKind
    ) throws(SQLiteError) {
        try statement.run(entryID, kind.rawValue)
    }

    static func deleteUnindexed(_ n: Int64) -> String { "DELETE FROM unindexed_\(n) WHERE id = ?1" }

    private enum UnindexedColumn: Int32 { case id, kind }

    static func unindexed(
        of n: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> [(
        id: Int64, kind: UnindexedKind
    )] {
        let list = try connection.prepare("SELECT id, kind FROM unindexed_\(n) ORDER BY id")
        var found: [(id: Int64, kind: UnindexedKind)] = []
        while try list.step() {
            found.append(
                (
                    list.int(UnindexedColumn.id).value,
                    UnindexedKind(rawValue: list.int(UnindexedColumn.kind).value) ?? .unknown
                )
            )
        }
        return found
    }

    static func unindexed(
        _ kind: UnindexedKind,
        of n: Int64,
        limit: Int,
        on connection: Connection
    ) throws(SQLiteError) -> [Int64] {
        try connection.prepare(
            "SELECT id FROM unindexed_\(n) WHERE kind = ?1 LIMIT ?2",
            kind.rawValue,
            Int64(limit)
        ).ints()
    }

    static func unindexedCount(
        _ kind: UnindexedKind,
        of n: Int64,
        on connection: Connection
    ) throws(SQLiteError) -> Int {
        try connection.int("SELECT count(*) FROM unindexed_\(n) WHERE kind = \(kind.rawValue)")?.int
            ?? 0
    }

    // MARK: Statistics

    /// The tables that ANALYZE creates (sqlite.org/fileformat2.html, 2.6.3 and 2.6.5).
    static let statisticsTable = "CREATE TABLE sqlite_stat1(tbl,idx,stat)"
    static let samplesTable = "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"
    /// For how many rows the statistics of an archive were made; 0 if there are none.
    static func rowsAnalysed(_ n: Int64, on connection: Connection) throws(SQLiteError) -> Int64 {
        guard
            try connection.int("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'")
                ?? 0 > 0
        else { return 0 }
        // Its first number, up to which SQLite reads the text.
        return try connection.int(
            "SELECT CAST(stat AS INTEGER) FROM sqlite_stat1 WHERE tbl = 'columns_\(n)' LIMIT 1"
        )?
        .value ?? 0
    }

    /// How many rows of each index are read at most (sqlite.org/lang_analyze.html, 4.1).
    static let limitAnalysis = "PRAGMA analysis_limit = 400"

    /// In a transaction, after ``limitAnalysis``. A connection reads statistics with the schema,
    /// which the table that comes and goes changes.
    ///
    /// A limited analysis guesses the number of rows for each index, by a factor of three from one
    /// index to the next: SQLite would then search for each value of the first column of a short
    /// one, where the long one answers at once. Of a table without indexes they have the number
    /// alone.
    static func analyse(_ n: Int64, rows: Int64, collections: Int) -> String {
        let tables = ["columns_\(n)"] + (0..<collections).map { "elements_\(n)_\($0)" }
        return """
            \(tables.map { "ANALYZE \($0);" }.joined(separator: "\n"))
            UPDATE sqlite_stat1 SET stat = \(rows) || substr(stat, instr(stat, ' ')) \
            WHERE tbl = 'columns_\(n)' AND idx IS NOT NULL;
            CREATE TABLE unindexed_0(id INTEGER);
            DROP TABLE unindexed_0;
            """
    }

    // MARK: Checking

    /// Whether the tables hold as many rows as the index covers entries. True for an archive
    /// without an index. ``IndexedRows`` tells whether each is of an entry.
    static func agree(of n: Int64, on connection: Connection) throws(SQLiteError) -> Bool {
        let load = try connection.prepare(IndexState.load, n)
        guard try load.step() else { return true }
        let state = IndexState(load)
        let covered = try connection.int(
            """
            SELECT count(*) FROM entries WHERE id > \(EntryTable.clearedThrough(n)) \
            AND id < \(EntryID.end(of: n)) AND (id <= \(state.through) OR id > \(state.until))
            """
        )
        let columns = try connection.int("SELECT count(*) FROM columns_\(n)")
        let listed = try connection.int("SELECT count(*) FROM unindexed_\(n)")
        let expected =
            state.isWithoutColumns ? 0 : covered.map { $0 - StoredInteger(state.unindexedRows) }
        return columns == expected && listed?.value == state.unindexedRows
    }
}

/// The rows of an archive's index in the order of their entries, beside which the entries are read:
/// a search for each would take longer than the rest of a verification.
struct IndexedRows {
    private let rows: Statement
    private var current: Int64?
    private var hasOrphans = false

    /// - Returns: `nil` if the archive has no index.
    init?(of n: Int64, on connection: Connection) throws(SQLiteError) {
        guard try connection.prepare(IndexState.load, n).step() else { return nil }
        rows = try connection.prepare("SELECT id FROM columns_\(n) ORDER BY id")
        try advance()
    }

    /// Goes past the row of an entry.
    mutating func meet(_ entryID: Int64) throws(SQLiteError) {
        while let row = current, row <= entryID {
            hasOrphans = hasOrphans || row < entryID
            try advance()
        }
    }

    /// Whether each row was that of an entry, once all were met.
    var isWithoutOrphans: Bool { !hasOrphans && current == nil }

    private mutating func advance() throws(SQLiteError) {
        current = try rows.step() ? rows.int(0).value : nil
    }
}
