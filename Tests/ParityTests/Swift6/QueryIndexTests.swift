import Foundation
import TestThreads
import Testing
import Vellum

/// Indexes that clients declare.
@Suite(.ownThreads)
struct QueryIndexTests {
    enum Kind: String, Codable { case small, large }

    struct Address: Codable {
        var city: String
    }

    struct User: Codable, IndexedArchivable {
        var primaryKey: String { name }
        var name: String
        var age: Int?
        var country = "no"
        var elevation = 0.0
        var address = Address(city: "Oslo")
        var tags: [String] = []
        var kind = Kind.small
        var otherKind: Kind?
        var kinds: [Kind]?

        static var archiveIndexes: [ArchiveIndex<User>] {
            [
                .index(\.age), .index(\.country, \.elevation),
                .index(\.country, \.elevation, \.age), .index(\.address.city),
                .each(\.tags), .index(\.kind), .index(\.otherKind, named: "other"), .each(\.kinds),
            ]
        }
    }

    class Note: Codable, IndexedArchivable {
        var primaryKey: String { title }
        var title: String
        var pages = 1

        init(_ title: String) { self.title = title }

        static var archiveIndexes: [ArchiveIndex<Note>] {
            [.index(\.pages), .index(\.title, \.pages)]
        }
    }

    let temporary = TemporaryArchives()

    @Test func indexedTypesAreQueried() throws {
        let users: ArchiveManager<User> = try temporary.factory.archives()
        users.insert(User(name: "ann", age: 3, tags: ["x"]), User(name: "bob", kind: .large))

        #expect(users.findWhere { $0.age(.isNil()) }.getResults().map(\.name) == ["bob"])
        #expect(
            users.findWhere { $0.tags(.contains(with: "x")) }.getResults().map(\.name) == ["ann"]
        )
        #expect(users.findWhere { $0.kind(.isEqual(.large)) }.getResults().map(\.name) == ["bob"])
    }

    @Test func classesThatAreNotFinalAreQueried() throws {
        let notes: ArchiveManager<Note> = try temporary.factory.archives()
        notes.record(Note("a"))

        #expect(notes.findWhere { $0.pages(.isEqual(1)) }.firstResult()?.title == "a")
    }
}
