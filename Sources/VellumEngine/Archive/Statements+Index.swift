internal import VellumCore

/// The SQL of an archive's index: a table of columns with SQLite's own indexes over them, a table for the elements of each
/// collection, and a list of strays.
extension SQL {
    static let indexesTable = """
        CREATE TABLE indexes(
            archive INTEGER PRIMARY KEY,
            definition TEXT NOT NULL,
            columns INTEGER NOT NULL,
            collections INTEGER NOT NULL,
            through INTEGER NOT NULL,
            until INTEGER NOT NULL,
            built INTEGER NOT NULL,
            unindexedRows INTEGER NOT NULL
        )
        """

    // MARK: The index as a whole

    static let loadIndex = "SELECT definition, columns, collections, through, until, built, unindexedRows FROM indexes WHERE archive = ?1"
    static let storeIndex = """
        INSERT OR REPLACE INTO indexes(archive, definition, columns, collections, through, until, built, unindexedRows)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        """
    /// How many archives have the tables of an index, and none in the list.
    static let unnamedIndexCount = """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name GLOB 'columns_[0-9]*' AND CAST(substr(name, 9) AS INTEGER) NOT IN (SELECT archive FROM indexes)
        """
    static let deleteIndex = "DELETE FROM indexes WHERE archive = ?1"

    /// What a query must know of an archive before it is planned.
    static let coverage = """
        SELECT a.expiring, i.definition, i.through, i.until, i.unindexedRows, a.entries, i.built, a.next
        FROM archives a LEFT JOIN indexes i ON i.archive = a.id WHERE a.id = ?1
        """

    static func createIndexTables(_ n: Int64, columns: Int, collections: Int, indexes: [[Int]]) -> String {
        let tables = [columnsTable(n, columns, collections)]
        let orders = indexes.enumerated().map { index(n, $0.offset, columns: $0.element) }
        let elements = (0..<collections).map { elementsTable(n, $0) }
        return (tables + orders + elements + [unindexedTable(n)]).joined(separator: ";\n")
    }

    static func columnsTable(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        "CREATE TABLE columns_\(n)(\((["id INTEGER PRIMARY KEY"] + columnNames(columns, collections)).joined(separator: ", ")))"
    }

    static func index(_ n: Int64, _ number: Int, columns: [Int]) -> String {
        "CREATE INDEX index_\(n)_\(number) ON columns_\(n)(\(columns.map { "c\($0)" }.joined(separator: ", ")))"
    }

    static func elementsTable(_ n: Int64, _ collection: Int) -> String {
        "CREATE TABLE elements_\(n)_\(collection)(value, id INTEGER NOT NULL, PRIMARY KEY(value, id)) WITHOUT ROWID"
    }

    static func unindexedTable(_ n: Int64) -> String { "CREATE TABLE unindexed_\(n)(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL)" }

    /// What the indexes hold, for whoever checks their tables.
    static let indexSizes = "SELECT archive, columns, collections FROM indexes"

    static func dropIndexTables(_ n: Int64, collections: Int) -> String {
        indexTables(n, collections).map { "DROP TABLE IF EXISTS \($0);" }.joined(separator: "\n")
    }

    static func emptyIndexTables(_ n: Int64, collections: Int) -> String {
        indexTables(n, collections).map { "DELETE FROM \($0);" }.joined(separator: "\n")
    }

    private static func indexTables(_ n: Int64, _ collections: Int) -> [String] {
        ["columns_\(n)", "unindexed_\(n)"] + (0..<collections).map { "elements_\(n)_\($0)" }
    }

    // MARK: The rows of the index

    private static func columnNames(_ columns: Int, _ collections: Int) -> [String] {
        (0..<columns).map { "c\($0)" } + (0..<collections).map { "e\($0)" }
    }

