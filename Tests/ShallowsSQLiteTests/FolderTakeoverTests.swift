import Foundation
import ShallowsSQLite
import Testing
import VellumTestSupport

@Suite(.timeLimit(.minutes(60)))
struct FolderTakeoverTests {
    struct City: Codable, Equatable, Sendable {
        var name: String
    }

    @Test func aFolderOnDiskIsMovedInOneCall() async throws {
        let temporary = try TemporaryDirectory()
        let folder = DiskFolderStorage(folderURL: temporary.file("cities"))
        let cities = folder.mapJSONObject(City.self)
        let keys: [Filename] = ["kharkiv", "", "a/b", "..", "é", Filename(rawValue: String(repeating: "long", count: 1000))]
        for key in keys { try await cities.set(City(name: key.rawValue), forKey: key) }
        let storage = SQLiteStorage<City>(fileURL: temporary.file("cities.sqlite"))
        let moved = try await storage.takeOver(folder)
        #expect(moved.moved == keys.count && moved.left.isEmpty)
        for key in keys { #expect(try await storage.retrieve(forKey: key) == City(name: key.rawValue)) }
        #expect(try await folder.keys().isEmpty)
        #expect(try await storage.takeOver(folder).moved == 0)
    }
}
