import Foundation
import Testing
import Vellum

/// A failing disk never appears as an empty archive. (C5)
@Suite(.timeLimit(.minutes(60)))
struct ArchiveStoreFailureTests {
    let temporary = TemporaryArchives()

    @Test func everyMethodOfAClosedArchiveThrows() throws {
        let store = try temporary.factory.store(for: Parcel.self)
        try store.record(Parcel("a"))
        try store.close()
        let other = try temporary.factory.store(for: User.self)

        let operations: [() throws -> Void] = [
            { _ = try store.access(archiveWithKey: "a") }, { try store.record(Parcel("b")) },
            { try store.record(contentsOf: [Parcel("b")]) },
            { _ = try store.accessAll() }, { _ = try store.contains(archiveWithKey: "a") }, { _ = try store.metadata(forKey: "a") },
            { _ = try store.keys() }, { _ = try store.count() }, { try store.delete(archiveWithKey: "a") },
            { try store.delete(allKeys: ["a"]) }, { try store.deleteAll() }, { try store.deleteAll(lastUsedBefore: .now) },
            { _ = try store.statistics() }, { try store.flush() },
            {
                try temporary.factory.transaction {
                    try $0.record(User(name: "ann"), in: other)
                    try $0.record(Parcel("b"), in: store)
                }
            },
        ]
        for operation in operations {
            let error = #expect(throws: VellumError.self) { try operation() }
            #expect(error?.code == .closed)
        }
        #expect(try other.count() == 0)
        #expect(try temporary.factory.store(for: Parcel.self).keys() == ["a"])
    }

    @Test func closingTwiceHasNoFurtherEffect() throws {
        let store = try temporary.factory.store(for: Parcel.self)
        try store.close()
        try store.close()
        try temporary.factory.close()
        try temporary.factory.close()
    }

    @Test func aDamagedEntryThrowsAndIsLeftOutOfLists() async throws {
        let words = "these words will be changed on disk"
        try temporary.factory.store(for: Note.self).record(contentsOf: [Note("a", text: "1"), Note("b", text: words), Note("c", text: "3")])
        try temporary.factory.close()
        try temporary.damage(words)
        let notes = try temporary.factory.store(for: Note.self)
        let events = notes.events

        let error = #expect(throws: VellumError.self) { _ = try notes.access(archiveWithKey: "b") }
        #expect(error?.code == .damagedEntry)
        #expect(try notes.accessAll().map(\.title) == ["c", "a"])
        #expect(try notes.statistics().failures == 2)
        for await case .damagedEntry(let key, let reported) in events {
            #expect((key, reported.code) == ("b", .damagedEntry))
            break
        }

        // It remains until it is replaced.
        #expect(try notes.count() == 3)
        try notes.record(Note("b", text: "whole"))
        notes.trimMemory(to: .zero)
        #expect(try notes.access(archiveWithKey: "b")?.text == "whole")
    }

    @Test func theManagerReturnsNilForADamagedEntryAndReportsIt() async throws {
        let words = "these words will be changed on disk"
        try temporary.factory.store(for: Note.self).record(contentsOf: [Note("a", text: "1"), Note("b", text: words)])
        try temporary.factory.close()
        try temporary.damage(words)
        let notes = try temporary.factory.archives(for: Note.self)
        let failures = notes.failures

        #expect(notes.access(archiveWithKey: "b") == nil)
        #expect(notes.accessAll().map(\.title) == ["a"])

        for await failure in failures {
            #expect(failure.code == .damagedEntry)
            break
        }
    }

    @Test func anObjectOfAnotherTypeIsAnError() throws {
        struct Wrong: Archivable {
            static var archiveName: String { "Wrong" }
            var primaryKey: String { "wrong" }
            func archive() throws -> Data { Data("wrong".utf8) }
            static func deArchive(fromData data: Data) throws -> any Archivable { Parcel("other") }
        }
        let store = try temporary.factory.store(for: Wrong.self)
        try store.record(Wrong())
        store.trimMemory(to: .zero)

        let error = #expect(throws: VellumError.self) { _ = try store.access(archiveWithKey: "wrong") }

        #expect(error?.code == .notDecodable)
    }
}
