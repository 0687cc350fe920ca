import Foundation
import RawDatabase
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Archives that are versions of one another.
@Suite(.timeLimit(.minutes(60)))
struct VersionGroupTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    static let day = 86_400

    func store(_ version: String, disk: DataSize = 1000.bytes, versionGroup: String = "cache") throws -> Store<Data> {
        try setup.open().store(
            named: "\(versionGroup) \(version)", codec: IdentityCodec(), inVersionGroup: versionGroup, memory: Capacity(1.megaByte),
            disk: Capacity(disk),
            caching: .values)
    }

    func fill(_ store: Store<Data>, _ count: Int) throws {
        for number in 0..<count { try store.record(Data(number, count: 100), forKey: EntryKey("\(number)")) }
    }

    func sweep() throws { try setup.open().sweepEverything() }

    /// M4: two versions of a program do not erase each other's entries.
    @Test func versionsDoNotReturnOrLoseEachOthersEntries() throws {
        let old = try store("1")
        try fill(old, 5)
        let new = try store("2")
        #expect(try new.value(forKey: "1") == nil)
        #expect(try new.keys() == [])
        #expect(try new.count() == 0)
        try new.record(Data("new".utf8), forKey: "1")
        #expect(try old.value(forKey: "1") == Data(1, count: 100))
        #expect(try new.value(forKey: "1") == Data("new".utf8))
    }

    @Test(arguments: [false, true])
    func entriesOfTheOldVersionAreEvictedForTheNew(isOpen: Bool) throws {
        var old: Store<Data>? = try store("1")
        try fill(try #require(old), 10)
        if !isOpen {
            old = nil
            try setup.close()
        }
        let new = try store("2")
        try fill(new, 4)
        #expect(try store("1").statistics().disk == StorageUsage(entries: 6, bytes: 600))
        #expect(try new.count() == 4)
        try fill(new, 12)
        #expect(try store("1").statistics().disk == StorageUsage())
        #expect(try new.statistics().disk == StorageUsage(entries: 10, bytes: 1000))
        #expect(try setup.open().verify().isIntact)
    }

    @Test func anOldVersionIsRemovedAWeekAfterItWasLastOpened() throws {
        try fill(try store("1", disk: 1.megaByte), 500)
        try setup.close()
        let new = try store("2", disk: 1.megaByte)
        try fill(new, 3)

        setup.clock.advance(by: .seconds(7 * Self.day - 1))
        try sweep()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries WHERE id >> 40 = 1") == 500)

        setup.clock.advance(by: .seconds(2))
        try sweep()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries WHERE id >> 40 = 1") == 0)
        #expect(try new.count() == 3)

        setup.clock.advance(by: .seconds(21 * Self.day))
        try sweep()
        #expect(try setup.open().archiveNames() == ["cache 2"])
        #expect(try setup.open().verify().isIntact)
        #expect(try store("1").count() == 0)
    }

    /// A version that is open, or was open an hour ago, is kept.
    @Test func anOldVersionThatIsOpenedRegularlyIsKept() throws {
        let new = try store("2", disk: 1.megaByte)
        for _ in 0..<5 {
            let old = try store("1", disk: 1.megaByte)
            if try old.count() == 0 { try fill(old, 5) }
            #expect(try old.count() == 5)
            try old.close()
            setup.clock.advance(by: .seconds(6 * Self.day))
            try sweep()
        }
        #expect(try new.count() == 0)
    }

    /// Salvaged old versions are still evicted to make room.
    @Test func aVersionGroupSurvivesSalvage() throws {
        try fill(try store("1", disk: 1.megaByte), 10)
        try setup.close()
        try RawDatabase(setup.url).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        // The marker that damage was found.
        try #require(FileManager.default.createFile(atPath: setup.url.path + "-damaged", contents: nil))

        let new = try store("2")
        try fill(new, 10)

        #expect(
            try RawDatabase(setup.url).int("SELECT count(*) FROM entries WHERE id >> 40 = (SELECT id FROM archives WHERE name = 'cache 1')")
                == 0)
        #expect(try new.count() == 10)
    }

    /// Each is an older sibling of the other while both are open; closing releases both, and the log.
    @Test func closingReleasesAFileWithTwoVersionsOpen() throws {
        let (old, new) = (try store("1"), try store("2"))
        try fill(old, 3)
        try fill(new, 3)
        try setup.close()
        #expect(setup.folder.size(of: "Archives.sqlite-wal") == 0)
        #expect(!FileManager.default.fileExists(atPath: setup.url.path + "-wal"))
    }

    @Test func versionGroupsAreIndependent() throws {
        try fill(try store("1", versionGroup: "a"), 10)
        try fill(try store("2", versionGroup: "b"), 10)
        #expect(try store("1", versionGroup: "a").count() == 10)
    }

    @Test func theLimitHoldsForAVersionGroupInAnyOrderOfOpening() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<300 {
            let store = try store("\(Int.random(in: 0..<3, using: &random))")
            let key = EntryKey("\(Int.random(in: 0..<40, using: &random))")
            switch Int.random(in: 0..<10, using: &random) {
            case 0: try store.close()
            case 1: try store.remove(key)
            default: try store.record(Data(1, count: .random(in: 0..<300, using: &random)), forKey: key)
            }
            #expect(try RawDatabase(setup.url).int("SELECT sum(length(bytes)) FROM entries") <= 1000)
        }
        #expect(try setup.open().verify().isIntact)
    }
}
