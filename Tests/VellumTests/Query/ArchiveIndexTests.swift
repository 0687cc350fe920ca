import Foundation
import TestThreads
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

@Suite(.ownThreads)
struct ArchiveIndexTests {
    class Note: Archivable {
        var primaryKey = ""
        var pages = 1
        var words = 2
        func archive() throws -> Data { Data() }
        static func deArchive(fromData data: Data) throws -> any Archivable { Note() }
    }

    class IndexedNote: Note, IndexedArchivable {
        static var archiveIndexes: [ArchiveIndex<Note>] {
            [
                .index(\.pages), .index(\.words), .index(\.words, \.pages),
                .index(\.primaryKey, named: "a;b\nc"),
            ]
        }
    }

    final class SpecialNote: IndexedNote {}

    struct Plain: ArchiveCodable {
        var primaryKey = ""
    }

    @Test func columnsAreNamedAfterTheirProperties() throws {
        let shape = try #require(try indexCatalog(of: QuerySample.self)).shape

        #expect(
            shape.columns.map(\.name) == [
                "integer", "small", "large", "ratio", "share", "name", "nick", "date", "identifier",
                "bytes", "isMarked", "mark", "kind",
                "otherKind", "address.city", "<computed Bool>", "<computed Bool> 2",
            ]
        )
        #expect(shape.collections.map(\.name) == ["tags", "numbers", "kinds"])
        #expect(shape.indexes.prefix(3) == [[0], [1], [2, 3]])
    }

    @Test func propertiesOfAClassAreNamedAfterTheirType() throws {
        let shape = try #require(try indexCatalog(of: IndexedNote.self)).shape

        #expect(shape.columns.map(\.name) == ["<computed Int>", "<computed Int> 2", "a b c"])
        #expect(shape.indexes == [[0], [1], [1, 0], [2]])
    }

    @Test func aSubclassHasTheIndexesOfItsClass() throws {
        let catalog = try #require(try indexCatalog(of: SpecialNote.self))
        let note = SpecialNote()
        note.pages = 7

        #expect(catalog.values(of: note)?.columns == [.integer(7), .integer(2), .text("")])
        #expect(catalog.column(of: \Note.pages) == 0)
    }

    @Test func aTypeWithoutDeclaredIndexesHasNone() throws {
        #expect(try indexCatalog(of: Plain.self) == nil)
        #expect(try indexCatalog(of: Note.self) == nil)
    }

    @Test func rawValuesAreIndexed() throws {
        let catalog = try #require(try indexCatalog(of: QuerySample.self))
        let values = try #require(
            catalog.values(of: QuerySample(otherKind: .large, kinds: [.small, .small]))
        )

        #expect(values.columns[12] == .text("small"))
        #expect(values.columns[13] == .text("large"))
        #expect(values.elements[2] == [.text("small")])
    }

    @Test func nilIsIndexedAsNull() throws {
        let catalog = try #require(try indexCatalog(of: QuerySample.self))
        let values = try #require(catalog.values(of: QuerySample()))

        #expect(values.columns[1] == .null)
        #expect(values.columns[13] == .null)
        #expect(values.elements[1].isEmpty)
    }

    // MARK: Types of properties

    struct Task: ArchiveCodable, IndexedArchivable, Equatable {
        static let archiveName = "Task"
        enum Priority: Int, Codable { case low, high }
        struct Place: Codable, Hashable { var floor = 1 }

        var primaryKey: String { name }
        var name: String
        var priority: Priority
        var former: Priority?
        var total: Int

        static var archiveIndexes: [ArchiveIndex<Task>] {
            [.index(\.priority, \.total), .index(\.former, \.total, \.priority)]
        }
    }

    @Test func anIndexOfSeveralPropertiesStoresRawValues() throws {
        let archives = TemporaryArchives()
        let store = try archives.factory.store(for: Task.self)
        let tasks = (0..<40).map { number in
            Task(
                name: "task \(number)",
                priority: number % 4 == 0 ? .high : .low,
                former: number % 3 == 0 ? nil : number % 3 == 1 ? .low : .high,
                total: number
            )
        }
        try store.record(contentsOf: tasks)
        let (high, low) = (Task.Priority.high, Task.Priority.low)
        let predicates: [Predicate<Task>] = [
            #Predicate { $0.priority == high && $0.total > 30 },
            #Predicate { $0.former == low && $0.total < 9 },
            #Predicate { $0.former == nil && $0.total == 3 && $0.priority == low },
        ]
        for predicate in predicates {
            #expect(try store.fetch(where: predicate) == tasks.filter(predicate.evaluate))
            let explanation = try store.explain(where: predicate)
            #expect(explanation.decodedObjects == explanation.results && explanation.results > 0)
            #expect(explanation.usesIndex)
        }
        let shape = try #require(try indexCatalog(of: Task.self)).shape
        #expect(shape.columns.map(\.encoding) == ["integer", "integer", "integer?"])
    }

    struct Badly: ArchiveCodable, IndexedArchivable {
        static let archiveName = "Badly"
        var primaryKey = ""
        var place = Task.Place()
        static var archiveIndexes: [ArchiveIndex<Badly>] { [.index(\.primaryKey, \.place)] }
    }

    @Test func anIndexOfAPropertyThatCannotBeIndexedIsAnError() throws {
        let error = #expect(throws: VellumError.self) {
            try TemporaryArchives().factory.store(for: Badly.self)
        }
        #expect(error?.code == .invalidIndex)
        #expect(error?.message.contains("'place', whose type Place") == true)
    }

    // MARK: Indexes that no query can use

    struct Weight: Codable, IndexableScalar {
        var grams = 0
        var indexValue: IndexValue? { .integer(Int64(grams)) }
    }

    struct Parcel: ArchiveCodable, IndexedArchivable {
        static let archiveName = "Parcel"
        var primaryKey = ""
        var weight = Weight()
        var tare: Weight?
        var parts: [Weight] = []
        var lines: [Line?] = [Line()]

        struct Line: Codable {
            var name = ""
            var shout: String { name + "!" }
        }

        static var archiveIndexes: [ArchiveIndex<Parcel>] {
            [
                .index(\.weight), .index(\.tare), .index(\.weight, \.primaryKey), .each(\.parts),
                .index(\.lines.first??.shout),
                .index(\.lines[0]?.name),
            ]
        }
    }

    @Test func indexesThatNoQueryCanUseAreNamed() throws {
        #expect(try indexCatalog(of: Parcel.self)?.unusable == ["weight", "parts"])
        #expect(
            try indexCatalog(of: SpecialNote.self)?.unusable == [
                "<computed Int>", "<computed Int> 2", "<computed Int> 2, <computed Int>", "a b c",
            ]
        )
        for usable in [
            try indexCatalog(of: QuerySample.self)?.unusable,
            try indexCatalog(of: Task.self)?.unusable,
        ] {
            #expect(usable == [])
        }
    }

    /// A key path equals itself, whether Swift has a name for its properties or not.
    @Test func anIndexOfPropertiesWithoutNamesIsUsedByKeyPath() throws {
        let manager = try TemporaryArchives().factory.archives(for: Parcel.self)
        for path in [\Parcel.lines.first??.shout, \Parcel.lines[0]?.name] {
            let explanation = manager.findWhere { $0[dynamicMember: path](.isEqual("x")) }.explain()
            #expect(explanation.pushedDown.count == 1)
        }
    }
}
