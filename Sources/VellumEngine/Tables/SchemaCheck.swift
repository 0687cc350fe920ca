internal import VellumCore

/// Checks that a file's schema contains only the tables and indexes that this package creates,
/// exactly as it writes them, and those that SQLite adds. A file with features of a later version
/// may have plain tables and indexes besides. Anything else makes the file a damaged one, because
/// no code in a file is ever run (C15): no trigger, no view, no generated column, no expression in
/// an index or a constraint (decision 34).
struct SchemaCheck {
    let items: [SQL.SchemaItem]
    /// How many columns and collections the index of an archive has.
    private let indexSizes: [Int64: (columns: Int, collections: Int)]
    private let mayHaveMoreTables: Bool

    /// Reads the schema in several statements, so `connection` should be in a transaction.
    init(_ connection: Connection, mayHaveMoreTables: Bool = false) throws(SQLiteError) {
        self.mayHaveMoreTables = mayHaveMoreTables
        let list = try connection.prepare(SQL.schema)
        var items: [SQL.SchemaItem] = []
        while try list.step() { items.append(SQL.SchemaItem(list)) }
        self.items = items
        indexSizes =
            try items.contains { $0.name.hasPrefix("columns_") }
            ? IndexTables.sizes(on: connection) : [:]
    }

    /// - Throws: ``SQLiteError`` for damage if the schema contains anything else, or the table of
    ///   groups and the word that says it disagree.
    func run(_ features: Features) throws(SQLiteError) {
        guard items.allSatisfy(isOurs) else {
            throw .corrupt("The schema of the file contains foreign definitions.")
        }
        let members = items.count { item in
            item.name == "members" || MemberTable.indexes.contains { $0.key == item.name }
        }
        guard members == (features.hasGroups ? 1 + MemberTable.indexes.count : 0) else {
            throw .corrupt("The table of groups is not as the features of the file say.")
        }
    }

    /// Whether the tables and indexes of every file are there.
    var isWhole: Bool {
        let names = Set(items.map(\.name))
        return SQL.tables.allSatisfy { names.contains($0.key) }
            && SQL.indexes.allSatisfy { names.contains($0.key) }
    }

    func isOurs(_ item: SQL.SchemaItem) -> Bool {
        switch item.type {
        case "table":
            guard let definition = definition(ofTable: item.name) else {
                return mayHaveMoreTables && item.isPlain
            }
            return item.name == item.table && item.sql == definition
        case "index":
            // SQLite creates one for each UNIQUE constraint, without SQL.
            guard let sql = item.sql else {
                return item.name.hasPrefix("sqlite_autoindex_\(item.table)_")
            }
            return sql == definition(ofIndex: item.name, on: item.table, as: sql)
                ?? (mayHaveMoreTables && item.isPlain ? sql : nil)
        default: return false
        }
    }

    /// The SQL with which this package, or SQLite, creates the table of that name; `nil` if neither
    /// creates such a table.
    func definition(ofTable name: String) -> String? {
        if let own = SQL.tables.first(where: { $0.key == name }) {
            return own.value
        }
        switch name {
        case "members": return MemberTable.create
        case "removed": return RemovedTable.create
        case "sizing": return SizingTable.create
        case "sqlite_stat1": return IndexTables.statisticsTable
        case "sqlite_stat4": return IndexTables.samplesTable
        default: break
        }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 2,
            let archive = Self.number(parts[1]),
            archive > 0
        else { return nil }
        switch (parts[0], parts.count) {
        case ("unindexed", 2): return IndexTables.createUnindexed(archive)
        case ("columns", 2):
            guard let size = indexSizes[archive], 0...2000 ~= size.columns,
                0...2000 ~= size.collections
            else { return nil }
            return IndexTables.createColumns(archive, size.columns, size.collections)
        case ("elements", 3):
            return Self.number(parts[2]).map { IndexTables.createElements(archive, Int($0)) }
        default: return nil
        }
    }

    private func definition(ofIndex name: String, on table: String, as sql: String) -> String? {
        let own =
            SQL.indexes.first { $0.key == name } ?? MemberTable.indexes.first { $0.key == name }
        if let own { return own.value.contains(" ON \(table)(") ? own.value : nil }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard
            parts.count == 3,
            parts[0] == "index",
            let archive = Self.number(parts[1]),
            let number = Self.number(parts[2]),
            table == "columns_\(archive)"
        else { return nil }
        // Only its SQL has the columns by which it orders.
        var columns: [Int] = []
        for name in sql.split(separator: "(").last?.dropLast().split(separator: ", ")
            ?? []
        {
            guard name.first == "c", let column = Self.number(name.dropFirst()) else { return nil }
            columns.append(Int(column))
        }
        return IndexTables.createOrder(archive, Int(number), columns: columns)
    }

    /// A number as this package writes it: no sign and no leading zero.
    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(text), number >= 0, String(number) == text else { return nil }
        return number
    }
}

/// Replaces the schema of a copied file by this package's own, so that reading its rows runs no
/// code of the file.
enum SchemaRepair {
    /// Gives every table with a name that this package uses its own definition, and removes
    /// everything else from the schema. Rows that do not fit do not match their checksums.
    ///
    /// - Parameters:
    ///   - copy: A file that is not open elsewhere. It must be opened again afterwards.
    ///   - check: Its schema.
    /// - Throws: ``SQLiteError``. Definitions whose rows are damaged may be left, without an error.
    static func run(_ copy: String, _ check: SchemaCheck) throws(SQLiteError) {
        let connection = try Connection(path: copy, isDefensive: false)
        try connection.execute(SQL.salvageSettings)
        try connection.execute(SQL.beginWriting)
        for item in check.items where !check.isOurs(item) {
            let sql =
                item.type == "table" && item.name == item.table
                ? check.definition(ofTable: item.name) : nil
            let change = try connection.prepare(
                sql == nil ? SQL.forgetSchemaItem : SQL.redefineTable
            )
            change.bind(item.type, at: 1)
            change.bind(item.name, at: 2)
            if let sql { change.bind(sql, at: 3) }
            do throws(SQLiteError) {
                try change.run()
            } catch {
                // Its row is damaged, too. The caller looks whether anything foreign is left.
                guard error.isDamage else { throw error }
                Log.error("A definition in a damaged schema could not be replaced.", error)
            }
        }
        try connection.execute(SQL.commit)
    }
}
