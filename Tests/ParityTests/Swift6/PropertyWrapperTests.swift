import Foundation
import TestThreads
import Testing
import Vellum

/// The code blocks of "Property Wrapper".
@Suite(.ownThreads)
struct PropertyWrapperTests {
    struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var age = 0
    }

    struct Plain {
        @Archived var user: User?
    }

    struct WithKey {
        @Archived(initialPrimaryKey: "some") var user: User?
    }

    class Note: Archivable {
        var primaryKey: String { title }
        var title = ""

        func archive() throws -> Data { Data(title.utf8) }

        static func deArchive(fromData data: Data) throws -> Archivable {
            let note = Note()
            note.title = String(decoding: data, as: UTF8.self)
            return note
        }
    }

    class Desk {
        @Archived(initialPrimaryKey: "some note") var note: Note?
    }

    @Test func anAssignedObjectIsStoredAutomatically() throws {
        let archives = try ArchivesFactory.shared.archives(for: User.self)
        defer { archives.delete(archiveWithKey: "plain") }

        let settings = Plain()
        #expect(settings.user == nil)
        settings.user = User(userName: "plain")

        #expect(settings.user == User(userName: "plain"))
        #expect(archives.access(archiveWithKey: "plain") == User(userName: "plain"))

        settings.user?.age = 5
        #expect(archives.access(archiveWithKey: "plain")?.age == 5)

        settings.user = nil
        #expect(archives.access(archiveWithKey: "plain") == nil)
    }

    @Test func theInitialKeyLoadsItsObjectAtTheFirstRead() throws {
        let archives = try ArchivesFactory.shared.archives(for: User.self)
        defer { archives.delete(archiveWithKey: "some") }

        let settings = WithKey()
        // Recorded after the property was created: it is loaded at the first read.
        archives.record(User(userName: "some", age: 7))

        #expect(settings.user == User(userName: "some", age: 7))
    }

    @Test func aClassIsWrappedToo() throws {
        let archives = try ArchivesFactory.shared.archives(for: Note.self)
        defer { archives.deleteAll() }
        let note = Note()
        note.title = "some note"
        archives.record(note)

        let desk = Desk()
        #expect(desk.note?.title == "some note")

        desk.note = nil
        #expect(archives.access(archiveWithKey: "some note") == nil)
    }
}
