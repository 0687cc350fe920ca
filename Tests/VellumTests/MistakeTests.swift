import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import Testing
import Vellum
import VellumCore

/// What a user is told of a mistake: each message says which archive and which file, what is wrong, and what to do.
@Suite(.timeLimit(.minutes(60)))
struct MistakeTests {
    struct Note: ArchiveCodable {
        var primaryKey: String { "note" }
        var text = "secret"
        static var archiveName: String { "Notes" }
    }

    /// The same archive after its type changed.
    struct ChangedNote: ArchiveCodable {
        var primaryKey: String { "note" }
        var pages: Int
        static var archiveName: String { "Notes" }
    }

    struct Unencodable: ArchiveCodable {
        var primaryKey: String { "unencodable" }
        func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
    }

    /// A mistake, and what it is answered with. `FOLDER` stands for the folder of the test.
    struct Mistake: Sendable, CustomTestStringConvertible {
        var what: String
        var message: String
        var make: @Sendable (_ folder: URL) async throws -> Void

        init(_ what: String, _ message: String, _ make: @escaping @Sendable (URL) async throws -> Void) {
            (self.what, self.message, self.make) = (what, message, make)
        }

        var testDescription: String { what }
    }

    static func notes(_ folder: URL, _ disk: DataSize? = nil) throws -> ArchiveStore<Note> {
        try ArchivesFactory(directory: folder).store(for: Note.self, diskLimit: disk)
    }

    static func cache<Key, Value>(_ folder: URL, _: Key.Type, _: Value.Type) -> MiniCache<Key, Value> {
        MiniCacheManager(name: "Caches", directory: folder).cache(cacheName: "Users", cacheVersion: .custom("1"), maxAge: .days(1))
    }

    static func put(_ text: String, _ folder: URL, _ name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    @Test(arguments: Mistake.all)
    func aMistakeIsAnsweredWithWhatToDo(_ mistake: Mistake) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Mistakes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
        }
        var answer = "no error"
        do {
            try await mistake.make(folder)
        } catch {
            answer = "\(error)".replacingOccurrences(of: folder.resolvingSymlinksInPath().path, with: "FOLDER")
                .replacingOccurrences(of: folder.path, with: "FOLDER")
        }
        #expect(answer == mistake.message)
        #expect(!answer.contains("secret"), "No key and no value is printed.")
    }

    @Test func thereAreAtLeastThirtyFive() {
        #expect(Mistake.all.count >= 35)
    }
}

extension MistakeTests.Mistake {
    private typealias Tests = MistakeTests
    private typealias Note = MistakeTests.Note

    static let all: [MistakeTests.Mistake] = limits + objects + files + handles + calls + caches + storages

