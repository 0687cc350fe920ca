import Foundation
import MiniCache
import Shallows
import ShallowsSQLite
import Testing
import Vellum
import VellumCore

extension MistakeTests.Mistake {
    static let handles: [MistakeTests.Mistake] = [
        .init(
            "a handle that was closed",
            """
            closed: The archive was closed. Open it again. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            try notes.close()
            try notes.record(Note())
        },
        .init(
            "a factory that is suspended",
            """
            suspended: The file is suspended. Call resume() on its factory, manager or storage \
            first. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self)
            try factory.suspend()
            try notes.record(Note())
        },
        .init(
            "a transaction over two files",
            """
            differentFiles: A transaction can only hold reads and writes of archives of one file. \
            Commit one for each file. (archive Notes, file FOLDER/2/Archives.sqlite)
            """
        ) {
            let (first, second) = ($0.appendingPathComponent("1"), $0.appendingPathComponent("2"))
            let factory = ArchivesFactory(directory: first)
            let (here, there) = (try factory.store(for: Note.self), try Tests.notes(second))
            try factory.transaction {
                try $0.record(Note(), in: here)
                try $0.record(Note(), in: there)
            }
        },
    ]

    static let calls: [MistakeTests.Mistake] = [
        .init(
            "a negative limit of a query",
            """
            invalidQuery: The limit of a query is -1. Pass zero or more. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) { _ = try Tests.notes($0).fetch(where: #Predicate { $0.text == "a" }, limit: -1) },
        .init(
            "an age that is not a number",
            """
            invalidDuration: An age is NaN, or a jitter is not a number from 0 to 1. Give a number \
            of seconds, or infinity for no limit; a jitter is the part of the age by which entries \
            may expire earlier. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) { try Tests.notes($0).record(Note(), expiration: .after(seconds: .nan)) },
        .init(
            "a jitter of two",
            """
            invalidDuration: An age is NaN, or a jitter is not a number from 0 to 1. Give a number \
            of seconds, or infinity for no limit; a jitter is the part of the age by which entries \
            may expire earlier.
            """
        ) { _ in _ = try Expiration(validating: .seconds(5), jitter: 2) },
        .init(
            "a negative version of a type",
            """
            invalidVersion: The archiveVersion of Draft is -1. Versions begin with 0. (archive \
            Drafts)
            """
        ) { _ = try ArchivesFactory(directory: $0).store(for: MistakeTests.Draft.self) },
        .init(
            "a loader that returns another key",
            """
            otherKey: A loader returned an object with another `primaryKey`. Return the object \
            with the requested key. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) { _ = try await Tests.notes($0).value(forKey: "secret") { Note() } },
        .init(
            "a loader that asks for its own key",
            """
            recursiveLoad: A loader asks for the key that it loads, directly or through other \
            loaders, and would wait forever. Load other keys only. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            _ = try await notes.value(forKey: "note") {
                try await notes.value(forKey: "note") { Note() }
            }
        },
    ]

    /// What a reader of the guides tries.
    static let guides: [MistakeTests.Mistake] = [
        .init(
            "an update that gives an object another key",
            """
            otherKey: The closure of an update left an object with another key. Leave one with the \
            same 'primaryKey', or 'nil' to delete it. (archive Pages, file FOLDER/Archives.sqlite)
            """
        ) {
            let pages = try ArchivesFactory(directory: $0).store(for: MistakeTests.Page.self)
            try pages.record(MistakeTests.Page(primaryKey: "secret"))
            try pages.update(archiveWithKey: "secret") { $0?.primaryKey = "other secret" }
        },
        .init(
            "an update that writes its own key",
            """
            recursiveUpdate: The closure of an update writes or updates the key that is being \
            updated. Change the value that the closure is given, and do nothing else to its key. \
            (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            try notes.update(archiveWithKey: "note") { note in
                try notes.record(Note())
                note = Note()
            }
        },
        .init(
            "a predicate that divides by zero",
            """
            failedQuery: A predicate overflows, divides by zero, or has a range whose bounds are \
            reversed, for an object. Test the operands before: $0.count != 0 && 10 / $0.count > 2. \
            (archive Pages, file FOLDER/Archives.sqlite)
            """
        ) {
            let pages = try ArchivesFactory(directory: $0).store(for: MistakeTests.Page.self)
            try pages.record(MistakeTests.Page(primaryKey: "secret"))
            _ = try pages.fetch(where: #Predicate { 10 / $0.number > 2 })
        },
        .init(
            "a value that is reloaded after twice its age",
            """
            invalidDuration: A refreshAhead of 2.0 is not possible. Give the part of the age after \
            which a value is loaded again, such as 0.8, and an age that counts from the writing: \
            values that never expire, or whose age counts from the last use, have no last part. \
            (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            _ = try await notes.value(
                forKey: "note",
                options: LoadOptions(expiration: .after(.seconds(5)), refreshAhead: 2)
            ) { Note() }
        },
        .init(
            "a value that is reloaded ahead of an age without end",
            """
            invalidDuration: A refreshAhead of 0.8 is not possible. Give the part of the age after \
            which a value is loaded again, such as 0.8, and an age that counts from the writing: \
            values that never expire, or whose age counts from the last use, have no last part. \
            (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            _ = try await notes.value(forKey: "note", options: LoadOptions(refreshAhead: 0.8)) {
                Note()
            }
        },
        .init(
            "an unchanged answer where there was nothing",
            """
            nothingUnchanged: A loader says that the value is unchanged, and received none. Return \
            the value. (archive Notes, file FOLDER/Archives.sqlite)
            """
        ) {
            let notes = try Tests.notes($0)
            _ = try await notes.value(forKey: "note") { _ in .unchanged() }
        },
        .init(
            "an index of several properties, one of which is a list",
            """
            invalidIndex: An index of several properties has 'lines', whose type Array<String> \
            cannot be indexed. Index properties whose type conforms to IndexableValue or has such \
            a raw value, or optionals of them, and the elements of a list by an index of its own, \
            .each(…). (archive Lists)
            """
        ) {
            _ = try ArchivesFactory(directory: $0).store(for: MistakeTests.ListIndex.self)
        },
        .init(
            "a transaction that records in an archive that is closed",
            """
            closed: The archive was closed. Open it again. (archive Notes, file \
            FOLDER/Archives.sqlite)
            """
        ) {
            let factory = ArchivesFactory(directory: $0)
            let notes = try factory.store(for: Note.self)
            try notes.close()
            try factory.transaction { try $0.record(Note(), in: notes) }
        },
    ]

    static let caches: [MistakeTests.Mistake] = [
        .init(
            "a key that is not a number",
            """
            invalidKey: A key cannot contain a number that is infinite or NaN. Use a text or a \
            finite number. (archive Users, version 1, file FOLDER/Caches.sqlite)
            """
        ) { try Tests.cache($0, Double.self, Int.self).set(1, forKey: .nan) },
        .init(
            "a key that is a set",
            """
            invalidKey: Set<String> cannot be part of a key, because equal values may be encoded \
            in different orders. Use a sorted array, or a dictionary with String or Int keys. \
            (archive Users, version 1, file FOLDER/Caches.sqlite)
            """
        ) { try Tests.cache($0, Set<String>.self, Int.self).set(1, forKey: ["secret", "b"]) },
        .init(
            "a cache whose folder is a file",
            """
            cannotOpen: A file could not be created. FOLDER/file is a file, and a folder is needed \
            there. Choose another path. (archive Users, version 1, file FOLDER/file/Caches.sqlite)
            """
        ) {
            try Tests.put("text", $0, "file")
            try Tests.cache($0.appendingPathComponent("file"), String.self, Int.self).set(
                1,
                forKey: "secret"
            )
        },
        .init(
            "a value larger than the limits of a cache",
            """
            tooLarge: An object of 65 bytes is larger than every limit (memory 10 bytes, disk 10 \
            bytes). Raise a limit; what was recorded before is still there. (archive Users, \
            version 1, file FOLDER/Caches.sqlite)
            """
        ) {
            let cache: MiniCache<String, String> = MiniCacheManager(name: "Caches", directory: $0)
                .cache(
                    cacheName: "Users",
                    cacheVersion: .custom("1"),
                    maxAge: .days(1),
                    memoryLimit: 10.byte,
                    diskLimit: 10.byte
                )
            try cache.set(String(repeating: "secret", count: 10), forKey: "secret")
        },
        .init(
            "a cache of a manager that was closed",
            """
            closed: The cache or its manager was closed. Request the cache from a manager again. \
            (archive Users, version 1, file FOLDER/Caches.sqlite)
            """
        ) {
            let manager = MiniCacheManager(name: "Caches", directory: $0)
            let cache: MiniCache<String, Int> = manager.cache(
                cacheName: "Users",
                cacheVersion: .custom("1"),
                maxAge: .days(1)
            )
            try manager.close()
            try cache.set(1, forKey: "secret")
        },
    ]

    static let storages: [MistakeTests.Mistake] = [
        .init(
            "a key without a value",
            """
            noValue
            """
        ) { _ in
            _ = try await MemoryStorage<String, Int>().mapKeys { (key: Int) in "\(key)" }.retrieve(
                forKey: 1
            )
        },
        .init(
            "a storage of no values",
            """
            invalidLimit in lru-storage-String:Int: A limit of 0 entries holds nothing. Give at \
            least one entry.
            """
        ) { _ in _ = try LRUStorage<String, Int>(maxCount: 0) },
        .init(
            "a folder of values that is a file",
            """
            inputOutput in disk-file: A file could not be created: Not a directory (20), at \
            FOLDER/file. A folder is needed there, and it or a folder above it is a file. Choose \
            another path.
            """
        ) {
            try Tests.put("text", $0, "file")
            try await DiskFolderStorage(folderURL: $0.appendingPathComponent("file")).set(
                Data(),
                forKey: "secret"
            )
        },
        .init(
            "a file that holds no value of the type",
            """
            notDecodable in disk-folder: The stored bytes cannot be decoded as Note: the bytes are \
            damaged, in another format, or have a value that the type lacks, such as a case that \
            was removed. The type may have changed: set the value again, or remove it.
            """
        ) {
            let folder = DiskFolderStorage(folderURL: $0.appendingPathComponent("folder"))
            try await folder.set(Data("secret".utf8), forKey: "secret")
            _ = try await folder.mapJSONObject(Note.self).retrieveIfPresent(forKey: "secret")
        },
        .init(
            "an SQLite storage that was closed",
            """
            closed in sqlite-Numbers: The storage was closed. Make another for the same file.
            """
        ) {
            let storage = SQLiteStorage<Int>(fileURL: $0.appendingPathComponent("Numbers.sqlite"))
            try await storage.close()
            try await storage.set(1, forKey: "secret")
        },
        .init(
            "an SQLite storage in a folder that is a file",
            """
            cannotOpen in sqlite-Numbers: A file could not be created. FOLDER/file is a file, and \
            a folder is needed there. Choose another path. (file FOLDER/file/Numbers.sqlite)
            """
        ) {
            try Tests.put("text", $0, "file")
            try await SQLiteStorage<Int>(fileURL: $0.appendingPathComponent("file/Numbers.sqlite"))
                .set(1, forKey: "secret")
        },
    ]
}
