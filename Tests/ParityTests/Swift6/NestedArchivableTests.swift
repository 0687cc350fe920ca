import Foundation
import Testing
import Vellum

/// The row "nested archivables": properties of recorded objects.
@Suite(.timeLimit(.minutes(60)))
struct NestedArchivableTests {
    struct Replacing: ArchiveCodable, Equatable {
        static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
        var primaryKey: String
        var text: String
    }

    struct Inserting: ArchiveCodable, Equatable {
        var primaryKey: String
        var text: String
    }

    struct Ignored: ArchiveCodable, Equatable {
        static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }
        var primaryKey: String
        var text: String
    }

    struct Holder: ArchiveCodable {
        var primaryKey = "holder"
        var replacing: Replacing?
        var inserting: Inserting?
        var ignored: Ignored?
    }

    let temporary = TemporaryArchives()
    let holders: ArchiveManager<Holder>

    init() throws {
        holders = try temporary.factory.archives()
    }

    @Test func replaceExistingReplacesTheObjectThatIsThere() throws {
        let archives = try temporary.factory.archives(for: Replacing.self)

        holders.record(Holder(replacing: Replacing(primaryKey: "key", text: "first")))
        #expect(archives.access(archiveWithKey: "key")?.text == "first")

        holders.record(Holder(replacing: Replacing(primaryKey: "key", text: "second")))
        #expect(archives.access(archiveWithKey: "key")?.text == "second")
    }

    @Test func insertIfNotPresentKeepsTheObjectThatIsThere() throws {
        let archives = try temporary.factory.archives(for: Inserting.self)

        holders.record(Holder(inserting: Inserting(primaryKey: "key", text: "first")))
        holders.record(Holder(inserting: Inserting(primaryKey: "key", text: "second")))

        #expect(archives.access(archiveWithKey: "key")?.text == "first")
        #expect(holders.access(archiveWithKey: "holder")?.inserting?.text == "second")
    }

    @Test func ignoreRecordsOnlyTheContainingObject() throws {
        let archives = try temporary.factory.archives(for: Ignored.self)

        holders.record(Holder(ignored: Ignored(primaryKey: "key", text: "first")))

        #expect(archives.access(archiveWithKey: "key") == nil)
        #expect(holders.access(archiveWithKey: "holder")?.ignored?.text == "first")
    }

    @Test func propertiesThatAreNilAreNotRecorded() throws {
        holders.record(Holder())

        #expect(try temporary.factory.archives(for: Replacing.self).accessAll().isEmpty)
        #expect(holders.access(archiveWithKey: "holder") != nil)
    }

    @Test func bulkMethodsRecordProperties() throws {
        holders.insert(all: [Holder(replacing: Replacing(primaryKey: "key", text: "first"))])

        #expect(try temporary.factory.archives(for: Replacing.self).access(archiveWithKey: "key")?.text == "first")
    }
}
