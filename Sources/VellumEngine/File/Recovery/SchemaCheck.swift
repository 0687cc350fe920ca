internal import VellumCore

/// Judges what a file's schema holds: the tables and indexes that this package makes, exactly as it writes them, and what SQLite adds by
/// itself. Anything else makes the file a damaged one, because a file is data and nothing in it is ever run (C15): no trigger, no view,
/// no generated column, no expression in an index or a constraint.
struct SchemaCheck {
    /// A row of `sqlite_schema`.
    struct Item {
        var type: String
        var name: String
        var table: String
        var sql: String?
    }

    let items: [Item]
    /// How many columns and collections the index of an archive has.
    private let indexSizes: [Int64: (columns: Int, collections: Int)]

    /// Reads the schema. One statement after the other, so `connection` should be in a transaction.
    init(_ connection: Connection) throws(SQLiteError) {
        let list = try connection.prepare(SQL.schema)
        var items: [Item] = []
        while try list.step() {
            items.append(Item(type: list.text(0) ?? "", name: list.text(1) ?? "", table: list.text(2) ?? "", sql: list.text(3)))
        }
        self.items = items
        var sizes: [Int64: (columns: Int, collections: Int)] = [:]
        if items.contains(where: { $0.name.hasPrefix("columns_") }) {
            let read = try connection.prepare(SQL.indexSizes)
            while try read.step() { sizes[read.int(0)] = (Int(read.int(1)), Int(read.int(2))) }
        }
        indexSizes = sizes
    }

    /// - Throws: ``SQLiteError`` for damage if anything in the schema is not ours.
    func run() throws(SQLiteError) {
        guard items.allSatisfy(isOurs) else {
            throw SQLiteError(code: SQLiteError.corrupt, message: "The schema of the file holds something that this package did not write.")
        }
    }

    func isOurs(_ item: Item) -> Bool {
        switch item.type {
        case "table": return item.name == item.table && item.sql != nil && item.sql == definition(ofTable: item.name)
        case "index":
            // SQLite makes one for each UNIQUE constraint, and gives it no SQL.
            guard let sql = item.sql else { return item.name.hasPrefix("sqlite_autoindex_\(item.table)_") }
            return sql == definition(ofIndex: item.name, on: item.table, as: sql)
        default: return false
        }
    }

    /// The SQL by which this package, or SQLite, makes the table of that name; `nil` if neither makes such a table.
    func definition(ofTable name: String) -> String? {
        switch name {
        case "archives": return SQL.archivesTable
        case "indexes": return SQL.indexesTable
        case "retention": return SQL.retentionTable
        case "sqlite_stat1": return SQL.statisticsTable
        case "sqlite_stat4": return SQL.samplesTable
        default: break
        }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 2, let archive = Self.number(parts[1]), archive > 0 else { return nil }
        switch (parts[0], parts.count) {
        case ("entries", 2): return SQL.entriesTable(archive)
        case ("touches", 2): return SQL.touchesTable(archive)
        case ("recency", 2): return SQL.recencyTable(archive)
        case ("unindexed", 2): return SQL.unindexedTable(archive)
        case ("columns", 2):
            guard let size = indexSizes[archive], 0...2000 ~= size.columns, 0...2000 ~= size.collections else { return nil }
            return SQL.columnsTable(archive, size.columns, size.collections)
        case ("elements", 3): return Self.number(parts[2]).map { SQL.elementsTable(archive, Int($0)) }
        default: return nil
        }
    }

    private func definition(ofIndex name: String, on table: String, as sql: String) -> String? {
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard
            parts.count == 3, parts[0] == "index", let archive = Self.number(parts[1]), let number = Self.number(parts[2]),
            table == "columns_\(archive)"
        else { return nil }
        // Which columns it orders by stands in its SQL alone.
        var columns: [Int] = []
        for name in sql.split(separator: "(").last?.dropLast().split(separator: ", ") ?? [] {
            guard name.first == "c", let column = Self.number(name.dropFirst()) else { return nil }
            columns.append(Int(column))
        }
        return SQL.index(archive, Int(number), columns: columns)
    }

    /// A number as this package writes it, with nothing before or behind it.
    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), number >= 0, String(number) == text else { return nil }
        return number
    }
}
