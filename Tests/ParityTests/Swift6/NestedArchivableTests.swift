import Foundation
import TestThreads
import Testing
import Vellum

/// The row "nested archivables": properties of recorded objects.
@Suite(.ownThreads)
struct NestedArchivableTests {
    struct Part: ArchiveCodable, Equatable {
        var primaryKey = "key"
        var text: String
    }

    struct Replacing: ArchiveCodable {
        static var archivePropertyBehavior: ArchivePropertyBehavior { .replaceExisting }
        var primaryKey = "holder"
        var part: Part?
    }

    struct Inserting: ArchiveCodable {
        var primaryKey = "holder"
        var part: Part?
    }

    struct Ignoring: ArchiveCodable {
        static var archivePropertyBehavior: ArchivePropertyBehavior { .ignore }
        var primaryKey = "holder"
        var part: Part?
        var replacing: Replacing?
    }

    let temporary = TemporaryArchives()
    let parts: ArchiveManager<Part>

    init() throws {
        parts = try temporary.factory.archives()
    }

    @Test func replaceExistingReplacesTheObjectThatIsThere() throws {
        let holders = try temporary.factory.archives(for: Replacing.self)

        holders.record(Replacing(part: Part(text: "first")))
        #expect(parts.access(archiveWithKey: "key")?.text == "first")

        holders.record(Replacing(part: Part(text: "second")))
        #expect(parts.access(archiveWithKey: "key")?.text == "second")
    }

    @Test func insertIfNotPresentKeepsTheObjectThatIsThere() throws {
        let holders = try temporary.factory.archives(for: Inserting.self)

        holders.record(Inserting(part: Part(text: "first")))
        holders.record(Inserting(part: Part(text: "second")))

        #expect(parts.access(archiveWithKey: "key")?.text == "first")
        #expect(holders.access(archiveWithKey: "holder")?.part?.text == "second")
    }

    /// Whatever the type of the property says: the object that is recorded decides.
    @Test func ignoreRecordsOnlyTheObject() throws {
        let holders = try temporary.factory.archives(for: Ignoring.self)

        holders.record(
            Ignoring(part: Part(text: "first"), replacing: Replacing(part: Part(text: "second")))
        )

        #expect(parts.access(archiveWithKey: "key") == nil)
        #expect(try temporary.factory.archives(for: Replacing.self).accessAll().isEmpty)
        #expect(holders.access(archiveWithKey: "holder")?.part?.text == "first")
    }

    @Test func eachObjectDecidesForItsOwnProperties() throws {
        struct Outer: ArchiveCodable {
            static var archiveName: String { "Outer" }
            var primaryKey = "outer"
            var replacing: Replacing
        }
        parts.record(Part(text: "before"))
        try temporary.factory.archives(for: Outer.self).record(
            Outer(replacing: Replacing(part: Part(text: "after")))
        )

        #expect(parts.access(archiveWithKey: "key")?.text == "after")
        #expect(
            try temporary.factory.archives(for: Replacing.self).access(archiveWithKey: "holder")?
                .part?.text == "after"
        )
    }

    /// A property that is there stays as it is, with its own properties.
    @Test func propertiesOfAPropertyThatStaysAreNotRecorded() throws {
        struct Outer: ArchiveCodable {
            static var archiveName: String { "Outer 2" }
            var primaryKey = "outer"
            var inserting: Inserting
        }
        let outer = Outer(inserting: Inserting(part: Part(text: "first")))
        let outers = try temporary.factory.archives(for: Outer.self)
        outers.record(outer)
        #expect(parts.access(archiveWithKey: "key")?.text == "first")

        parts.deleteAll()
        outers.record(outer)
        #expect(parts.access(archiveWithKey: "key") == nil)
    }

    @Test func propertiesThatAreNilAreNotRecorded() throws {
        let holders = try temporary.factory.archives(for: Replacing.self)
        holders.record(Replacing())

        #expect(parts.accessAll().isEmpty)
        #expect(holders.access(archiveWithKey: "holder") != nil)
    }

    @Test func bulkMethodsRecordProperties() throws {
        try temporary.factory.archives(for: Replacing.self).insert(all: [
            Replacing(part: Part(text: "first"))
        ])

        #expect(parts.access(archiveWithKey: "key")?.text == "first")
    }
}
