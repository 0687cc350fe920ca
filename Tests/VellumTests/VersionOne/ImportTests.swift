import Foundation
import TestThreads
import Testing
import Vellum
import VellumEngine
import VellumTestSupport

/// Objects that version 1 kept in files are imported when the archive of their type is first
/// opened.
@Suite(.ownThreads)
struct ImportTests {
    let originals: Originals

    init() throws { originals = try Originals() }

    private var factory: ArchivesFactory { originals.factory }

    private func json(_ user: User) throws -> Data { try JSONEncoder().encode(user) }

    /// Writes users with the names of numbers, in the order of their last uses.
    private func writeUsers(_ numbers: Range<Int>, extra: Int = 0) throws {
        for number in numbers {
            try originals.write(
                json(User(name: "\(number)", age: number)),
                "\(number)",
                in: "vellum_user",
                at: number
            )
        }
    }

    private func event<Archive>(of store: ArchiveStore<Archive>) async -> ImportCounts? {
        for await event in store.events {
            if case .imported(let counts) = event { return counts }
        }
        return nil
    }

    // MARK: Objects

    @Test func everyObjectIsImportedWithItsDateAndInItsOrder() throws {
        try writeUsers(0..<100)
        let users = try factory.store(for: User.self)

        #expect(try users.count() == 100)
        #expect(try users.access(archiveWithKey: "7") == User(name: "7", age: 7))
        #expect(try users.metadata(forKey: "8")?.written == originals.date(8))
        #expect(try users.keys(limit: 3) == ["7", "99", "98"])
        try factory.close()
        #expect(
            try DatabaseFile.open(at: factory.directory.appendingPathComponent("Archives.sqlite"))
                .verify().isIntact
        )
    }

    /// A link leads to files that are another's. It is reported, and the archive opens (FS7).
    @Test func linksAreNotFollowed() async throws {
        let others = originals.root.file("others")
        try FileManager.default.createDirectory(at: others, withIntermediateDirectories: true)
        for number in 0..<3 {
            try json(User(name: "\(number)", age: number)).write(
                to: others.appendingPathComponent("\(number).vlm")
            )
        }
        let caches = originals.root.file("linked")
        try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: caches.appendingPathComponent("vellum_user"),
            withDestinationURL: others
        )
        let factory = ArchivesFactory(
            directory: originals.root.file("from links"),
            importing: caches
        )
        for _ in 0..<2 {
            let store = try factory.store(for: User.self)
            let manager = try factory.archives(for: User.self)
            var failures = manager.failures.makeAsyncIterator()
            let error = try await failures.next()
            #expect(error?.code == .inputOutput && error?.path?.contains("vellum_user") == true)
            try store.record(User(name: "new", age: 1))
            #expect(try store.count() == 1)
            try factory.close()
        }
    }

    @available(*, deprecated)
    @Test func whatTheOriginalWroteIsImported() throws {
        struct Named: ArchiveCodable {
            static var archiveName: String { "my_named_archive" }
            var primaryKey: String
            var text: String
        }
        let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/Originals/Vellum")
        let caches = originals.root.file("samples")
        try FileManager.default.copyItem(at: samples.standardizedFileURL, to: caches)
        let factory = ArchivesFactory(
            directory: originals.root.file("from samples"),
            importing: caches
        )
        defer { #expect(throws: Never.self) { try factory.close() } }

        let users = try factory.archives(for: SampleUsers.User.self)
        #expect(users.accessAll().count == 20)
        #expect(
            users.access(archiveWithKey: "user-1")
                == SampleUsers.User(userName: "user-1", fullName: "Full 1", age: 1)
        )
        #expect(
            users.access(archiveWithKey: "user-0") == SampleUsers.User(userName: "user-0", age: 0)
        )
        let named = try factory.archives(for: Named.self)
        #expect(Set(named.accessAll().map(\.primaryKey)) == Set((0..<5).map { "k \($0) ü" }))
        let notes = try factory.archives(for: SampleNotes.Note.self)
        #expect(notes.access(archiveWithKey: "title")?.body == "body")
    }

    /// The names of files, and the names that keys with `/` came to.
    @Test(arguments: [
        "", ".hidden", "a.b", "ü", "u\u{308}", "🛶", "with spaces", "UPPER", "/slash", "x.vlm", "~",
        "%2F",
    ])
    func everyKeyThatTheOriginalCouldKeepIsImported(_ key: String) throws {
        try originals.write(json(User(name: key, age: 1)), key, in: "vellum_user")
        try originals.write(
            json(User(name: String(repeating: "k", count: 251))),
            String(repeating: "k", count: 251),
            in: "vellum_user"
        )

        let users = try factory.store(for: User.self)

        // The original could not list a file of this name again.
        #expect(try users.access(archiveWithKey: key)?.age == (key.isEmpty ? nil : 1))
        #expect(try users.access(archiveWithKey: String(repeating: "k", count: 251)) != nil)
    }

    @Test func objectsOfEverySizeAreImported() throws {
        let largest = LongRun.number(3 << 20, usually: 3 << 19)
        for (number, size) in [1, 4096, 1 << 20, largest].enumerated() {
            let note = Note("\(number)", text: String(repeating: "x", count: size))
            try originals.write(note.archive(), "\(number)", in: "vellum_note", at: number)
        }

        let notes = try factory.store(for: Note.self, diskLimit: 10.megaBytes)

        #expect(try notes.access(archiveWithKey: "3")?.text.utf8.count == largest)
        let sizes = try notes.fetch().map(\.text.utf8.count).sorted()
        #expect(sizes == [1, 4096, 1 << 20, largest])
        try factory.close()
        #expect(
            try DatabaseFile.open(at: factory.directory.appendingPathComponent("Archives.sqlite"))
                .verify().isIntact
        )
    }

    @Test func theIndexesOfTheTypeHaveTheObjects() throws {
        for number in 0..<50 {
            let data = try JSONEncoder().encode(
                Village(name: "\(number)", inhabitants: number * 1000)
            )
            try originals.write(data, "\(number)", in: "vellum_village", at: number)
        }

        let cities = try factory.store(for: Village.self)

        #expect(try cities.fetch(where: #Predicate { $0.inhabitants >= 45_000 }).count == 5)
        #expect(
            try cities.explain(where: #Predicate { $0.inhabitants >= 45_000 }).decodedObjects == 5
        )
    }

    @Test func anObjectOfATypeWithAVersionIsMigratedFromVersionZero() throws {
        try originals.write(Data(#"{"number":"7","row":3}"#.utf8), "7", in: "vellum_coupon")
        try originals.write(Data(#"{"number":"8","row":0}"#.utf8), "8", in: "vellum_ticket")

        let tickets = try factory.store(for: Ticket.self)

        #expect(try tickets.fetch() == [Ticket(number: "0-7", seat: "3A")])
    }

    // MARK: Once

    @Test func aDeletedObjectDoesNotComeBack() throws {
        try writeUsers(0..<3)
        try factory.store(for: User.self).delete(archiveWithKey: "1")
        try factory.close()

        #expect(Set(try factory.store(for: User.self).keys()) == ["0", "2"])
        #expect(try originals.files("vellum_user").count == 3)
    }

    @Test func anObjectThatIsInTheArchiveStays() throws {
        try factory.store(for: User.self).record(User(name: "1", age: 100))
        try factory.close()
        try writeUsers(0..<3)
        #expect(try factory.store(for: User.self).access(archiveWithKey: "1")?.age == 100)
        try factory.close()

        // A user who went back to the old program for a while.
        try originals.write(json(User(name: "2", age: 200)), "2", in: "vellum_user", at: 5)
        let users = try factory.store(for: User.self)
        #expect(try users.access(archiveWithKey: "2")?.age == 2)
        #expect(try users.keys().count == 3)
    }

    @Test func nothingIsImportedFromElsewhere() throws {
        try writeUsers(0..<3)
        let factory = ArchivesFactory(directory: originals.root.file("others"))

        #expect(try factory.store(for: User.self).count() == 0)
        #expect(try originals.files("vellum_user").count == 3)
        try factory.close()
    }

    @Test func aFolderInsideAnotherIsImported() throws {
        struct Deep: ArchiveCodable {
            static var archiveName: String { "deep/er/ünï" }
            var primaryKey = "deep"
        }
        try originals.write(JSONEncoder().encode(Deep()), "deep", in: Deep.archiveName)

        #expect(try factory.store(for: Deep.self).count() == 1)
    }

    // MARK: What cannot be imported

    @Test func whatATypeCannotDecodeIsCountedAndStaysForAnother() async throws {
        for number in 0..<4 {
            let article = Shop.Article(name: "shop \(number)", price: number)
            try originals.write(
                JSONEncoder().encode(article),
                article.name,
                in: "vellum_article",
                at: number
            )
            let news = News.Article(name: "news \(number)", text: "text")
            try originals.write(
                JSONEncoder().encode(news),
                news.name,
                in: "vellum_article",
                at: number
            )
        }
        let shop = try factory.store(for: Shop.Article.self)
        let counts = try #require(await event(of: shop))
        #expect((counts.imported, counts.skipped) == (4, 4))

        #expect(try factory.store(for: News.Article.self).count() == 4)
        try factory.close()
        #expect(try factory.store(for: Shop.Article.self).count() == 4)
    }

    @Test func eachOfTwoTypesImportsWhatItCanDecode() throws {
        for number in 0..<3 {
            let article = News.Article(name: "\(number)", text: "text")
            try originals.write(
                JSONEncoder().encode(article),
                article.name,
                in: "vellum_article",
                at: number
            )
        }

        // In version 1 both read every file of the folder.
        #expect(try factory.store(for: News.Extended.Article.self).count() == 3)
        #expect(try factory.store(for: News.Article.self).count() == 3)
        #expect(try factory.store(for: Shop.Article.self).count() == 0)
    }

    @Test(.enabled(if: getuid() != 0)) func aFileThatCannotBeReadNowIsImportedLater() throws {
        try writeUsers(0..<3)
        let path = originals.caches.appendingPathComponent("vellum_user/1.vlm").path
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
        #expect(try factory.store(for: User.self).count() == 2)
        try factory.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try factory.store(for: User.self).count() == 3)
    }

    @Test func aFIFOInPlaceOfTheFolderDoesNotHang() throws {
        #expect(mkfifo(originals.caches.appendingPathComponent("vellum_user").path, 0o600) == 0)
        #expect(try factory.store(for: User.self).count() == 0)
    }

    @Test func otherFilesOfTheFolderStay() throws {
        try writeUsers(0..<2)
        let folder = originals.caches.appendingPathComponent("vellum_user")
        try Data("text".utf8).write(to: folder.appendingPathComponent("notes.txt"))
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("folder.vlm"),
            withIntermediateDirectories: true
        )
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("link.vlm"),
            withDestinationURL: folder.appendingPathComponent("0.vlm")
        )

        #expect(try factory.store(for: User.self).count() == 2)

        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 5)
    }

    @Test func aFileInPlaceOfTheFolderIsNoFolder() throws {
        try Data().write(to: originals.caches.appendingPathComponent("vellum_user"))

        #expect(try factory.store(for: User.self).count() == 0)
        #expect(try factory.archives(for: User.self).accessAll().isEmpty)
    }

    @Test(arguments: ["", ".", "..", "../elsewhere", "../\u{301}x", "a/../..", "/"])
    func aNameThatLeadsElsewhereIsNotFollowed(_ name: String) throws {
        try Led.$name.withValue(name) {
            try originals.write(JSONEncoder().encode(Led()), "led", in: name)

            #expect(try factory.store(for: Led.self).count() == 0)
        }
    }

    // MARK: Limits

    @Test func theObjectsUsedLastAreKeptUnderALimit() throws {
        try writeUsers(0..<100)

        let users = try factory.store(for: User.self, diskLimit: 500.bytes)
        let count = try users.count()
        #expect((1..<100).contains(count))
        #expect(try users.keys() == (100 - count..<100).reversed().map(String.init))

        // Deleted objects do not come back, nor do others take their place.
        try users.deleteAll()
        try factory.close()
        #expect(try factory.store(for: User.self, diskLimit: 1.megaByte).count() == 0)
    }

    @Test func anObjectThatIsTooLargeHidesNoOther() throws {
        try writeUsers(0..<10)
        try originals.write(
            json(User(name: String(repeating: "x", count: 600))),
            "large",
            in: "vellum_user",
            at: 20
        )

        let users = try factory.store(for: User.self, diskLimit: 500.bytes)

        #expect(try users.keys() == (0..<10).reversed().map(String.init))
    }

    @Test func theProgressOfImportsIsNotListed() throws {
        try writeUsers(0..<3)
        #expect(try factory.store(for: User.self).count() == 3)
        #expect(try factory.archives().map(\.name) == [User.archiveName])
    }

    @Test func aLongNameIsImported() throws {
        struct Long: ArchiveCodable {
            static var archiveName: String { String(repeating: "é", count: 125) }
            var primaryKey = "long"
        }
        try originals.write(JSONEncoder().encode(Long()), "long", in: Long.archiveName)

        #expect(try factory.store(for: Long.self).count() == 1)
    }

    @Test func manyObjectsAreImportedInSeveralTransactions() async throws {
        // A transaction has 2048.
        let count = LongRun.number(2500, usually: 2060)
        try writeUsers(0..<count)
        let users = try factory.store(for: User.self)
        #expect(await event(of: users)?.imported == count)
        #expect(try users.count() == count)
    }

    @Test func aPropertyIsImportedBeforeItIsRecorded() throws {
        struct Team: ArchiveCodable {
            static var archiveName: String { "teams" }
            var primaryKey = "team"
            var captain: User
        }
        try writeUsers(0..<3)

        try factory.store(for: Team.self).record(Team(captain: User(name: "1", age: 100)))

        #expect(try factory.store(for: User.self).access(archiveWithKey: "1")?.age == 1)
    }

    // MARK: Threads

    @Test func noThreadGetsAnArchiveBeforeItsObjects() throws {
        try writeUsers(0..<1000)
        let factory = factory
        let threads = (0..<4).map { _ in
            OnThread { Result { try factory.store(for: User.self).count() } }
        }
        for thread in threads { #expect(try thread.result().get() == 1000) }
    }
}

// The types of the samples.

enum SampleUsers {
    struct User: ArchiveCodable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var fullName: String?
        var age: Int
    }
}

enum SampleNotes {
    /// As a program of version 1 wrote it.
    @available(*, deprecated)
    class Note: Archivable {
        var primaryKey: String { title }
        var title = ""
        var body = ""

        func archiveData() throws -> Data { Data("\(title)\n\(body)".utf8) }

        static func decode(archive data: Data) throws -> any Archivable {
            let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "\n")
            guard parts.count == 2 else { throw Refusal(words: "No note") }
            let note = Note()
            (note.title, note.body) = (parts[0], parts[1])
            return note
        }
    }
}

/// A type with an index.
private struct Village: IndexedArchivable, Codable {
    static var archiveName: String { "vellum_village" }
    static var archiveIndexes: [ArchiveIndex<Village>] { [.index(\.inhabitants)] }
    var primaryKey: String { name }
    var name: String
    var inhabitants: Int
}

/// An archive with the name of a task: several are tested at the same time.
private struct Led: ArchiveCodable {
    @TaskLocal static var name = ""
    static var archiveName: String { name.isEmpty ? "empty" : name }
    var primaryKey = "led"
}