    static func insertColumns(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        let places = (0...(columns + collections)).map { "?\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO columns_\(n) VALUES (\(places))"
    }

    static func readColumns(_ n: Int64, _ columns: Int, _ collections: Int) -> String {
        "SELECT \(columnNames(columns, collections).joined(separator: ", ")) FROM columns_\(n) WHERE id = ?1"
    }

    static func deleteColumns(_ n: Int64) -> String { "DELETE FROM columns_\(n) WHERE id = ?1" }

    static func addElement(_ n: Int64, _ collection: Int) -> String { "INSERT INTO elements_\(n)_\(collection)(value, id) VALUES (?1, ?2)" }
    static func deleteElement(_ n: Int64, _ collection: Int) -> String {
        "DELETE FROM elements_\(n)_\(collection) WHERE value = ?1 AND id = ?2"
    }

    // MARK: Strays

    static func addUnindexed(_ n: Int64) -> String { "INSERT OR REPLACE INTO unindexed_\(n)(id, kind) VALUES (?1, ?2)" }
    static func deleteUnindexed(_ n: Int64) -> String { "DELETE FROM unindexed_\(n) WHERE id = ?1" }
    static func unindexedRows(_ n: Int64) -> String { "SELECT id, kind FROM unindexed_\(n) ORDER BY id" }
    static func unindexedOfKind(_ n: Int64) -> String { "SELECT id FROM unindexed_\(n) WHERE kind = ?1 LIMIT ?2" }
    static func changeUnindexed(_ n: Int64) -> String { "UPDATE unindexed_\(n) SET kind = ?2 WHERE id = ?1" }
    static func countUnindexed(_ n: Int64) -> String { "SELECT count(*) FROM unindexed_\(n)" }

    // MARK: Queries

    static func entryOfRow(_ n: Int64) -> String { entriesWithKeys(n, "id = ?1") }
    static func revisionOfRow(_ n: Int64) -> String { "SELECT checksum FROM entries_\(n) WHERE id = ?1" }
    static func entriesBetween(_ n: Int64) -> String { entriesWithKeys(n, "id > ?1 AND id <= ?2 ORDER BY id") }
    static func newestRows(_ n: Int64) -> String {
        "SELECT id FROM columns_\(n) ORDER BY id DESC LIMIT ?1"
    }

    /// The beginning of a query; tables and conditions follow.
    static func select(_ what: String) -> String { "SELECT \(what) FROM " }
    static func count(_ rows: String) -> String { "SELECT count(*) FROM (\(rows))" }
    static func explain(_ sql: String) -> String { "EXPLAIN QUERY PLAN \(sql)" }

    // MARK: Statistics

    /// The tables that ANALYZE makes (sqlite.org/fileformat2.html, 2.6.3 and 2.6.5).
    static let statisticsTable = "CREATE TABLE sqlite_stat1(tbl,idx,stat)"
    static let samplesTable = "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"
    static let hasStatistics = "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'"
    static func isAnalysed(_ n: Int64) -> String { "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'columns_\(n)'" }
    /// Looks at some hundreds of rows of each index (sqlite.org/lang_analyze.html, 4.1).
    static func analyse(_ n: Int64, collections: Int) -> String {
        let tables = ["columns_\(n)"] + (0..<collections).map { "elements_\(n)_\($0)" }
        return "PRAGMA analysis_limit = 400;\n" + tables.map { "ANALYZE \($0);" }.joined(separator: "\n")
    }

    // MARK: Checking

    static func countColumns(_ n: Int64) -> String { "SELECT count(*) FROM columns_\(n)" }
    static func countCoveredEntries(_ n: Int64) -> String { "SELECT count(*) FROM entries_\(n) WHERE id <= ?1 OR id > ?2" }
    static func countOrphans(_ n: Int64) -> String {
        "SELECT count(*) FROM columns_\(n) c WHERE NOT EXISTS (SELECT 1 FROM entries_\(n) e WHERE e.id = c.id)"
    }
}
