package import VellumCore

/// SQL that belongs to no table: settings, transactions, and statements about the file as a whole.
///
/// Each table has a file of its own in `Tables`, with its statements and the structs that read
/// their rows. All archives share the tables of entries and uses; the tables of an archive's index
/// carry its number. Numbers come from the table `archives`, never from user-supplied text.
package enum SQL {
    // MARK: The file

    static let applicationID = "PRAGMA application_id"
    static let formatVersion = "PRAGMA user_version"
    static let journalMode = "PRAGMA journal_mode"
    static let startLog = "PRAGMA journal_mode = WAL"
    static let startPageReuse = "PRAGMA auto_vacuum = INCREMENTAL"

    static func setApplicationID(_ id: Int32) -> String { "PRAGMA application_id = \(id)" }
    static func setFormatVersion(_ version: Int) -> String { "PRAGMA user_version = \(version)" }

    package static let pageCount = "PRAGMA page_count"
    package static let pageSize = "PRAGMA page_size"
    static let freePageCount = "PRAGMA freelist_count"
    static func freePages(_ count: Int) -> String { "PRAGMA incremental_vacuum(\(count))" }

    private static let integrityCheck = "PRAGMA integrity_check(100)"

    /// Appends what SQLite finds wrong with the structure of the file, also what it finds before an
    /// error ends the check.
    static func appendStructuralProblems(
        of connection: Connection,
        to problems: inout [String]
    ) throws(SQLiteError) {
        let check = try connection.prepare(integrityCheck)
        while try check.step() {
            if let problem = check.text(0), problem != "ok" { problems.append(problem) }
        }
    }

    // MARK: Connections

    /// Settings of the connection that writes. A commit survives a killed process; the engine syncs
    /// the log itself where a write must survive power loss.
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

    static let syncNothing = "PRAGMA synchronous = OFF"
    static let syncAgain = "PRAGMA synchronous = NORMAL"

    package static let readerSettings = """
        PRAGMA query_only = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA cache_size = -4096;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        """

    /// More memory for a check of the whole file, which looks up a row of each index's entry.
    package static let verifierSettings = "PRAGMA cache_size = -24576"

    /// Settings of a connection that fills a new file, which is synced when it is whole and removed
    /// if it is not.
    package static let copySettings = """
        PRAGMA synchronous = OFF;
        PRAGMA journal_mode = MEMORY;
        PRAGMA cache_size = -8192;
        """

    /// Every statement that would write fails.
    static let refuseWrites = "PRAGMA query_only = ON"

    /// Settings that read as much as possible of a truncated file, a damaged schema and a page with
    /// a bad cell.
    static let salvageSettings = """
        PRAGMA writable_schema = ON;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = OFF;
        """

    // MARK: Transactions

    package static let begin = "BEGIN"
    static let beginWriting = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"
    static let beginPart = "SAVEPOINT part"
    static let endPart = "RELEASE part"
    static let undoPart = "ROLLBACK TO part; RELEASE part"

    // MARK: Schema

    /// How many tables and indexes there are: reading it makes a connection open the log.
    package static let tableCount = "SELECT count(*) FROM sqlite_schema"
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

        /// Whether it is a table or an index of which nothing is executed: only an expression, a
        /// check or a generated column has a parenthesis inside the one around the columns.
        var isPlain: Bool {
            guard let sql,
                ["CREATE TABLE \(name)(", "CREATE INDEX \(name) ON \(table)("].contains(
                    where: sql.hasPrefix
                )
            else {
                return false
            }
            return sql.utf8.count { $0 == UInt8(ascii: "(") } == 1
        }
    }
}

/// A statement has one enum of columns beside it, in the order in which it selects them.
extension Statement {
    package func isNull(_ column: some RawRepresentable<Int32>) -> Bool { isNull(column.rawValue) }
    package func int(_ column: some RawRepresentable<Int32>) -> StoredInteger {
        int(column.rawValue)
    }
    package func optionalInt(_ column: some RawRepresentable<Int32>) -> StoredInteger? {
        optionalInt(column.rawValue)
    }
    package func text(_ column: some RawRepresentable<Int32>) -> String? { text(column.rawValue) }
    package func isText(_ text: String, at column: some RawRepresentable<Int32>) -> Bool {
        isText(text, at: column.rawValue)
    }
    package func bytes(_ column: some RawRepresentable<Int32>) -> UnsafeRawBufferPointer {
        bytes(column.rawValue)
    }

    package func instant(_ column: some RawRepresentable<Int32>) -> WallInstant {
        WallInstant(rawValue: int(column).value)
    }
    package func optionalInstant(_ column: some RawRepresentable<Int32>) -> WallInstant? {
        optionalInt(column).map { WallInstant(rawValue: $0.value) }
    }
    package func stamp(_ column: some RawRepresentable<Int32>) -> UseStamp {
        UseStamp(rawValue: int(column).value)
    }
    func optionalStamp(_ column: some RawRepresentable<Int32>) -> UseStamp? {
        isNull(column) ? nil : stamp(column)
    }
    package func key(_ column: some RawRepresentable<Int32>) -> EntryKey {
        EntryKey(String(decoding: bytes(column), as: UTF8.self))
    }
    package func checksum(_ column: some RawRepresentable<Int32>) -> UInt32 {
        UInt32(truncatingIfNeeded: int(column).value)
    }
}
