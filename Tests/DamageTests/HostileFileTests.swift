import CChecksum
import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

@testable import VellumEngine

/// C15: a file is data. Whatever it contains, no part of it is executed, nothing hangs, and no
/// process ends.
@Suite(.ownThreads(.longSuite), .serialized)
struct HostileFileTests {
    // MARK: Values

    private static let tables = [
        "archives", "indexes", "retention", "entries", "touches", "recency", "columns_2",
        "elements_2_0", "unindexed_2", "features",
        "members",
    ]

    private static let values = [
        "NULL", "0", "-1", "1", "4611686018427387904", "9223372036854775807",
        "-9223372036854775808", "281474976710656", "1e308",
        "'a text'", "x''",
        "zeroblob(100000)",
    ]

    private func columns(of table: String) throws -> [String] {
        let hostile = try HostileFile()
        let database = try RawDatabase(hostile.url)
        let count = try database.int("SELECT count(*) FROM pragma_table_info('\(table)')")
        return try (0..<count).map {
            try database.text("SELECT name FROM pragma_table_info('\(table)') WHERE cid = \($0)")
        }
    }

    /// Whether a combination of a column is tried: all, or in `make long` a seventh, or two of the
    /// 24 of the column, three if the table has no other: different ones for each column.
    private static func isTried(
        _ combination: Int,
        _ column: Int,
        of columns: Int,
        _ table: String
    ) -> Bool {
        if DamagePlan.isWhole { return true }
        guard LongRun.number(1, usually: 0) == 0 else { return combination % 7 == 0 }
        let (shift, count) = ((tables.firstIndex(of: table) ?? 0) * 11, values.count * 2)
        let number = (combination + column * 5 + shift) % count
        return (columns > 1 ? [0, 13] : [0, 7, 14]).contains(number)
    }

    /// Every column of every table gets extreme values, in one row and in all rows, with valid
    /// checksums: some combinations of each column, and all with `VELLUM_DAMAGE=all`.
    @Test(arguments: tables)
    func extremeValuesAreHandledOrReported(_ table: String) throws {
        let names = try columns(of: table)
        try #require(!names.isEmpty)
        var combinations = 0
        for (column, name) in names.enumerated() {
            for value in Self.values {
                for condition in ["rowid = (SELECT min(rowid) FROM \(table))", "1"] {
                    combinations += 1
                    guard Self.isTried(combinations, column, of: names.count, table) else {
                        continue
                    }
                    let hostile = try HostileFile()
                    let database = try RawDatabase(hostile.url)
                    let isWithoutRow = ["retention", "recency", "elements_2_0"].contains(table)
                    let rows = isWithoutRow ? "1" : condition
                    do {
                        try database.execute(
                            """
                            PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE \(table) SET \
                            \(name) = \(value) WHERE \(rows)
                            """
                        )
                    } catch is RawDatabase.Failure {
                        continue  // SQLite itself rejects such a value there.
                    }
                    if table == "entries" {
                        try signEntries(of: table, in: database, archive: "plain")
                    }
                    // Every other time with the complement that belongs to the value.
                    if combinations % 2 == 0, names.contains("\(name)_check") {
                        try database.execute(
                            """
                            PRAGMA ignore_check_constraints = ON; UPDATE OR IGNORE \(table) SET \
                            \(name)_check = ~\(name) WHERE \(rows)
                            """
                        )
                    }
                    let case_ = "\(table).\(name) = \(value) where \(rows)"
                    CaseGuard.begin(case_, slice: 0)
                    let outcome = hostile.use()
                    CaseGuard.end(slice: 0)
                    #expect(outcome.wrong == [], "\(case_)")
                }
            }
        }
    }

