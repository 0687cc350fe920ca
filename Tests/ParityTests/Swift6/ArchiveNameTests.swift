import Foundation
import TestThreads
import Testing
import Vellum

private struct Secret: ArchiveCodable {
    var primaryKey = "secret"
}

private struct PinnedSecret: ArchiveCodable, Equatable {
    static var archiveName: String { "PinnedSecret" }
    var primaryKey = "secret"
}

/// The row "Archivable": names of archives.
@Suite(.ownThreads)
struct ArchiveNameTests {
    struct Item: ArchiveCodable, Equatable {
        var primaryKey: String { name }
        var name: String
    }

    struct OldItem: ArchiveCodable {
        static var archiveName: String { "Items" }
        var primaryKey: String { name }
        var name: String
    }

    struct RenamedItem: ArchiveCodable {
        static var archiveName: String { "Items" }
        var primaryKey: String { name }
        var name: String
    }

    struct Holder {
        @Archived fileprivate var secret: Secret?
    }

    let temporary = TemporaryArchives()

    @Test func theNameIsTheFullNameOfTheType() {
        #expect(Item.archiveName == String(reflecting: Item.self))
        #expect(Item.archiveName.hasSuffix("ArchiveNameTests.Item"))
        #expect(Item.archivePropertyBehavior == .insertIfNotPresent)
    }

    @Test func openingAStoreOfAPrivateTypeThrowsAnErrorWithTheLineToAdd() throws {
        let error = #expect(throws: VellumError.self) {
            _ = try temporary.factory.store(for: Secret.self)
        }

        #expect(error?.code == .unnamedArchive)
        #expect(error?.message.contains(#"static var archiveName: String { "Secret" }"#) == true)
    }

    @Test func openingAManagerOfAPrivateTypeThrows() throws {
        let error = #expect(throws: VellumError.self) {
            _ = try temporary.factory.archives(for: Secret.self)
        }

        #expect(error?.code == .unnamedArchive)
    }

    @Test func aLocalTypeIsAnError() throws {
        struct Local: ArchiveCodable {
            var primaryKey = "local"
        }

        let error = #expect(throws: VellumError.self) {
            _ = try temporary.factory.archives(for: Local.self)
        }

        #expect(error?.code == .unnamedArchive)
        #expect(error?.message.contains(#"static var archiveName: String { "Local" }"#) == true)
    }

    @Test func aPrivateTypeWithANameIsAccepted() throws {
        try temporary.factory.archives(for: PinnedSecret.self).record(PinnedSecret())
        try temporary.factory.close()

        #expect(
            try temporary.factory.archives(for: PinnedSecret.self).access(archiveWithKey: "secret")
                == PinnedSecret()
        )
    }

    @Test func aPropertyWrapperOfAPrivateTypeOnlyKeepsItsValue() {
        let holder = Holder()
        #expect(holder.secret == nil)

        holder.secret = Secret()

        #expect(holder.secret?.primaryKey == "secret")
    }

    @Test func aPinnedNameSurvivesTheRenamingOfTheType() throws {
        try temporary.factory.archives(for: OldItem.self).record(OldItem(name: "cup"))
        try temporary.factory.close()

        #expect(
            try temporary.factory.archives(for: RenamedItem.self).access(archiveWithKey: "cup")?
                .name == "cup"
        )
    }
}
