import Foundation
import RawDatabase
import TestThreads
import Testing
import Vellum
import VellumFiles
import VellumTestSupport

/// What a file says of its indexes.
@Suite(.ownThreads)
struct RawIndexTests {
    @Test func fieldsOfDatesAreThoseThatAnIndexNames() throws {
        let factory = ArchivesFactory.inMemory()
        try factory.store(for: Animal.self).record(contentsOf: [Animal]())
        try factory.store(for: PlainAnimal.self).record(contentsOf: [PlainAnimal]())
        #expect(try factory.rawArchive(named: "Animal")?.dateFields() == ["born"])
        #expect(try factory.rawArchive(named: "PlainAnimal")?.dateFields() == [])
    }

    /// What a stranger's file says of its index is no trap.
    @Test(arguments: [
        "", ";", "1", "1;;each;", "1;a:String;a:String;(0,1);each;",
        "1;a:String?;a?:String;(0)(1);each;", "1;name:String;(7);each;",
        "1;name:String;(-1);each;", "1;name:String;(99999999999999999999);each;",
        "1;name:Nothing;(0);each;name:String;name:String",
        "1;:;(0);each;:", "1;;(0);each;a", "1;name:String;(0);each;;version x",
        "1;name:String;(0);each;;version 9223372036854775808",
        "1;" + (0..<11).map { "c\($0 / 2):String;" }.joined() + "(0);each;l:String",
        "2;name:String;(0);each;",
        String(repeating: "each;", count: 2000),
        "1;" + String(repeating: "a:String;", count: 3000) + "(0);each;",
    ])
    func aDefinitionOfAnyKindIsRead(_ definition: String) throws {
        let folder = try TemporaryDirectory()
        let factory = ArchivesFactory(directory: folder.url)
        var random = SeededGenerator(seed: 2)
        try factory.store(for: Animal.self).record(
            contentsOf: (0..<20).map { Animal.random($0, &random) }
        )
        try factory.close()
        let quoted = definition.replacingOccurrences(of: "'", with: "''")
        try RawDatabase(folder.file("Archives.sqlite")).execute(
            "UPDATE indexes SET definition = '\(quoted)'"
        )
        let archive = try #require(
            try ArchiveFile(at: folder.file("Archives.sqlite")).archive(named: "Animal")
        )
        #expect(try archive.summary().entries == 20)
        _ = try archive.dateFields()
    }
}
