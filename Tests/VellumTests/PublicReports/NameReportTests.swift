import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Public bug reports of libraries of this field: names of files and folders, links, and keys that
/// are not equal to themselves.
@Suite(.ownThreads)
struct NameReportTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// calebevans/mulder PR #86, mar-file-system/GUFI#126: parts of a path are taken for a query, a
    /// fragment or an escape.
    @Test(arguments: [
        "a#b", "a?mode=memory", "a%41", "a%2Fb", "file:a", "a\nb", "'a\"b", " a ", "-a", "a&b;c",
        "日本語 🇪🇺",
    ])
    func aFolderMayHaveAnyName(name: String) throws {
        let directory = folder.url.appendingPathComponent(name, isDirectory: true)
        let factory = ArchivesFactory(directory: directory)
        try factory.store(for: User.self).record(User(name: "anna"))
        try factory.close()
        #expect(try names(in: folder.url) == [name])
        #expect(try names(in: directory).contains("Archives.sqlite"))
        #expect(try ArchivesFactory(directory: directory).store(for: User.self).keys() == ["anna"])
    }

    /// rfjakob/gocryptfs PR #992, amule-org/amule PR #312: a name from another source is in another
    /// normal form, and another file is made.
    @Test func equalNamesOfManagersNameOneFile() throws {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        func cache(_ name: String) -> MiniCache<String, Int> {
            MiniCacheManager(name: name, directory: folder.url).cache(
                cacheName: "A",
                cacheVersion: .custom("1"),
                maxAge: .forever
            )
        }
        try cache(composed).set(1, forKey: "a")
        #expect(try cache(decomposed).value(forKey: "a") == 1)
        #expect(try names(in: folder.url).filter { $0.hasSuffix(".sqlite") }.count == 1)
        #expect(
            SQLiteStorage<Int>(composed, in: .cachesDirectory).fileURL
                == SQLiteStorage<Int>(decomposed, in: .cachesDirectory).fileURL
        )
    }

    /// PHP-CS-Fixer/PHP-CS-Fixer PR #9856, NVIDIA/cuda-python PR #2857: a link in the folder of a
    /// cache leads writes elsewhere. Reads follow it, as SECURITY.md says.
    @Test func nothingIsWrittenThroughALinkInAFolder() async throws {
        let outside = folder.file("outside")
        try Data("outside".utf8).write(to: outside)
        let storage = DiskFolderStorage(folderURL: folder.file("storage"))
        try await storage.set(Data("first".utf8), forKey: "other")
        let place = storage.fileURL(forFilename: "key")
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)

        try await storage.set(Data("inside".utf8), forKey: "key")
        #expect(try await storage.retrieve(forKey: "key") == Data("inside".utf8))
        try FileManager.default.removeItem(at: place)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: outside)
        try await storage.removeAll()
        #expect(!FileManager.default.fileExists(atPath: place.path))
        #expect(try Data(contentsOf: outside) == Data("outside".utf8))
    }

    /// ben-manes/caffeine#600: entries whose key is not equal to itself are never found, and never
    /// evicted.
    @Test func aKeyThatIsNotEqualToItselfLeavesNothing() async throws {
        let memory = MemoryStorage<Double, Int>()
        let recent = try LRUStorage<Double, Int>(maxCount: 10)
        let combined = MemoryStorage<Double, Int>().asRemovableStorage().combined(with: recent)
        for number in 0..<100 {
            try await memory.set(number, forKey: .nan)
            try await recent.set(number, forKey: .nan)
            try await combined.set(number, forKey: .nan)
        }
        #expect(memory.storage.isEmpty)
        #expect(recent.totals.entries == 0)
        // Waits for every key that is being written.
        try await combined.removeAll()
    }
}
