import Foundation
import TestThreads
import Testing
import Vellum
import VellumTesting

/// T5: an archive whose type was renamed is found.
@Suite(.ownThreads)
struct ArchiveListTests {
    struct Tree: ArchiveCodable {
        static var archiveName: String { "Forest.Tree" }
        var primaryKey: String
    }

    struct Plant: ArchiveCodable, VersionedArchive {
        static var archiveName: String { "Garden.Plant" }
        static var formerArchiveNames: [String] { ["Tree"] }
        var primaryKey: String
    }

    struct OtherTree: ArchiveCodable {
        static var archiveName: String { "Family.Tree" }
        var primaryKey: String
    }

    let temporary = TemporaryArchives()

    @Test func theArchivesOfAFileAreListed() throws {
        let factory = temporary.factory
        #expect(try factory.archives() == [])
        #expect(try factory.drop(archiveNamed: "Forest.Tree") == false)
        #expect(!FileManager.default.fileExists(atPath: factory.directory.path))
        let trees = try factory.store(for: Tree.self)
        try trees.record(contentsOf: [Tree(primaryKey: "oak"), Tree(primaryKey: "elm")])
        let invoices = try factory.store(for: Program2.Invoice.self)
        try invoices.record(Program2.Invoice(number: "1", client: "a", cents: 2))
        _ = try factory.store(for: OtherTree.self)
        temporary.clock.advance(bySeconds: 60)
        _ = try trees.access(archiveWithKey: "oak")
        let archives = try factory.archives()
        #expect(archives.map(\.name) == ["Forest.Tree", "Billing.Invoice"])
        #expect(archives.map(\.version) == [0, 2])
        #expect(archives.map(\.usage.entries) == [2, 1])
        #expect(archives[0].usage.bytes == (try trees.statistics().disk.bytes))
        let lastUsed = try #require(archives[0].lastUsed)
        #expect(abs(lastUsed.timeIntervalSince(temporary.clock.now)) < 1)
    }

    @Test func theArchivesOfASuspendedFileAreNotListedAsNone() throws {
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        try temporary.factory.suspend()
        for call in [
            { _ = try temporary.factory.archives() },
            { _ = try temporary.factory.drop(archiveNamed: "Other") },
        ] {
            let error = #expect(throws: VellumError.self) { try call() }
            #expect(error?.code == .suspended)
        }
        try temporary.factory.resume()
        #expect(try temporary.factory.archives().count == 1)
    }

    @Test func anArchiveIsDropped() throws {
        try temporary.factory.store(for: Tree.self, diskLimit: 50.megaByte).record(
            Tree(primaryKey: "oak")
        )
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.drop(archiveNamed: "Forest.Tree")
        }
        #expect(error?.code == .contradiction)
        try temporary.factory.close()
        #expect(try temporary.factory.drop(archiveNamed: "Forest.Tree"))
        #expect(try temporary.factory.drop(archiveNamed: "None") == false)
        #expect(try temporary.factory.archives() == [])
        let trees = try temporary.factory.store(for: Tree.self)
        #expect(try trees.count() == 0)
        #expect(trees.limits.disk == 2.megaByte)
        try trees.record(Tree(primaryKey: "elm"))
        #expect(try trees.keys() == ["elm"])
    }

    @Test func aDroppedArchiveIsGoneForAnotherFactoryThatHadItOpen() throws {
        let other = temporary.anotherFactory()
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        // One file in one process: the archive is open, whoever opened it.
        #expect(throws: VellumError.self) { try other.drop(archiveNamed: "Forest.Tree") }
        try temporary.factory.close()
        #expect(try other.drop(archiveNamed: "Forest.Tree"))
        #expect(try temporary.factory.store(for: Tree.self).count() == 0)
    }

    @Test func anArchiveOfAnEarlierNameIsOpened() throws {
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        try temporary.factory.close()
        for _ in 0..<2 {
            let plants = try temporary.factory.store(for: Plant.self)
            #expect(try plants.keys().contains("oak"))
            try plants.record(Plant(primaryKey: "rose"))
            try temporary.factory.close()
        }
        #expect(try temporary.factory.archives().map(\.name) == ["Forest.Tree"])
        // Both types have one archive: they cannot be open at once.
        _ = try temporary.factory.store(for: Plant.self)
        #expect(throws: VellumError.self) { try temporary.factory.store(for: Tree.self) }
    }

    @Test func anEmptyArchiveOfTheNewNameDoesNotHideTheOldOne() throws {
        struct Unaware: ArchiveCodable {
            static var archiveName: String { "Garden.Plant" }
            var primaryKey: String
        }
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        _ = try temporary.factory.store(for: Unaware.self)
        try temporary.factory.close()
        #expect(try temporary.factory.store(for: Plant.self).keys() == ["oak"])
        try temporary.factory.close()
        try temporary.factory.store(for: Unaware.self).record(Unaware(primaryKey: "rose"))
        try temporary.factory.close()
        // The archive of the type's own name holds objects now.
        #expect(try temporary.factory.store(for: Plant.self).keys() == ["rose"])
        try temporary.factory.close()
        #expect(try temporary.factory.drop(archiveNamed: "Garden.Plant"))
        #expect(try temporary.factory.store(for: Plant.self).keys() == ["oak"])
    }

    @Test func anUnqualifiedNameMustFitOneArchiveOnly() throws {
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        try temporary.factory.store(for: OtherTree.self).record(
            OtherTree(primaryKey: "grandmother")
        )
        try temporary.factory.close()
        let error = #expect(throws: VellumError.self) {
            try temporary.factory.store(for: Plant.self)
        }
        #expect(error?.code == .contradiction)
        #expect(error?.message.contains("Family.Tree") == true)
    }

    @Test func anArchiveThatIsOpenStaysTheOneOfItsType() throws {
        try temporary.factory.store(for: Tree.self).record(Tree(primaryKey: "oak"))
        try temporary.factory.close()
        let plants = try temporary.factory.store(for: Plant.self)
        try temporary.anotherFactory().store(for: OtherTree.self).record(
            OtherTree(primaryKey: "grandmother")
        )
        #expect(try temporary.factory.store(for: Plant.self).keys() == ["oak"])
        #expect(try plants.keys() == ["oak"])
    }
}
