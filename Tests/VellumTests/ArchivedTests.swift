import Foundation
import TestThreads
import Testing
import Vellum

@Suite(.ownThreads)
struct ArchivedTests {
    struct Settings {
        @Archived var user: User?

        init(_ key: String? = nil, in factory: ArchivesFactory) {
            _user = Archived(initialPrimaryKey: key, in: factory)
        }
    }

    class Desk {
        @Archived var note: Note?

        init(_ key: String? = nil, in factory: ArchivesFactory) {
            _note = Archived(initialPrimaryKey: key, in: factory)
        }
    }

    let temporary = TemporaryArchives()

    private func users() throws -> ArchiveStore<User> { try temporary.factory.store() }

    @Test func theArchiveIsOpenedAtTheFirstUse() {
        let settings = Settings(in: temporary.factory)

        #expect(settings.user == nil)
        #expect(!FileManager.default.fileExists(atPath: temporary.factory.directory.path))
    }

    @Test func assigningAnObjectRecordsIt() throws {
        let settings = Settings(in: temporary.factory)

        settings.user = User(name: "ann", age: 1)
        settings.user?.age = 2

        #expect(settings.user == User(name: "ann", age: 2))
        #expect(try users().access(archiveWithKey: "ann") == User(name: "ann", age: 2))
    }

    @Test func assigningAnObjectWithAnotherKeyKeepsTheOldObject() throws {
        let settings = Settings(in: temporary.factory)
        settings.user = User(name: "ann")
        settings.user = User(name: "bob")

        #expect(try users().keys() == ["bob", "ann"])
    }

    @Test func assigningNilDeletesTheRecordedObject() throws {
        let settings = Settings(in: temporary.factory)
        settings.user = User(name: "ann")

        settings.user = nil

        #expect(settings.user == nil)
        #expect(try users().count() == 0)
    }

    @Test func assigningNilDeletesTheObjectWithTheInitialKey() throws {
        try users().record(contentsOf: [User(name: "ann"), User(name: "bob"), User(name: "cleo")])
        let loaded = Settings("ann", in: temporary.factory)
        #expect(loaded.user != nil)
        loaded.user = nil

        let unread = Settings("bob", in: temporary.factory)
        unread.user = nil

        #expect(try users().keys() == ["cleo"])
    }

    @Test func assigningNilWithoutAKeyDeletesNothing() throws {
        try users().record(User(name: "ann"))
        let settings = Settings(in: temporary.factory)

        settings.user = nil

        #expect(try users().count() == 1)
    }

    @Test func theObjectIsLoadedOnceAtTheFirstRead() throws {
        let settings = Settings("ann", in: temporary.factory)
        try users().record(User(name: "ann", age: 1))
        #expect(settings.user?.age == 1)

        try users().record(User(name: "ann", age: 2))
        #expect(settings.user?.age == 1)
    }

    @Test func copiesShareTheObject() throws {
        try users().record(User(name: "ann", age: 1))
        let first = Settings("ann", in: temporary.factory)
        let second = first

        first.user = User(name: "bob")

        #expect(first.user?.name == "bob")
        #expect(second.user?.name == "bob")
    }

    @Test func aClassIsLoadedAndRecorded() throws {
        let desk = Desk(in: temporary.factory)
        desk.note = Note("note", text: "words")

        #expect(Desk("note", in: temporary.factory).note?.text == "words")
    }

    @Test func aFailedLoadIsRetried() throws {
        struct Moody: Archivable {
            static var archiveName: String { "Moody" }
            nonisolated(unsafe) static var isWilling = false
            var primaryKey: String { "moody" }
            func archive() throws -> Data { Data("mood".utf8) }
            static func deArchive(fromData data: Data) throws -> any Archivable {
                guard isWilling else { throw Refusal(words: "not now") }
                return Moody()
            }
        }
        let store = try temporary.factory.store(for: Moody.self)
        try store.record(Moody())
        store.trimMemory(to: .zero)
        let archived = Archived<Moody>(initialPrimaryKey: "moody", in: temporary.factory)

        #expect(archived.wrappedValue == nil)
        Moody.isWilling = true
        #expect(archived.wrappedValue != nil)
    }

    @Test func aPropertyKeepsItsValueIfItsArchiveCannotBeOpened() throws {
        try temporary.put(Data())
        let factory = temporary.anotherFactory("archives/Archives.sqlite/below")
        let settings = Settings("ann", in: factory)

        #expect(settings.user == nil)
        settings.user = User(name: "bob")
        #expect(settings.user == User(name: "bob"))
        settings.user = nil
        #expect(settings.user == nil)
    }
}
