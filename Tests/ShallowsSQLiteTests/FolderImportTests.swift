import Foundation
import ShallowsSQLite
import Testing
import VellumTestSupport

@Suite(.timeLimit(.minutes(1)))
struct FolderImportTests {
    struct City: Codable, Equatable, Sendable {
        var name: String
    }

    @Test func aFolderOnDiskIsImportedInOneCall() async throws {
        let temporary = try TemporaryDirectory()
        let folder = DiskFolderStorage(folderURL: temporary.file("cities"))
        let cities = folder.mapJSONObject(City.self)
        let keys: [Filename] = ["kharkiv", "", "a/b", "..", "é", Filename(rawValue: String(repeating: "long", count: 1000))]
        for key in keys { try await cities.set(City(name: key.rawValue), forKey: key) }
        let storage = SQLiteStorage<City>(fileURL: temporary.file("cities.sqlite"))
        let result = try await storage.importFolder(folder)
        #expect(result.imported == keys.count && result.remaining.isEmpty)
        for key in keys { #expect(try await storage.retrieve(forKey: key) == City(name: key.rawValue)) }
        #expect(try await folder.keys().isEmpty)
        #expect(try await storage.importFolder(folder).imported == 0)
    }
}
