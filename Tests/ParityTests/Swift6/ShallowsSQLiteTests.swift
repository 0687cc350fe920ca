import Foundation
import ShallowsSQLite
import TestThreads
import Testing

private nonisolated struct City: Codable, Equatable, Sendable {
    let name: String
    let foundationYear: Int
}

/// The adapter where the document has a folder of files: only the first word changes, and one
/// import is enough.
@Suite(.ownThreads)
struct ShallowsSQLiteTests {
    private let own = OwnFolder("sqlite")
    private let kharkiv = City(name: "Kharkiv", foundationYear: 1654)

    @Test func aFileStandsWhereAFolderStood() async throws {
        let file = own.url.appendingPathComponent("cities.sqlite")
        let disk = SQLiteStorage<City>(
            fileURL: file,
            options: .init(memoryLimit: 1.megaByte, diskLimit: 20.megaByte)
        )
        let storage: Storage<Filename, City> = disk.combined(
            with: MemoryStorage<Filename, City>(storage: ["kharkiv": kharkiv])
        )
        #expect(try await storage.retrieve(forKey: "kharkiv") == kharkiv)
        try await disk.close()

        let again = SQLiteStorage<City>(
            fileURL: file,
            options: .init(memoryLimit: 1.megaByte, diskLimit: 20.megaByte)
        )
        #expect(try await again.usingStringKeys().retrieve(forKey: "kharkiv") == kharkiv)
        try await again.asRemovableStorage().remove(forKey: "kharkiv")
        #expect(try await again.retrieveIfPresent(forKey: "kharkiv") == nil)
        try await again.close()
    }

    @Test func itIsCalledWithCompletionsToo() async throws {
        let answers = Answers<City?>()
        let disk = SQLiteStorage<City>(fileURL: own.url.appendingPathComponent("cities.sqlite"))
        func callSite() {
            disk.set(kharkiv, forKey: "kharkiv")
            disk.retrieve(forKey: "kharkiv") { (result) in answers.give(try? result.get()) }
        }
        callSite()
        #expect(await answers.first == kharkiv)
        try await disk.close()
    }

    /// The values of a folder are copied by ordinary calls.
    @Test func theValuesOfAFolderAreCopied() async throws {
        let folder = DiskFolderStorage(
            folderURL: own.url.appendingPathComponent("cities", isDirectory: true)
        )
        let files = folder.mapJSONObject(City.self)
        try await files.set(kharkiv, forKey: "kharkiv")
        let disk = SQLiteStorage<City>(fileURL: own.url.appendingPathComponent("cities.sqlite"))
        for key in try await folder.keys() {
            try await disk.set(try await files.retrieve(forKey: key), forKey: key)
        }
        #expect(try await disk.retrieve(forKey: "kharkiv") == kharkiv)
        try await disk.close()
    }
}