    /// Gives every entry a checksum that matches its values.
    private func signEntries(of table: String, in database: RawDatabase, archive: String) throws {
        let checksum = Checksum(
            archiveName: archive,
            hash: SeededHash(
                seed: Int64(try database.int("SELECT hash_seed FROM archives WHERE id = 1"))
            )
        )
        for id in try database.ints("SELECT id FROM \(table) WHERE id >> 40 = 1") {
            func blob(_ column: String) throws -> Data {
                try database.data("SELECT CAST(\(column) AS BLOB) FROM \(table) WHERE id = \(id)")
            }
            func int(_ column: String) throws -> Int64? {
                try database.int("SELECT \(column) IS NULL FROM \(table) WHERE id = \(id)") == 1
                    ? nil
                    : Int64(try database.int("SELECT \(column) FROM \(table) WHERE id = \(id)"))
            }
            let (key, bytes) = (try blob("key"), try blob("bytes"))
            var entry = Entry(
                bytes: bytes,
                written: WallInstant(rawValue: try int("written") ?? 0),
                expires: try int("expires").map(WallInstant.init(rawValue:)),
                idle: try int("idle")
            )
            entry.typeVersion = try int("type_version") ?? 0
            let sum = key.withUnsafeBytes { checksum.of(entry, key: $0) }
            try database.execute("UPDATE OR IGNORE \(table) SET checksum = \(sum) WHERE id = \(id)")
        }
    }

    // MARK: Structure

    static let endless =
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"

    /// How many of three operations a trigger of each table is tried for.
    private static let operations = LongRun.number(3, usually: 1)

    private static let triggers: [String] = {
        let tables = [
            "archives", "retention", "indexes", "entries", "touches", "recency", "columns_2",
            "members",
        ]
        let all = ["INSERT", "UPDATE", "DELETE"]
        var triggers: [String] = []
        for (number, table) in tables.enumerated() {
            for word in (0..<operations).map({ all[(number + $0) % 3] }) {
                triggers.append(
                    "CREATE TRIGGER a_\(table)_\(word) BEFORE \(word) ON \(table)"
                        + " BEGIN \(endless); END"
                )
            }
        }
        return triggers
    }()

    /// Changes of the schema that leave every entry readable.
    private static let programs: [String] =
        triggers + [
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
            "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END",
            "CREATE TRIGGER t BEFORE INSERT ON entries BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
            """
            CREATE TRIGGER t AFTER UPDATE ON archives BEGIN UPDATE archives SET entries = 0, bytes \
            = 0, max_bytes = 1; END
            """,
            "CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT randomblob(1000000000); END",
            """
            CREATE TRIGGER t AFTER DELETE ON entries BEGIN INSERT INTO recency SELECT 1, \
            (\(endless)); END
            """,
            "CREATE VIEW v AS \(endless)",
            "CREATE TABLE theirs(x)",
            "CREATE TABLE theirs(x PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE \"entries_01\"(x)",
            "CREATE TABLE entries_99999999999999999999(x)",
            "CREATE INDEX i ON entries(length(bytes))",
            "CREATE INDEX i ON entries(written) WHERE hex(zeroblob(100000)) > ''",
            "CREATE UNIQUE INDEX i ON touches(id)",
            "CREATE INDEX index_2_9 ON columns_2(abs(c0))",
            "ALTER TABLE entries ADD COLUMN more TEXT DEFAULT 'more'",
            "ALTER TABLE entries ADD COLUMN more AS (hex(zeroblob(1000000)))",
            "ALTER TABLE archives ADD COLUMN more INTEGER DEFAULT 7",
            "ALTER TABLE touches ADD COLUMN more AS (zeroblob(100000000)) VIRTUAL",
        ]

    @Test func noCodeInAFileIsExecutedAndEveryEntryIsSalvaged() throws {
        for program in Self.programs {
            let hostile = try HostileFile()
            do {
                try RawDatabase(hostile.url).execute(program)
            } catch is RawDatabase.Failure {
                Issue.record("SQLite does not take \(program)")
            }
            CaseGuard.begin(program, slice: 1)
            let outcome = hostile.use()
            CaseGuard.end(slice: 1)
            #expect(outcome.wrong == [] && outcome.codes == [], "\(program)")
            #expect(outcome.setAside == 1, "\(program)")
            #expect(outcome.found == HostileFile.entries * SampleStore.archives.count, "\(program)")
        }
    }

