import GRDB
import Vellum

/// The struct that queries find: six fields, most of them indexed.
struct Resident: ArchiveCodable, Subject {
    static let title = "residents"
    static let archiveName = "Resident"

    var primaryKey: String { id }

    let id: String
    /// Unique.
    let name: String
    /// Shared by a hundred residents.
    let city: String
    /// Unique, from 0 to the number of residents, in an irregular order.
    let points: Int
    let score: Double
    /// One is shared by a hundred residents, one by a third of them.
    let tags: [String]
    /// Not indexed.
    let email: String

    static func make(_ index: Int) -> Resident { make(index, of: 20_000) }

    static func make(_ index: Int, of count: Int) -> Resident {
        Resident(
            id: "r" + String(Scatter.place(index), radix: 16),
            name: name(index),
            city: city(index * 7, of: count),
            points: index * 7_368_787 % Self.places,
            score: Double(index * 104_729 % Self.places) / 100,
            tags: [tag(index * 11, of: count), "third \(index % 3)"],
            email: "resident.\(index)@example.com"
        )
    }

    /// A prime, so that multiples of it visit each position once.
    private static let places = 1_000_003

    static func name(_ index: Int) -> String {
        let digits = String(index * 7_654_321 % 10_000_019)
        return "Ann Example " + String(repeating: "0", count: 8 - digits.count) + digits
    }

    static func city(_ number: Int, of count: Int) -> String {
        "city \(number % max(1, count / 100))"
    }

    static func tag(_ number: Int, of count: Int) -> String {
        "tag \(number % max(1, count / 100))"
    }

    /// GRDB stores the tags in a column by default; they are also in a table, for lookups.
    static func createTable(_ database: Database) throws {
        try database.create(table: databaseTableName) { table in
            table.primaryKey("id", .text)
            for column in ["name", "city", "tags", "email"] {
                table.column(column, .text).notNull()
            }
            table.column("points", .integer).notNull()
            table.column("score", .double).notNull()
        }
        for columns in [["points"], ["city", "score"], ["name"]] {
            try database.create(
                index: "by_" + columns.joined(separator: "_"),
                on: databaseTableName,
                columns: columns
            )
        }
        try database.execute(
            sql: """
                CREATE TABLE tags(value TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY(value, \
                record)) WITHOUT ROWID;
                CREATE TRIGGER tagged AFTER INSERT ON records BEGIN
                    INSERT INTO tags(value, record) SELECT value, NEW.id FROM json_each(NEW.tags);
                END;
                """
        )
    }
}
