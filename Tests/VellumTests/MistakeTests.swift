import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import TestThreads
import Testing
import Vellum
import VellumCore

/// The messages after a mistake of the user: each says which archive and which file, what is wrong,
/// and what to do.
///
/// What the compiler says to a mistake is checked by `Scripts/check-clients.sh`.
@Suite(.ownThreads)
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

    struct Draft: ArchiveCodable, VersionedArchive {
        var primaryKey: String { "draft" }
        static var archiveName: String { "Drafts" }
        static var archiveVersion: Int { -1 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Self> {
            .object(try old.decode(Self.self))
        }
    }

    struct Page: ArchiveCodable {
        static var archiveName: String { "Pages" }
        var primaryKey: String
        var number = 0
    }

    struct ListIndex: ArchiveCodable, IndexedArchivable {
        static var archiveName: String { "Lists" }
        static var archiveIndexes: [ArchiveIndex<ListIndex>] { [.index(\.primaryKey, \.lines)] }
        var primaryKey: String
        var lines: [String]
    }

    struct LongKey: ArchiveCodable {
        var primaryKey: String { String(repeating: "secret", count: 12_000) }
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

        init(
            _ what: String,
            _ message: String,
            _ make: @escaping @Sendable (URL) async throws -> Void
        ) {
            (self.what, self.message, self.make) = (what, message, make)
        }

        var testDescription: String { what }
    }

    static func notes(_ folder: URL, _ disk: DataSize? = nil) throws -> ArchiveStore<Note> {
        try ArchivesFactory(directory: folder).store(for: Note.self, diskLimit: disk)
    }

    static func cache<Key, Value>(
        _ folder: URL,
        _: Key.Type,
        _: Value.Type
    ) -> MiniCache<Key, Value> {
        MiniCacheManager(name: "Caches", directory: folder).cache(
            cacheName: "Users",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
    }

    static func put(_ text: String, _ folder: URL, _ name: String) throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    @Test(arguments: Mistake.all)
    func aMistakeIsAnsweredWithWhatToDo(_ mistake: Mistake) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Mistakes-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
        }
        var answer = "no error"
        do {
            try await mistake.make(folder)
        } catch {
            answer = "\(error)".replacingOccurrences(
                of: folder.resolvingSymlinksInPath().path,
                with: "FOLDER"
            )
            .replacingOccurrences(of: folder.path, with: "FOLDER")
            .replacingOccurrences(of: String(repeating: "n", count: 300), with: "NAME")
        }
        #expect(answer == mistake.message)
        #expect(!answer.contains("secret"), "No key and no value is printed.")
    }

    @Test func thereAreAtLeastFortyEight() {
        #expect(Mistake.all.count >= 48)
    }
}

extension MistakeTests.Mistake {
    typealias Tests = MistakeTests
    typealias Note = MistakeTests.Note

    static let all: [MistakeTests.Mistake] =
        limits + objects + files + handles + calls + guides + caches + storages

