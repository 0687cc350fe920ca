import Foundation
import TestThreads
import Testing
import Vellum

@Suite("What Codable archivables are stored as", .ownThreads)
struct ArchiveFormatTests {
    private struct Note: ArchiveCodable, Equatable {
        static let archiveName = "Note"
        var primaryKey: String { title }
        var title: String
        var weight: Double = .nan
        var day = Date(timeIntervalSinceReferenceDate: 700_000_000.123_456_7)

        static func == (left: Note, right: Note) -> Bool {
            (left.title, left.weight.bitPattern, left.day) == (
                right.title, right.weight.bitPattern, right.day
            )
        }
    }

    private struct ReadableNote: ArchiveCodable {
        static let archiveName = "Note"
        static let archiveFormat = CodableFormat.json
        var primaryKey: String { title }
        var title: String
        var weight = 1.5
        var day = Date(timeIntervalSinceReferenceDate: 0)
    }

    /// Not `Codable`.
    private struct Raw: Archivable {
        static let archiveName = "Raw"
        let primaryKey: String

        func archive() throws -> Data { Data(primaryKey.utf8) }
        static func deArchive(fromData data: Data) throws -> any Archivable {
            Raw(primaryKey: String(decoding: data, as: UTF8.self))
        }
    }

    private let archives = TemporaryArchives()

    @Test func theDataBeginsWithTheTagOfCBOR() throws {
        let data = try Note(title: "a").archive()
        #expect(data.prefix(3) == Data([0xD9, 0xD9, 0xF7]))
        #expect(try Note.deArchive(fromData: data) as? Note == Note(title: "a"))
    }

    @Test func aTypeMayUseJSON() throws {
        let data = try ReadableNote(title: "a").archive()
        #expect(try JSONDecoder().decode(ReadableNote.self, from: data).title == "a")
        #expect(data.first == UInt8(ascii: "{"))
    }

    @Test(arguments: [1.byte, 1.megaByte])
    func storedJSONStaysReadable(_ memory: DataSize) throws {
        try archives.factory.store(for: ReadableNote.self).record(ReadableNote(title: "old"))
        try archives.factory.close()
        let store = try archives.anotherFactory().store(for: Note.self, memoryLimit: memory)
        try store.record(Note(title: "new"))
        #expect(try store.access(archiveWithKey: "old")?.weight == 1.5)
        #expect(try store.access(archiveWithKey: "new") == Note(title: "new"))
        #expect(
            Set(try store.fetch(where: #Predicate { _ in true }).map(\.title)) == ["old", "new"]
        )
    }

    @Test func aTypeThatWritesJSONReadsCBOR() throws {
        try archives.factory.store(for: Note.self).record(Note(title: "binary", weight: 2))
        try archives.factory.close()
        let store = try archives.anotherFactory().store(for: ReadableNote.self)
        #expect(try store.access(archiveWithKey: "binary")?.weight == 2)
    }

    @Test func aTypeMayWriteItsOwnData() throws {
        let store = try archives.factory.store(for: Raw.self, memoryLimit: 1.byte)
        try store.record(Raw(primaryKey: "raw"))
        #expect(try store.access(archiveWithKey: "raw")?.primaryKey == "raw")
        #expect(Raw(primaryKey: "raw").sizeOfData == 3.bytes)
    }
}
