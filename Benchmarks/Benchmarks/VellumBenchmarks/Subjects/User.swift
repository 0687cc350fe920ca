import GRDB
import Vellum

/// The struct with six fields.
struct User: ArchiveCodable, Subject, Equatable {
    static let title = "six fields"
    static let archiveName = "User"

    var primaryKey: String { id }

    let id: String
    let name: String
    let email: String
    let age: Int
    let score: Double
    let isActive: Bool

    static func make(_ index: Int) -> User {
        let place = String(Scatter.place(index), radix: 16)
        return User(
            id: "u" + place,
            name: "Ann Example \(index % 1000)",
            email: "ann.\(place)@example.com",
            age: 18 + index % 80,
            score: Double(index % 1000) / 8,
            isActive: index.isMultiple(of: 3)
        )
    }

    /// The user of an index as a round of overwriting records it: of the same size in every round,
    /// and never equal to that of the round before. SQLite does not write a page whose bytes stay
    /// the same.
    static func make(_ index: Int, changedIn round: Int) -> User {
        let user = make(index)
        return User(
            id: user.id,
            name: user.name,
            email: user.email,
            age: 100 + round % 100,
            score: user.score,
            isActive: user.isActive
        )
    }

    static func createTable(_ database: Database) throws {
        try database.create(table: databaseTableName) { table in
            table.primaryKey("id", .text)
            for column in ["name", "email"] { table.column(column, .text).notNull() }
            table.column("age", .integer).notNull()
            table.column("score", .double).notNull()
            table.column("isActive", .boolean).notNull()
        }
    }
}
