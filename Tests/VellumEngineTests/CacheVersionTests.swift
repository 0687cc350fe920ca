import Foundation
import RawDatabase
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// An archive that holds one version of a cache at a time.
@Suite(.timeLimit(.minutes(1)))
struct CacheVersionTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    func store(
        _ version: String?, in file: DatabaseFile? = nil, named name: String = "cache", durability: Durability = .crashSafe
    ) throws -> Store<Data> {
        try (file ?? setup.open()).store(
            named: name, codec: IdentityCodec(), cacheVersion: version, memory: Capacity(1.megaByte), disk: Capacity(1.megaByte),
            caching: .values, durability: durability)
    }

    func fill(_ store: Store<Data>, _ count: Int) throws {
        for number in 0..<count { try store.record(Data(number, count: 100), forKey: EntryKey("\(number)")) }
    }

    @Test func openingWithAnotherVersionEmptiesTheArchive() throws {
        try fill(try store("1"), 5)
        try setup.close()
        let same = try store("1")
        #expect(try same.count() == 5)
        try same.close()
        let new = try store("2")
        #expect(try new.count() == 0)
        #expect(try new.keys() == [])
        #expect(try new.value(forKey: "1") == nil)
        try setup.open().waitForMaintenance()
        #expect(try setup.open().verify().isIntact)
        try setup.close()
        // Versions have no order.
        #expect(try store("1").count() == 0)
    }

    @Test func anArchiveThatIsOpenedWithAnotherVersionFindsAndStoresNothing() throws {
        let old = try store("1")
        try fill(old, 5)
        #expect(try old.value(forKey: "1") != nil)
        let new = try store("2")
        try new.record(Data("new".utf8), forKey: "1")
        #expect(code { _ = try old.value(forKey: "1") } == .cacheVersionChanged)
        #expect(code { _ = try old.value(forKey: "none") } == .cacheVersionChanged)
        #expect(code { _ = try old.count() } == .cacheVersionChanged)
        #expect(code { try old.record(Data(), forKey: "2") } == .cacheVersionChanged)
        #expect(code { try old.remove("1") } == .cacheVersionChanged)
        #expect(code { try old.removeAll() } == .cacheVersionChanged)
        #expect(try new.value(forKey: "1") == Data("new".utf8))
        #expect(try new.count() == 1)
        // For good, even if the version returns.
        let third = try store("1")
        try fill(third, 2)
        #expect(code { _ = try old.value(forKey: "1") } == .cacheVersionChanged)
        #expect(try third.count() == 2)
    }

    /// Two connections of one process stand for two processes: they share no store, only the file.
    @Test(arguments: [Durability.crashSafe, .relaxed])
    func anotherProcessThatOpensTheCacheEndsTheOldVersionHere(durability: Durability) throws {
        let old = try store("1", durability: durability)
        try fill(old, 5)
        try setup.open().commitBatch()
        try RawDatabase(setup.url).execute(
            """
            UPDATE archives SET entries = 0, bytes = 0, cleared = next - 1, cleared_check = -next, low_water = next - 1,
                cache_version = '2' WHERE name = 'cache'
            """)
        #expect(code { _ = try old.count() } == .cacheVersionChanged)
        #expect(old.isReplaced)
        // Memory was emptied, too.
        #expect(code { _ = try old.value(forKey: "1") } == .cacheVersionChanged)
        #expect(code { try old.record(Data(), forKey: "2") } == .cacheVersionChanged)
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") <= 5)
    }

    @Test func theLastWriteBeforeAnotherVersionIsRefusedWhereItWouldBeCommitted() throws {
        let old = try store("1")
        try fill(old, 1)
        try RawDatabase(setup.url).execute("UPDATE archives SET cache_version = '2' WHERE name = 'cache'")
        #expect(code { try old.record(Data(), forKey: "2") } == .cacheVersionChanged)
        #expect(code { _ = try old.value(forKey: "0") } == .cacheVersionChanged)
        #expect(!FileManager.default.fileExists(atPath: setup.url.path + "-damaged"))
    }

    @Test func aRelaxedBatchOfTheOldVersionIsCommittedBeforeAndEmptied() throws {
        let old = try store("1", durability: .relaxed)
        try fill(old, 3)
        let new = try store("2", durability: .relaxed)
        #expect(try new.count() == 0)
        #expect(code { try old.record(Data(), forKey: "9") } == .cacheVersionChanged)
        try fill(new, 2)
        try new.close()
        try setup.close()
        #expect(try store("2").count() == 2)
    }

    @Test func openingWithoutAVersionReadsWhatIsThere() throws {
        try fill(try store("1"), 3)
        try setup.close()
        #expect(try store(nil).count() == 3)
        try setup.close()
        #expect(try store("1").count() == 3)
    }

    @Test func openingAgainMayBeForbiddenToReplaceAVersion() throws {
        try fill(try store("1"), 3)
        var options = StoreOptions<Data>()
        (options.cacheVersion, options.mayReplaceVersion) = ("2", false)
        #expect(code { _ = try setup.open().store(named: "cache", codec: IdentityCodec(), options) } == .cacheVersionChanged)
        #expect(try store("1").count() == 3)
    }

    @Test func versionsAreComparedLikeKeys() throws {
        try fill(try store("e\u{301}"), 1)
        try setup.close()
        #expect(try store("\u{E9}").count() == 1)
    }

    @Test func cachesOfOtherNamesAreNotAffected() throws {
        let other = try store("1", named: "other")
        try fill(other, 3)
        try fill(try store("1"), 3)
        _ = try store("2")
        #expect(try other.count() == 3)
        #expect(try other.value(forKey: "1") != nil)
    }

    @Test func theReplacementIsReportedOnceToTheFirstObserver() async throws {
        try fill(try store("1"), 3)
        let new = try store("2")
        var events = new.events.events().makeAsyncIterator()
        let event = await events.next()
        guard case .versionReplaced(let change)? = event else {
            Issue.record("The first event is \(String(describing: event)).")
            return
        }
        #expect(change == VersionChange(from: "1", to: "2", removed: StorageUsage(entries: 3, bytes: 300)))
    }

    /// Only the first of two alternating versions that return within an hour is warned of.
    @Test func twoVersionsThatAlternateWithinAnHourAreNoticedOnce() throws {
        let file = try setup.open()
        func replaced(by version: String) throws -> ReplacedVersion? {
            try file.withWriter { (writer) throws(SQLiteError) -> ReplacedVersion? in
                let number = try writer.archiveNumber(named: "cache")
                let archive = ArchiveWriter(id: number, name: "cache", connection: writer.connection)
                return try writer.setVersion(version, of: archive, mayReplace: true, at: setup.clock.now)
            }
        }
        #expect(try replaced(by: "1") == nil)
        setup.clock.advance(by: .seconds(7200))
        #expect(try replaced(by: "2")?.isSecondWithinAnHour == false)
        setup.clock.advance(by: .seconds(60))
        #expect(try replaced(by: "1")?.isSecondWithinAnHour == true)
        #expect(try replaced(by: "2")?.isSecondWithinAnHour == false)
        #expect(try replaced(by: "2") == nil)
    }

    @Test func agesBeginAnew() throws {
        let old = try store("1")
        try old.setRetention(.after(.seconds(60)))
        try fill(old, 3)
        let new = try store("2")
        try fill(new, 3)
        setup.clock.advance(by: .seconds(90))
        try setup.open().sweepEverything()
        #expect(try new.count() == 3)
    }

    @Test func theVersionSurvivesSalvage() throws {
        try fill(try store("1"), 10)
        try setup.close()
        try RawDatabase(setup.url).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        // The marker that damage was found.
        try #require(FileManager.default.createFile(atPath: setup.url.path + "-damaged", contents: nil))
        #expect(try store("1").count() == 10)
        #expect(try store("2").count() == 0)
    }
}
