import Foundation
import ShallowsSQLite
import TestThreads
import Testing

/// The code of the documentation, with `import ShallowsSQLite` alone.
@Suite(.ownThreads)
struct DocumentationTests {
    private struct Image {
        var bytes: Data
    }

    @Test func aFolderOfFilesIsReplacedInOneLine() async throws {
        let temporary = try TemporaryStorages()
        let images = SQLiteStorage<Data>(
            fileURL: temporary.file,
            options: .init(diskLimit: 200.megaBytes)
        )
        .mapValues(to: Image.self, transformIn: { Image(bytes: $0) }, transformOut: { $0.bytes })
        let efficient = MemoryStorage<Filename, Image>().combined(with: images)
        func setWithoutWaiting() { efficient.set(Image(bytes: data("kitten")), forKey: "kitten") }
        setWithoutWaiting()
        #expect(try await efficient.retrieve(forKey: "kitten").bytes == data("kitten"))
        #expect(try images.makeSyncStorage().retrieve(forKey: "kitten").bytes == data("kitten"))
    }

    @Test func theNamesOfTheEngineThatCallersNeedAreThere() async throws {
        let temporary = try TemporaryStorages()
        let cities = SQLiteStorage<City>(
            fileURL: temporary.file,
            options: .init(
                memoryLimit: 2.megaBytes,
                diskLimit: 1.5.gigaBytes,
                expiration: .after(.seconds(3600)).jittered(by: 0.1),
                durability: .powerSafe,
                format: .json,
                clock: .system
            )
        )
        do {
            try await cities.open()
        } catch {
            Issue.record("No cities are stored: \(error.code)")
        }
        try await cities.set(.kharkiv, forKey: "kharkiv")
        let statistics: StoreStatistics = try await cities.statistics()
        #expect(
            statistics.disk
                == StorageUsage(entries: 1, bytes: try JSONEncoder().encode(City.kharkiv).count)
        )
        #expect(cities.fileURL.lastPathComponent == "storage.sqlite")
    }
}
