import Foundation
import Testing
import VellumCore
import VellumEngine

@testable import Vellum

@Suite(.timeLimit(.minutes(60)))
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
            [.index(\.pages), .index(\.words), .index(\.words, \.pages), .index(\.primaryKey, named: "a;b\nc")]
        }
    }

    final class SpecialNote: IndexedNote {}

    struct Plain: ArchiveCodable {
        var primaryKey = ""
    }

    @Test func columnsAreNamedAfterTheirProperties() throws {
        let shape = try #require(indexCatalog(of: QuerySample.self)).shape

        #expect(
            shape.columns.map(\.name) == [
                "integer", "small", "large", "ratio", "share", "name", "nick", "date", "identifier", "bytes", "isMarked", "mark", "kind",
                "otherKind", "address.city", "<computed Bool>", "<computed Bool> 2",
            ])
        #expect(shape.collections.map(\.name) == ["tags", "numbers", "kinds"])
        #expect(shape.indexes.prefix(3) == [[0], [1], [2, 3]])
    }

    @Test func propertiesOfAClassAreNamedAfterTheirType() throws {
        let shape = try #require(indexCatalog(of: IndexedNote.self)).shape

        #expect(shape.columns.map(\.name) == ["<computed Int>", "<computed Int> 2", "a b c"])
        #expect(shape.indexes == [[0], [1], [1, 0], [2]])
    }

    @Test func aSubclassHasTheIndexesOfItsClass() throws {
        let catalog = try #require(indexCatalog(of: SpecialNote.self))
        let note = SpecialNote()
        note.pages = 7

        #expect(catalog.values(of: note)?.columns == [.integer(7), .integer(2), .text("")])
        #expect(catalog.column(of: \Note.pages) == 0)
    }

    @Test func aTypeWithoutDeclaredIndexesHasNone() {
        #expect(indexCatalog(of: Plain.self) == nil)
        #expect(indexCatalog(of: Note.self) == nil)
    }

    @Test func rawValuesAreIndexed() throws {
        let catalog = try #require(indexCatalog(of: QuerySample.self))
        let values = try #require(catalog.values(of: QuerySample(otherKind: .large, kinds: [.small, .small])))

        #expect(values.columns[12] == .text("small"))
        #expect(values.columns[13] == .text("large"))
        #expect(values.elements[2] == [.text("small")])
    }

    @Test func nilIsIndexedAsNull() throws {
        let catalog = try #require(indexCatalog(of: QuerySample.self))
        let values = try #require(catalog.values(of: QuerySample()))

        #expect(values.columns[1] == .null)
        #expect(values.columns[13] == .null)
        #expect(values.elements[1].isEmpty)
    }
}