    /// A definition that cannot be parsed does not hide another that would be executed and would
    /// make every checksum wrong.
    @Test func aMalformedDefinitionDoesNotHideExecutableCode() throws {
        let hostile = try HostileFile()
        try RawDatabase(hostile.url).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'idle INTEGER', 'idle INTEGER AS \
            (length(hex(zeroblob(1000))))')
            WHERE name = 'entries';
            UPDATE sqlite_schema SET sql = 'garbage' WHERE name = 'unindexed_2';
            """
        )
        let outcome = hostile.use()
        #expect(outcome.setAside == 1 && outcome.wrong == [])
        #expect(outcome.found == HostileFile.entries * SampleStore.archives.count)
    }

    /// Changes that also make entries unreadable: entries may be lost, and nothing worse may
    /// happen.
    private static let destructions: [String] = [
        "DROP TABLE entries", "DROP TABLE touches", "DROP TABLE recency", "DROP TABLE retention",
        "DROP TABLE indexes",
        "DROP TABLE columns_2",
        "ALTER TABLE entries RENAME TO theirs",
        "ALTER TABLE entries RENAME TO theirs; CREATE VIEW entries AS SELECT * FROM theirs",
        "ALTER TABLE entries RENAME TO theirs; CREATE VIEW entries AS \(endless)",
        "ALTER TABLE archives RENAME TO theirs; CREATE VIEW archives AS SELECT * FROM theirs",
        "ALTER TABLE archives RENAME TO theirs; CREATE VIEW archives AS \(endless)",
        "ALTER TABLE touches RENAME TO theirs; CREATE VIEW touches AS \(endless)",
        "ALTER TABLE entries RENAME COLUMN bytes TO theirs",
        "ALTER TABLE entries DROP COLUMN idle",
        "ALTER TABLE archives DROP COLUMN cache_version",
        """
        DROP TABLE entries; CREATE TABLE entries(id INTEGER PRIMARY KEY, key BLOB, written, \
        expires, stamp, checksum, bytes AS (randomblob(1000000000)), idle)
        """,
        """
        DROP TABLE touches; CREATE TABLE touches(id INTEGER PRIMARY KEY, stamp INTEGER CHECK \
        (hex(zeroblob(100000000)) > ''))
        """,
        "DROP TABLE recency; CREATE TABLE recency(stamp PRIMARY KEY, id) WITHOUT ROWID",
        """
        DROP TABLE recency; CREATE TABLE recency(stamp INTEGER PRIMARY KEY, id REFERENCES \
        entries(id) ON DELETE CASCADE)
        """,
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE entries(x)' \
        WHERE name = 'entries'
        """,
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = \
        'garbage' WHERE name = 'touches'
        """,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'entries'",
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999999 WHERE name = \
        'entries'
        """,
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM \
        sqlite_schema WHERE name = 'recency') WHERE name = 'touches'
        """,
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET tbl_name = 'touches' WHERE name = \
        'entries'
        """,
        """
        PRAGMA writable_schema = ON; DELETE FROM sqlite_schema \
        WHERE name LIKE 'sqlite_autoindex%'
        """,
        """
        PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type \
        = 'view' WHERE name = 'entries'
        """,
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = NULL WHERE name = 'entries'",
        """
        PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT type, name, tbl_name, \
        rootpage, sql FROM sqlite_schema
        """,
        "DELETE FROM archives", "UPDATE archives SET id = id + 100",
        "UPDATE archives SET low_water = next + 100, recency = 0",
        "UPDATE archives SET entries = 0, bytes = 0",
        "UPDATE archives SET entries = next, bytes = 1 << 47",
        "UPDATE indexes SET columns = 2000, collections = 2000",
        "UPDATE indexes SET definition = ''",
        "PRAGMA application_id = 0", "PRAGMA user_version = 0", "PRAGMA user_version = 3",
        "PRAGMA journal_mode = DELETE",
    ]

    @Test func noOtherSchemaCrashesOrHangsTheProcess() throws {
        for destruction in Self.destructions {
            let hostile = try HostileFile()
            do {
                try RawDatabase(hostile.url).execute(destruction)
            } catch is RawDatabase.Failure {
                // The last step may be impossible in the file that the first produced, which is a
                // valid case, too.
            }
            CaseGuard.begin(destruction, slice: 2)
            let outcome = hostile.use()
            CaseGuard.end(slice: 2)
            #expect(outcome.wrong == [], "\(destruction)")
        }
    }

    @Test func aWrongLowWaterMarkDoesNotHideEntries() throws {
        let hostile = try HostileFile()
        try RawDatabase(hostile.url).execute("UPDATE archives SET low_water = next + 100")
        let file = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        do {
            _ = try SampleStore.open("plain", in: file)
            Issue.record("It was believed.")
        } catch {
            #expect(error.code == .damagedFile)
        }
        try file.close()
        let again = try DatabaseFile.open(at: hostile.url, clock: SampleStore.clock)
        #expect(try SampleStore.open("plain", in: again).keys().count == HostileFile.entries)
    }
}
