internal import VellumCore

/// The index of an archive as its row in `indexes` describes it.
struct IndexState: Equatable {
    var definition: String
    var columns: Int
    var collections: Int
    /// The builder has read the entries up to this id; `Int64.max` once it has read all.
    var through: Int64
    /// The last entry that there was when the index was begun. Later ones are indexed when they are
    /// written.
    var until: Int64
    /// How many entries the builder has read.
    var built: Int64
    var unindexedRows: Int64

    /// Whether no entry has a row in `columns_N`: nothing is indexed, and only the version of the
    /// type is kept up to date.
    var isWithoutColumns: Bool { columns == 0 && collections == 0 }

    /// Whether statements and sums can be made of these.
    func isPossible(for shape: IndexShape?) -> Bool {
        if let shape, shape.definition == definition,
            (shape.columns.count, shape.collections.count) != (columns, collections)
        {
            return false
        }
        let possible = 0...Int64(1) << 48
        return 0...2000 ~= columns && 0...2000 ~= collections
            && [built, unindexedRows].allSatisfy(possible.contains)
            && through >= 0 && 0..<Int64.max ~= until
    }

    /// Whether the builder has yet to read the entry.
    func awaitsBuilder(_ entryID: Int64) -> Bool { entryID > through && entryID <= until }
}

extension IndexState {
    static let load =
        """
        SELECT definition, columns, collections, through, until, built, unindexed_rows \
        FROM indexes WHERE archive = ?1
        """

    private enum Column: Int32 {
        case definition, columns, collections, through, until, built, unindexedRows
    }

    init(_ row: Statement) {
        self.init(
            definition: row.text(Column.definition) ?? "",
            columns: row.int(Column.columns).int,
            collections: row.int(Column.collections).int,
            through: row.int(Column.through).value,
            until: row.int(Column.until).value,
            built: row.int(Column.built).value,
            unindexedRows: row.int(Column.unindexedRows).value
        )
    }

    static let store = """
        INSERT OR REPLACE INTO indexes(archive, definition, columns, collections, through, until, \
        built, unindexed_rows)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """

    func runStore(_ store: Statement, _ archive: Int64) throws(SQLiteError) {
        store.bind(archive, at: 1)
        store.bind(definition, at: 2)
        store.bind(Int64(columns), at: 3)
        store.bind(Int64(collections), at: 4)
        store.bind(through, at: 5)
        store.bind(until, at: 6)
        store.bind(built, at: 7)
        store.bind(unindexedRows, at: 8)
        try store.run()
    }
}

/// What a query must know of an archive before it is planned.
struct IndexExtent {
    /// Whether there ever was an entry with an age of its own.
    var hasExpiring = true
    /// Whether there is an index, of whatever definition.
    var hasIndex = false
    /// Whether it is of the definition that was asked for.
    var isUsable = false
    var through: Int64 = 0
    var until: Int64 = 0
    var unindexedRows: Int64 = 0
    var built: Int64 = 0

    /// The entries that the builder has yet to read.
    var unbuilt: EntryScan? { through == .max ? nil : EntryScan(after: through, through: until) }

    /// Whether the index covers every entry.
    var isWhole: Bool { isUsable && through == .max && unindexedRows == 0 }
}

extension IndexExtent {
    static let load = """
        SELECT a.expiring, i.definition, i.through, i.until, i.unindexed_rows, i.built
        FROM archives a LEFT JOIN indexes i ON i.archive = a.id WHERE a.id = ?1
        """

    private enum Column: Int32 { case expiring, definition, through, until, unindexedRows, built }

    /// - Parameter shape: The index that is asked for.
    init(_ row: Statement, of shape: IndexShape?) {
        self.init(
            hasExpiring: row.int(Column.expiring) != 0,
            hasIndex: !row.isNull(Column.definition),
            isUsable: shape.map { row.isText($0.definition, at: Column.definition) } ?? false,
            through: row.int(Column.through).value,
            until: row.int(Column.until).value,
            unindexedRows: row.int(Column.unindexedRows).value,
            built: row.int(Column.built).value
        )
    }
}
