import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum
import VellumTestSupport

/// Two spellings that Swift's `==` finds equal are one key, one indexed value and one name,
/// wherever a string is given (FK1).
@Suite(.ownThreads)
struct NormalFormKindTests {
    /// A Korean syllable and a final consonant, a syllable in parts, marks in another order, a
    /// letter and a mark, a singleton.
    static let spellings = [
        ("\u{AC01}", "\u{AC00}\u{11A8}"), ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
        ("a\u{323}\u{301}", "a\u{301}\u{323}"),
        ("\u{E9}", "e\u{301}"), ("\u{3A9}", "\u{2126}"), ("\u{928}\u{93C}", "\u{929}"),
    ]

    private struct Place: ArchiveCodable, IndexedArchivable {
        var name: String
        var primaryKey: String
        @TaskLocal static var archiveName = "Places"
        static var archiveIndexes: [ArchiveIndex<Place>] { [.index(\.name)] }
    }

    @Test(arguments: spellings)
    func archivesAndTheirIndexes(_ one: String, _ other: String) throws {
        let factory = ArchivesFactory.inMemory()
        var store = try factory.store(for: Place.self)
        try store.record(Place(name: one, primaryKey: one))
        // From memory, then from the file.
        for isOpenedAgain in [false, true] {
            if isOpenedAgain {
                try factory.close()
                store = try factory.store(for: Place.self)
            }
            #expect(try store.access(archiveWithKey: other) != nil)
            #expect(try store.fetch(where: #Predicate { $0.name == other }).count == 1)
            #expect(try store.fetch(where: #Predicate { $0.name.starts(with: other) }).count == 1)
            #expect(try store.fetch(where: #Predicate { $0.name != other }).isEmpty)
            #expect(
                try store.fetch(where: #Predicate { $0.name >= other && $0.name <= other }).count
                    == 1
            )
            #expect(try store.keys(prefix: other).count == 1)
        }
        #expect(try !store.recordIfAbsent(Place(name: other, primaryKey: other)))
        #expect(try store.deleteAll(where: #Predicate { $0.name != other }) == 0)
        try store.record(Place(name: other, primaryKey: other))
        #expect(try store.count() == 1)
        try store.delete(archiveWithKey: other)
        #expect(try store.count() == 0)
    }

    @Test(arguments: spellings)
    func namesOfArchives(_ one: String, _ other: String) throws {
        let factory = ArchivesFactory.inMemory()
        try Place.$archiveName.withValue(one) {
            try factory.store(for: Place.self).record(Place(name: "a", primaryKey: "a"))
            try factory.close()
        }
        #expect(
            try Place.$archiveName.withValue(other) { try factory.store(for: Place.self).count() }
                == 1
        )
    }

    @Test(arguments: spellings)
    func caches(_ one: String, _ other: String) throws {
        let manager = MiniCacheManager.inMemory()
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: one,
            cacheVersion: .custom(one),
            maxAge: .forever
        )
        let same: MiniCache<String, Int> = manager.cache(
            cacheName: other,
            cacheVersion: .custom(other),
            maxAge: .forever
        )
        try cache.set(1, forKey: one)
        #expect(try same.value(forKey: other) == 1)
        #expect(try same.keys(prefix: other).count == 1)
        #expect(try !same.setIfAbsent(2, forKey: other))
        let nested: MiniCache<[String], Int> = manager.cache(
            cacheName: "nested",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        try nested.set(1, forKey: [one])
        #expect(try nested.value(forKey: [other]) == 1)
        try same.removeValue(forKey: other)
        #expect(try cache.count() == 0)
    }

    @Test(arguments: spellings)
    func storages(_ one: String, _ other: String) async throws {
        let folder = try TemporaryDirectory()
        let storage = SQLiteStorage<Int>(fileURL: folder.file("storage.sqlite"))
        try await storage.set(1, forKey: Filename(rawValue: one))
        #expect(try await storage.retrieve(forKey: Filename(rawValue: other)) == 1)
        try await storage.close()
        let files = DiskFolderStorage(folderURL: folder.file("folder"))
        try await files.set(Data([1]), forKey: Filename(rawValue: one))
        #expect(try await files.retrieve(forKey: Filename(rawValue: other)) == Data([1]))
    }
}