    private static let limits: [MistakeTests.Mistake] = [
        .init(
            "a disk limit of zero",
            """
            invalidLimit: The disk limit is 0 bytes. Give at least one byte, or .unlimited. \
            (archive Notes)
            """
        ) { _ = try Tests.notes($0, .zero) },
        .init(
            "a negative memory limit",
            """
            invalidLimit: The memory limit is -5 bytes. Give at least one byte, or .unlimited. \
            (archive Notes)
            """
        ) {
            _ = try ArchivesFactory(directory: $0).store(
                for: Note.self,
                memoryLimit: DataSize(bytes: -5)
            )
        },
        .init(
            "an object larger than both limits",
            """
            tooLarge: An object of 612 bytes is larger than every limit (memory 100 bytes, disk \
            100 bytes). Raise a limit; what was recorded before is still there. (archive Notes, \
            file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try ArchivesFactory(directory: $0).store(
                for: Note.self,
                memoryLimit: 100.byte,
                diskLimit: 100.byte
            )
            try notes.record(Note(text: String(repeating: "secret", count: 100)))
        },
        .init(
            "less disk for an archive that is open",
            """
            contradiction: The archive is open with 1 MB of memory and 10 MB of disk, and was \
            requested with 1 MB of memory and 1 MB of disk. While an archive is open, its limits \
            can only be raised. Request at least the same, or close it first. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self, diskLimit: 10.megaByte)
            defer { withExtendedLifetime(notes) {} }
            _ = try factory.store(for: Note.self, diskLimit: 1.megaByte)
        },
        .init(
            "another durability for an archive that is open",
            """
            contradiction: The archive is open with the durability crashSafe and was requested \
            with powerSafe. All handles of an open archive share one durability: request \
            crashSafe, or close the archive first. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            defer { withExtendedLifetime(notes) {} }
            _ = try ArchivesFactory(directory: $0, durability: .powerSafe).store(for: Note.self)
        },
    ]

    private static let objects: [MistakeTests.Mistake] = [
        .init(
            "an object that cannot be encoded",
            """
            notEncodable: An object of type Unencodable cannot be encoded: it threw \
            NSCocoaErrorDomain 4866. The old object is still there. (archive \
            VellumTests.MistakeTests.Unencodable, file FOLDER/Archives.sqlite)
            """
        ) {
            try ArchivesFactory(directory: $0).store(for: MistakeTests.Unencodable.self).record(
                MistakeTests.Unencodable()
            )
        },
        .init(
            "an object whose type changed",
            """
            notDecodable: A stored object of version 0 cannot be decoded as ChangedNote: the \
            property pages is missing. If the type has changed, conform it to VersionedArchive and \
            migrate the object; or record it again, or delete it. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) {
            let factory = ArchivesFactory(directory: $0)
            try factory.store(for: Note.self).record(Note())
            try factory.close()
            _ = try factory.store(for: MistakeTests.ChangedNote.self).access(archiveWithKey: "note")
        },
        .init(
            "two types with one archive name",
            """
            contradiction: The archive is open for the type Note and was requested for \
            ChangedNote. Give one of them another archive name. (archive Notes)
            """
        ) {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self)
            defer { withExtendedLifetime(notes) {} }
            _ = try factory.store(for: MistakeTests.ChangedNote.self)
        },
        .init(
            "a local type without an archive name",
            """
            unnamedArchive: Local is private or local, so its full name changes on every launch \
            and its objects would be lost. Add to the type: static var archiveName: String { \
            "Local" }
            """
        ) {
            struct Local: ArchiveCodable {
                var primaryKey: String { "local" }
            }
            _ = try ArchivesFactory(directory: $0).store(for: Local.self)
        },
        .init(
            "a key of 72,000 bytes",
            """
            keyTooLong: A key of 72000 bytes is longer than 65536. Use a shorter one: a hash of \
            it, say, with the long text in the object. (archive VellumTests.MistakeTests.LongKey, \
            file FOLDER/Archives.sqlite)
            """
        ) {
            try ArchivesFactory(directory: $0).store(for: MistakeTests.LongKey.self).record(
                MistakeTests.LongKey()
            )
        },
    ]

    private static let files: [MistakeTests.Mistake] = [
        .init(
            "a folder in the place of the file",
            """
            cannotOpen: FOLDER/Archives.sqlite is a directory. A regular file is needed there. \
            Move it away, or choose another path. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            try FileManager.default.createDirectory(
                at: $0.appendingPathComponent("Archives.sqlite"),
                withIntermediateDirectories: true
            )
            _ = try Tests.notes($0)
        },
        .init(
            "a file in the place of the folder",
            """
            cannotOpen: A file could not be created. FOLDER/file is a file, and a folder is needed \
            there. Choose another path. (archive Notes, file FOLDER/file/Archives.sqlite)
            """
        ) {
            try Tests.put("text", $0, "file")
            _ = try Tests.notes($0.appendingPathComponent("file"))
        },
        .init(
            "a file above the folder",
            """
            cannotOpen: A folder could not be made. FOLDER/file is a file, and a folder is needed \
            there. Choose another path. (archive Notes, file FOLDER/file/folder)
            """
        ) {
            try Tests.put("text", $0, "file")
            _ = try Tests.notes($0.appendingPathComponent("file/folder"))
        },
        .init(
            "a URL of a server",
            """
            cannotOpen: The URL does not name a file: it has the scheme https. Give a file URL: \
            URL(fileURLWithPath:). (archive Notes)
            """
        ) { _ in _ = try Tests.notes(try #require(URL(string: "https://example.com/archives"))) },
        .init(
            "a name that is too long",
            """
            cannotOpen: A folder could not be made. A name in the path has 300 bytes, and at most \
            255 are allowed. Choose a shorter one. (archive Notes, file FOLDER/NAME)
            """
        ) { _ = try Tests.notes($0.appendingPathComponent(String(repeating: "n", count: 300))) },
        .init(
            "a folder where none can be made",
            """
            cannotOpen: A folder could not be made. The folder /proc exists, but takes no files or \
            folders of a program. Choose another path. (archive Notes, file /proc/archives)
            """
        ) { _ in _ = try Tests.notes(URL(fileURLWithPath: "/proc/archives")) },
        .init(
            "a text file in the place of the database",
            """
            notADatabase: The file is not a database. It was not changed. If it is the archive's \
            own file, restore it from a backup or move it away; otherwise choose another path. \
            (archive Notes, file FOLDER/Archives.sqlite, SQLite 26)
            """
        ) {
            try Tests.put(String(repeating: "no database ", count: 1000), $0, "Archives.sqlite")
            _ = try Tests.notes($0)
        },
        .init(
            "a file of caches opened as archives",
            """
            wrongKind: The file FOLDER/Archives.sqlite holds caches of MiniCache and cannot also \
            hold archives of Vellum. It was not changed; choose another name or folder. (archive \
            Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let manager = MiniCacheManager(name: "Archives", directory: $0)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "Numbers",
                cacheVersion: .custom("1"),
                maxAge: .days(1)
            )
            try cache.set(1, forKey: "one")
            try manager.close()
            _ = try Tests.notes($0)
        },
        .init(
            "a file that was deleted while it was open",
            """
            vanished: The file, or a folder above it, was deleted, replaced or renamed while it \
            was open. Open the archive again: it uses what is at the path then. (archive Notes, \
            file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            try FileManager.default.removeItem(at: $0.appendingPathComponent("Archives.sqlite"))
            // The file is looked at again within 20 ms.
            try await until("a record finds that the file is gone") {
                try notes.record(Note())
                return false
            }
        },
        .init(
            "a folder that was deleted while its file was open",
            """
            vanished: The file, or a folder above it, was deleted, replaced or renamed while it \
            was open. Open the archive again: it uses what is at the path then. (archive Notes, \
            file FOLDER/archives/Archives.sqlite)
            """
        ) {
            let folder = $0.appendingPathComponent("archives")
            let notes = try Tests.notes(folder)
            try FileManager.default.removeItem(at: folder)
            try await until("a record finds that the folder is gone") {
                try notes.record(Note())
                return false
            }
        },
    ]
}
