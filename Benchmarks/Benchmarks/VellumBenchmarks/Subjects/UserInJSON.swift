import Foundation
import GRDB
import Vellum

/// The struct with six fields in an archive that is JSON, whatever archives are by themselves.
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

    static func deArchive(fromData data: Data) throws -> any Archivable { try decoder.decode(UserInJSON.self, from: data) }

    static func make(_ index: Int) -> UserInJSON {
        let user = User.make(index)
        return UserInJSON(id: user.id, name: user.name, email: user.email, age: user.age, score: user.score, isActive: user.isActive)
    }

    static func createTable(_ database: Database) throws { try User.createTable(database) }
}
