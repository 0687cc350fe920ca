import Foundation
import TestThreads
import Testing
import Vellum
import VellumCore

/// A failing disk never appears as an empty archive. (C5)
@Suite(.ownThreads)
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
            { _ = try store.accessAll() }, { _ = try store.contains(archiveWithKey: "a") },
            { _ = try store.metadata(forKey: "a") },
            { _ = try store.keys() }, { _ = try store.count() },
            { try store.delete(archiveWithKey: "a") },
            { try store.delete(allKeys: ["a"]) }, { try store.deleteAll() },
            { try store.deleteAll(lastUsedBefore: .now) },
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
        try temporary.factory.store(for: Note.self).record(contentsOf: [
            Note("a", text: "1"), Note("b", text: words), Note("c", text: "3"),
        ])
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
        try temporary.factory.store(for: Note.self).record(contentsOf: [
            Note("a", text: "1"), Note("b", text: words),
        ])
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

    // MARK: The log

    /// The lines that `body` logs.
    private func linesLogged(by body: () throws -> Void) rethrows -> [String] {
        let lines = Locked<[String]>([])
        try LoggedLines.$observer.withValue(
            { line in lines.withLock { $0.append(line) } },
            operation: body
        )
        return lines.withLock { $0 }
    }

    @Test func aFileThatCannotBeWrittenIsLoggedOnceAndCounted() throws {
        struct Stamp: ArchiveCodable {
            static var archiveName: String { "Stamps" }
            var primaryKey: String
        }
        let stamps = try temporary.factory.archives(for: Stamp.self)
        let lines = try linesLogged {
            stamps.record(Stamp(primaryKey: "a"))
            try temporary.factory.suspend()
            for _ in 0..<1000 { stamps.record(Stamp(primaryKey: "b")) }
            stamps.deleteAll()
            try temporary.factory.resume()
            stamps.record(Stamp(primaryKey: "c"))
            stamps.record(Stamp(primaryKey: "d"))
        }

        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("suspended: ") == true)
        let end =
            """
            The file could be written again; 1001 calls failed meanwhile with the code suspended. \
            (archive Stamps, file 
            """
        #expect(lines.last?.hasPrefix(end) == true)
        #expect(Set(try stamps.store.keys()) == ["a", "c", "d"])
    }

    @Test func aPropertyWhoseFileCannotBeOpenedIsLoggedOnceAndCounted() throws {
        struct Letter: ArchiveCodable {
            static var archiveName: String { "Letters" }
            var primaryKey = "letter"
        }
        try temporary.put(Data(String(repeating: "no database ", count: 1000).utf8))
        let letter = Archived<Letter>(initialPrimaryKey: "letter", in: temporary.factory)
        let lines = try linesLogged {
            for _ in 0..<1000 { #expect(letter.wrappedValue == nil) }
            try FileManager.default.removeItem(at: temporary.file)
            #expect(letter.wrappedValue == nil)
        }

        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("An archive cannot be opened. notADatabase: ") == true)
        let end =
            """
            The file could be opened again; 1000 calls failed meanwhile with the code \
            notADatabase. (archive Letters, file 
            """
        #expect(lines.last?.hasPrefix(end) == true)
    }

    @Test func anObjectThatCannotBeEncodedIsLoggedAtPowersOfTen() throws {
        struct Refusing: Archivable {
            static var archiveName: String { "Refusing" }
            var primaryKey: String { "refusing" }
            func archive() throws -> Data { throw Refusal(words: "secret") }
            static func deArchive(fromData data: Data) throws -> any Archivable { Refusing() }
        }
        let archives = try temporary.factory.archives(for: Refusing.self)
        let lines = linesLogged { for _ in 0..<150 { archives.record(Refusing()) } }

        #expect(lines.map { $0.hasSuffix("th time)") } == [false, true, true])
        #expect(lines.allSatisfy { !$0.contains("secret") })
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

        let error = #expect(throws: VellumError.self) {
            _ = try store.access(archiveWithKey: "wrong")
        }

        #expect(error?.code == .notDecodable)
    }
}
