import Foundation
import TestThreads
import Testing
import Vellum

/// The code blocks and the list of methods in "ArchiveManager".
@Suite(.ownThreads)
struct ArchiveManagerTests {
    struct User: Codable, Archivable, Equatable {
        var primaryKey: String { userName }
        var userName: String
        var age = 0
    }

    struct Visitor: Codable, Archivable {
        var primaryKey: String { name }
        var name: String
    }

    struct Guest: Codable, Archivable {
        var primaryKey: String { name }
        var name: String
    }

    let temporary = TemporaryArchives()
    let archives: ArchiveManager<User>

    init() throws {
        archives = try temporary.factory.archives()
    }

    // MARK: Both spellings

    @Test func bothSpellingsOpenTheSameArchive() {
        // As the document writes it.
        // swift-format-ignore: NeverUseForceTry
        let archives = try! ArchivesFactory.shared.archives(
            for: User.self,
            trySetMaxMemorySize: 10.kiloByte,
            trySetMaxDiskSize: 20.kiloByte
        )
        defer { archives.deleteAll() }

        // or not explicit
        // swift-format-ignore: NeverUseForceTry
        let sameArchives: ArchiveManager<User> = try! ArchivesFactory.shared.archives(
            trySetMaxMemorySize: 10.kiloByte,
            trySetMaxDiskSize: 20.kiloByte
        )

        archives.record(User(userName: "ann"))
        #expect(sameArchives.access(archiveWithKey: "ann") == User(userName: "ann"))
        #expect(sameArchives.maxSize == 30.kiloByte)
    }

    @Test func theDefaultSizesAreOneAndTwoMegabytes() {
        #expect(archives.maxSize == 3.megaByte)
        #expect(temporary.factory.defaultMaxMemorySize == 1.megaByte)
        #expect(temporary.factory.defaultMaxDiskSize == 2.megaByte)
    }

    /// "The size will only apply on the first creation of the `ArchiveManager`. If it is already
    /// created, the memory size and disk size are ignored."
    @Test func laterSizesAreIgnored() throws {
        let factory = temporary.factory
        let first = try factory.archives(
            for: Visitor.self,
            trySetMaxMemorySize: 10.kiloByte,
            trySetMaxDiskSize: 20.kiloByte
        )

        let second = try factory.archives(
            for: Visitor.self,
            trySetMaxMemorySize: 5.megaByte,
            trySetMaxDiskSize: 5.megaByte
        )

        #expect(first.maxSize == 30.kiloByte)
        #expect(second.maxSize == 30.kiloByte)
        let third = try factory.archives(
            for: Visitor.self,
            trySetMaxMemorySize: 1.kiloByte,
            trySetMaxDiskSize: 1.kiloByte
        )
        #expect(third.maxSize == 30.kiloByte)
    }

    @Test func aManagerCanBeCreatedWithoutAFactory() throws {
        let guests = try ArchiveManager<Guest>(maxMemorySize: 10.kiloByte, maxDiskSize: 20.kiloByte)
        defer { guests.deleteAll() }

        guests.record(Guest(name: "ann"))

        #expect(guests.maxSize == 30.kiloByte)
        #expect(
            try ArchivesFactory.shared.archives(for: Guest.self).access(archiveWithKey: "ann")
                != nil
        )
    }

    // MARK: The list of methods

    @Test func everyMemberHasTheDocumentedSignature() {
        let maxSize: DataSize = archives.maxSize
        let currentSize: DataSize = archives.currentSize
        let latestAccessedTime: (String) -> Date? = archives.latestAccessedTime(for:)
        let deleteAllInvalidateArchives: (TimeInterval) -> Void = archives
            .deleteAllInvalidateArchives(invalidateTimeInterval:)
        let record: (User) -> Void = archives.record(_:)
        let update: (User) -> Void = archives.update(_:)
        let access: (String) -> User? = archives.access(archiveWithKey:)
        let accessSome: (Int) -> [User] = archives.accessAll(limitedBy:)
        let accessAll: () -> [User] = archives.accessAll
        let delete: (String) -> Void = archives.delete(archiveWithKey:)
        let deleteAll: () -> Void = archives.deleteAll

        #expect(maxSize > currentSize)
        record(User(userName: "ann"))
        update(User(userName: "ann", age: 1))
        #expect(access("ann")?.age == 1)
        #expect(latestAccessedTime("ann") != nil)
        #expect(accessSome(1) == accessAll())
        deleteAllInvalidateArchives(.infinity)
        delete("nothing")
        #expect(accessAll().count == 1)
        deleteAll()
        #expect(accessAll().isEmpty)
    }

    @Test func currentSizeIsTheSumOfMemoryAndDisk() throws {
        #expect(archives.currentSize == .zero)

        let user = User(userName: "ann")
        archives.record(user)

        #expect(archives.currentSize == user.sizeOfData + user.sizeOfData)
    }

    @Test func latestAccessedTimeIsTheTimeOfTheLastRecordOrAccess() {
        let user = User(userName: "ann")
        archives.record(user)
        #expect(archives.latestAccessedTime(for: "ann") == temporary.clock.now)

        temporary.clock.advance(bySeconds: 60)
        #expect(
            archives.latestAccessedTime(for: user) == temporary.clock.now.addingTimeInterval(-60)
        )

        _ = archives.access(archiveWithKey: "ann")
        #expect(archives.latestAccessedTime(for: user) == temporary.clock.now)
        #expect(archives.latestAccessedTime(for: "nobody") == nil)
    }

    @Test func invalidatingDeletesObjectsUnusedForLongerThanTheInterval() {
        archives.record(User(userName: "old"))
        temporary.clock.advance(bySeconds: 3600)
        archives.record(User(userName: "new"))

        archives.deleteAllInvalidateArchives(invalidateTimeInterval: 60)

        #expect(archives.accessAll().map(\.userName) == ["new"])
    }

    @Test func recordReplacesAndUpdateInserts() {
        archives.record(User(userName: "ann", age: 1))
        archives.record(User(userName: "ann", age: 2))
        archives.update(User(userName: "bob", age: 3))

        #expect(archives.access(archiveWithKey: "ann")?.age == 2)
        #expect(archives.access(archiveWithKey: "bob")?.age == 3)
        #expect(archives.accessAll().count == 2)
    }

    @Test func accessAllIsMostRecentlyUsedFirst() {
        for name in ["ann", "bob", "cleo"] { archives.record(User(userName: name)) }

        _ = archives.access(archiveWithKey: "ann")

        #expect(archives.accessAll().map(\.userName) == ["ann", "cleo", "bob"])
        #expect(archives.accessAll(limitedBy: 2).map(\.userName) == ["ann", "cleo"])
    }

    @Test func deletingAnObjectKeepsTheOthers() {
        archives.record(User(userName: "ann"))
        archives.record(User(userName: "bob"))

        archives.delete(archiveWithKey: "ann")

        #expect(archives.access(archiveWithKey: "ann") == nil)
        #expect(archives.access(archiveWithKey: "bob") != nil)
    }

    @Test func deletingAllRemovesEveryObject() {
        archives.record(User(userName: "ann"))

        archives.deleteAll()

        #expect(archives.accessAll().isEmpty)
        #expect(archives.currentSize == .zero)
    }
}
