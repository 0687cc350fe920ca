internal import VellumCore

/// SQL that belongs to no table: settings, transactions, and statements about the file as a whole.
///
/// Each table has a file of its own in this folder, with its statements and the structs that read their rows. All archives share the tables
/// of entries and uses; the tables of an archive's index carry its number. Numbers come from the table `archives`, never from user-supplied
/// text.
enum SQL {
    // MARK: The file

    static let applicationID = "PRAGMA application_id"
    static let formatVersion = "PRAGMA user_version"
    static let startLog = "PRAGMA journal_mode = WAL"
    static let startPageReuse = "PRAGMA auto_vacuum = INCREMENTAL"

    static func setApplicationID(_ id: Int32) -> String { "PRAGMA application_id = \(id)" }
    static func setFormatVersion(_ version: Int) -> String { "PRAGMA user_version = \(version)" }

    static let pageCount = "PRAGMA page_count"
    static let pageSize = "PRAGMA page_size"
    /// Runs ``pageCount``.
    static func readPageCount(_ statement: Statement) throws(SQLiteError) -> Int64 {
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : 0
    }

    static let freePageCount = "PRAGMA freelist_count"
    static func freePages(_ count: Int) -> String { "PRAGMA incremental_vacuum(\(count))" }

    private static let integrityCheck = "PRAGMA integrity_check(100)"

    /// Appends what SQLite finds wrong with the structure of the file, also what it finds before an error ends the check.
    static func appendStructuralProblems(of connection: Connection, to problems: inout [String]) throws(SQLiteError) {
        let check = try connection.prepare(integrityCheck)
        while try check.step() {
            if let problem = check.text(0), problem != "ok" { problems.append(problem) }
        }
    }

    // MARK: Connections

    /// Settings of the connection that writes. A commit survives a killed process; the engine syncs the log itself where a write must
    /// survive power loss.
    static let writerSettings = """
        PRAGMA synchronous = NORMAL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA cache_size = -8192;
        PRAGMA temp_store = MEMORY;
        PRAGMA secure_delete = OFF;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    static let readerSettings = """
        PRAGMA query_only = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -4096;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// Settings that read as much as possible of a truncated file, a damaged schema and a page with a bad cell.
    static let salvageSettings = """
        PRAGMA writable_schema = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = OFF;
        """

    // MARK: Transactions

    static let begin = "BEGIN"
    static let beginWriting = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    // MARK: Schema

    /// The tables of every file, by their names.
    static let tables: KeyValuePairs = [
        "archives": ArchiveTable.create, "entries": EntryTable.create, "touches": RecencyTables.createTouches,
        "recency": RecencyTables.createRecency, "indexes": IndexTables.create, "retention": RetentionTable.create,
    ]

    /// The indexes of every file.
    static let indexes: KeyValuePairs = [
        "entries_by_hash": EntryTable.createIndex
    ]

    /// How many tables and indexes there are: reading it makes a connection open the log.
    static let tableCount = "SELECT count(*) FROM sqlite_schema"
    static let forgetSchemaItem = "DELETE FROM sqlite_schema WHERE type = ?1 AND name = ?2"
    static let redefineTable = "UPDATE sqlite_schema SET sql = ?3 WHERE type = ?1 AND name = ?2"

    static let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema"

    /// A row of `sqlite_schema`, as ``schema`` selects it.
    struct SchemaItem {
        var type: String
        var name: String
        var table: String
        var sql: String?

        private enum Column: Int32 { case type, name, table, sql }

        init(_ row: Statement) {
            type = row.text(Column.type) ?? ""
            name = row.text(Column.name) ?? ""
            table = row.text(Column.table) ?? ""
            sql = row.text(Column.sql)
        }

        /// Whether a later version of format 1 may have added it: a table whose name begins with `x_`, of columns with plain types, or an
        /// index of its columns. Nothing in it is executed: there is no expression, check, default, generated column or foreign key.
        var isAddition: Bool {
            guard Self.isName(table, "x_"), Self.isName(name, "x_"), let sql else { return false }
            switch type {
            case "table" where name == table:
                return Self.columns(of: sql, "CREATE TABLE \(name)(")?.allSatisfy { column in
                    column.first.map { Self.isName($0) } ?? false && column.dropFirst().allSatisfy(Self.words.contains)
                } ?? false
            case "index":
                return Self.columns(of: sql, "CREATE INDEX \(name) ON \(table)(")?.allSatisfy { $0.count == 1 && Self.isName($0[0]) }
                    ?? false
            default: return false
            }
        }

        private static let words: Set<Substring> = ["INTEGER", "TEXT", "BLOB", "REAL", "NOT", "NULL", "PRIMARY", "KEY"]

        /// The words of each column between the parentheses of a definition; `nil` if it is formed otherwise.
        private static func columns(of sql: String, _ beginning: String) -> [[Substring]]? {
            let end = sql.hasSuffix(") WITHOUT ROWID") ? ") WITHOUT ROWID" : ")"
            guard sql.hasPrefix(beginning), sql.hasSuffix(end), sql.utf8.count > beginning.utf8.count + end.utf8.count else { return nil }
            return sql.dropFirst(beginning.count).dropLast(end.count).split(separator: ", ", omittingEmptySubsequences: false)
                .map { $0.split(separator: " ", omittingEmptySubsequences: false) }
        }

        /// Whether a text is a name of small letters, digits and underscores.
        private static func isName(_ text: some StringProtocol, _ prefix: String = "") -> Bool {
            guard let first = text.utf8.first, text.hasPrefix(prefix), text.utf8.count > prefix.utf8.count else { return false }
            return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
                    default: false
                    }
                }
        }
    }
}

/// A statement has one enum of columns beside it, in the order in which it selects them.
extension Statement {
    func isNull(_ column: some RawRepresentable<Int32>) -> Bool { isNull(column.rawValue) }
    func int(_ column: some RawRepresentable<Int32>) -> Int64 { int(column.rawValue) }
    func optionalInt(_ column: some RawRepresentable<Int32>) -> Int64? { optionalInt(column.rawValue) }
    func double(_ column: some RawRepresentable<Int32>) -> Double { double(column.rawValue) }
    func text(_ column: some RawRepresentable<Int32>) -> String? { text(column.rawValue) }
    func isText(_ text: String, at column: some RawRepresentable<Int32>) -> Bool { isText(text, at: column.rawValue) }
    func bytes(_ column: some RawRepresentable<Int32>) -> UnsafeRawBufferPointer { bytes(column.rawValue) }

    func instant(_ column: some RawRepresentable<Int32>) -> WallInstant { WallInstant(rawValue: int(column)) }
    func optionalInstant(_ column: some RawRepresentable<Int32>) -> WallInstant? {
        optionalInt(column).map(WallInstant.init(rawValue:))
    }
    func stamp(_ column: some RawRepresentable<Int32>) -> UseStamp { UseStamp(rawValue: int(column)) }
    func key(_ column: some RawRepresentable<Int32>) -> EntryKey { EntryKey(String(decoding: bytes(column), as: UTF8.self)) }
    func checksum(_ column: some RawRepresentable<Int32>) -> UInt32 { UInt32(truncatingIfNeeded: int(column)) }
}
