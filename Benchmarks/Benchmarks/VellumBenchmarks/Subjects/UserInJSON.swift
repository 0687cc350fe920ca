import Foundation
import GRDB
import Vellum

/// The struct with six fields, archived as JSON instead of the default format.
struct UserInJSON: ArchiveCodable, Subject {
    static let title = "six fields in JSON"
    static let archiveName = "User"

    var primaryKey: String { id }

    let id: String
    let name: String
    let email: String
    let age: Int
    let score: Double
    let isActive: Bool

    private static let encoder = JSONEncoder()
    private static let decoder = JSONDecoder()

    func archive() throws -> Data { try Self.encoder.encode(self) }

    static func deArchive(fromData data: Data) throws -> any Archivable {
        try decoder.decode(UserInJSON.self, from: data)
    }

    static func make(_ index: Int) -> UserInJSON { UserInJSON(User.make(index)) }

    init(_ user: User) {
        (id, name, email, age, score, isActive) = (
            user.id, user.name, user.email, user.age, user.score, user.isActive
        )
    }

    static func createTable(_ database: Database) throws { try User.createTable(database) }
}