    private static let limits: [MistakeTests.Mistake] = [
        .init("a disk limit of zero", "?") { _ = try Tests.notes($0, .zero) },
        .init("a negative memory limit", "?") {
            _ = try ArchivesFactory(directory: $0).store(for: Note.self, memoryLimit: DataSize(bytes: -5))
        },
        .init("an object larger than both limits", "?") {
            let notes = try ArchivesFactory(directory: $0).store(for: Note.self, memoryLimit: 100.byte, diskLimit: 100.byte)
            try notes.record(Note(text: String(repeating: "secret", count: 100)))
        },
        .init("less disk for an archive that is open", "?") {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self, diskLimit: 10.megaByte)
            defer { withExtendedLifetime(notes) {} }
            _ = try factory.store(for: Note.self, diskLimit: 1.megaByte)
        },
        .init("another durability for an archive that is open", "?") {
            let notes = try Tests.notes($0)
            defer { withExtendedLifetime(notes) {} }
            _ = try ArchivesFactory(directory: $0, durability: .powerSafe).store(for: Note.self)
        },
    ]

    private static let objects: [MistakeTests.Mistake] = [
        .init("an object that cannot be encoded", "?") {
            try ArchivesFactory(directory: $0).store(for: MistakeTests.Unencodable.self).record(MistakeTests.Unencodable())
        },
        .init("an object whose type changed", "?") {
            let factory = ArchivesFactory(directory: $0)
            try factory.store(for: Note.self).record(Note())
            try factory.close()
            _ = try factory.store(for: MistakeTests.ChangedNote.self).access(archiveWithKey: "note")
        },
        .init("two types with one archive name", "?") {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self)
            defer { withExtendedLifetime(notes) {} }
            _ = try factory.store(for: MistakeTests.ChangedNote.self)
        },
        .init("a local type without an archive name", "?") {
            struct Local: ArchiveCodable {
                var primaryKey: String { "local" }
            }
            _ = try ArchivesFactory(directory: $0).store(for: Local.self)
        },
        .init("a key of 70,000 bytes", "?") {
            _ = try await Tests.notes($0).value(forKey: String(repeating: "k", count: 70_000)) { Note() }
        },
    ]

    private static let files: [MistakeTests.Mistake] = [
        .init("a folder in the place of the file", "?") {
            try FileManager.default.createDirectory(
                at: $0.appendingPathComponent("Archives.sqlite"), withIntermediateDirectories: true)
            _ = try Tests.notes($0)
        },
        .init("a file in the place of the folder", "?") {
            try Tests.put("text", $0, "file")
            _ = try Tests.notes($0.appendingPathComponent("file"))
        },
        .init("a file above the folder", "?") {
            try Tests.put("text", $0, "file")
            _ = try Tests.notes($0.appendingPathComponent("file/folder"))
        },
        .init("a URL of a server", "?") { _ in _ = try Tests.notes(try #require(URL(string: "https://example.com/archives"))) },
        .init("a name that is too long", "?") { _ = try Tests.notes($0.appendingPathComponent(String(repeating: "n", count: 300))) },
        .init("a folder where none can be made", "?") { _ in _ = try Tests.notes(URL(fileURLWithPath: "/proc/archives")) },
        .init("a text file in the place of the database", "?") {
            try Tests.put(String(repeating: "no database ", count: 1000), $0, "Archives.sqlite")
            _ = try Tests.notes($0)
        },
        .init("a file of caches opened as archives", "?") {
            let manager = MiniCacheManager(name: "Archives", directory: $0)
            let cache: MiniCache<String, Int> = manager.cache(cacheName: "Numbers", cacheVersion: .custom("1"), maxAge: .days(1))
            try cache.set(1, forKey: "one")
            try manager.close()
            _ = try Tests.notes($0)
        },
        .init("a file that was deleted while it was open", "?") {
            let notes = try Tests.notes($0)
            try FileManager.default.removeItem(at: $0.appendingPathComponent("Archives.sqlite"))
            // The file is looked at again within 20 ms.
            let end = ContinuousClock.now + .seconds(60)
            while ContinuousClock.now < end { try notes.record(Note()) }
        },
    ]

    private static let handles: [MistakeTests.Mistake] = [
        .init("a handle that was closed", "?") {
            let notes = try Tests.notes($0)
            try notes.close()
            try notes.record(Note())
        },
        .init("a factory that is suspended", "?") {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self)
            try factory.suspend()
            try notes.record(Note())
        },
        .init("a transaction over two files", "?") {
            let (first, second) = ($0.appendingPathComponent("1"), $0.appendingPathComponent("2"))
            let factory = ArchivesFactory(directory: first)
            let (here, there) = (try factory.store(for: Note.self), try Tests.notes(second))
            try factory.transaction {
                try $0.record(Note(), in: here)
                try $0.record(Note(), in: there)
            }
        },
    ]

    private static let calls: [MistakeTests.Mistake] = [
        .init("a negative limit of a query", "?") { _ = try Tests.notes($0).fetch(where: #Predicate { $0.text == "a" }, limit: -1) },
        .init("a negative duration", "?") {
            _ = try await Tests.notes($0).value(forKey: "note", staleIfError: .seconds(-1)) { Note() }
        },
        .init("an age that is not a number", "?") { _ in _ = try CacheMaxAge(validatingSeconds: .nan) },
        .init("a jitter of two", "?") { _ in _ = try CacheMaxAge(validating: .seconds(5), jitter: 2) },
        .init("a loader that returns another key", "?") { _ = try await Tests.notes($0).value(forKey: "secret") { Note() } },
        .init("a loader that asks for its own key", "?") {
            let notes = try Tests.notes($0)
            _ = try await notes.value(forKey: "note") { try await notes.value(forKey: "note") { Note() } }
        },
    ]

    private static let caches: [MistakeTests.Mistake] = [
        .init("a key that is not a number", "?") { try Tests.cache($0, Double.self, Int.self).set(1, forKey: .nan) },
        .init("a key that is a set", "?") { try Tests.cache($0, Set<String>.self, Int.self).set(1, forKey: ["secret", "b"]) },
        .init("a cache whose folder is a file", "?") {
            try Tests.put("text", $0, "file")
            try Tests.cache($0.appendingPathComponent("file"), String.self, Int.self).set(1, forKey: "secret")
        },
        .init("a value larger than the limits of a cache", "?") {
            let cache: MiniCache<String, String> = MiniCacheManager(name: "Caches", directory: $0).cache(
                cacheName: "Users", cacheVersion: .custom("1"), maxAge: .days(1), memoryLimit: 10.byte, diskLimit: 10.byte)
            try cache.set(String(repeating: "secret", count: 10), forKey: "secret")
        },
        .init("a cache of a manager that was closed", "?") {
            let manager = MiniCacheManager(name: "Caches", directory: $0)
            let cache: MiniCache<String, Int> = manager.cache(cacheName: "Users", cacheVersion: .custom("1"), maxAge: .days(1))
            try manager.close()
            try cache.set(1, forKey: "secret")
        },
    ]

    private static let storages: [MistakeTests.Mistake] = [
        .init("a key without a value", "?") { _ in
            _ = try await MemoryStorage<String, Int>().mapKeys { (key: Int) in "\(key)" }.retrieve(forKey: 1)
        },
        .init("a storage of no values", "?") { _ in _ = try LRUStorage<String, Int>(maxCount: 0) },
        .init("a folder of values that is a file", "?") {
            try Tests.put("text", $0, "file")
            try await DiskFolderStorage(folderURL: $0.appendingPathComponent("file")).set(Data(), forKey: "secret")
        },
        .init("a file that holds no value of the type", "?") {
            let folder = DiskFolderStorage(folderURL: $0.appendingPathComponent("folder"))
            try await folder.set(Data("secret".utf8), forKey: "secret")
            _ = try await folder.mapJSONObject(Note.self).retrieveIfPresent(forKey: "secret")
        },
        .init("an SQLite storage that was closed", "?") {
            let storage = SQLiteStorage<Int>(fileURL: $0.appendingPathComponent("Numbers.sqlite"))
            try await storage.close()
            try await storage.set(1, forKey: "secret")
        },
        .init("an SQLite storage in a folder that is a file", "?") {
            try Tests.put("text", $0, "file")
            try await SQLiteStorage<Int>(fileURL: $0.appendingPathComponent("file/Numbers.sqlite")).set(1, forKey: "secret")
        },
    ]
}
