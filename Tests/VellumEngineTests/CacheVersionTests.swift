import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// An archive that holds one version of a cache at a time.
@Suite(.ownThreads)
struct CacheVersionTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    func store(
        _ version: String?,
        in file: DatabaseFile? = nil,
        named name: String = "cache",
        durability: Durability = .crashSafe
    ) throws -> Store<Data> {
        try (file ?? setup.open()).store(
            named: name,
            codec: IdentityCodec(),
            cacheVersion: version,
            memory: Capacity(1.megaByte),
            disk: Capacity(1.megaByte),
            caching: .values,
            durability: durability
        )
    }

    func fill(_ store: Store<Data>, _ count: Int) throws {
        for number in 0..<count {
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
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
        #expect(code { _ = try old.currentCapacities() } == .cacheVersionChanged)
        #expect(code { _ = try old.removeUnused(since: .distantFuture) } == .cacheVersionChanged)
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
        try replaceFromOutside()
        #expect(code { _ = try old.count() } == .cacheVersionChanged)
        #expect(old.isReplaced)
        // Memory was emptied, too.
        #expect(code { _ = try old.value(forKey: "1") } == .cacheVersionChanged)
        #expect(code { try old.record(Data(), forKey: "9") } == .cacheVersionChanged)
        #expect(
            try RawDatabase(setup.url).int(
                "SELECT count(*) FROM entries WHERE key = CAST('9' AS BLOB)"
            ) == 0
        )
    }

    @Test func theLastWriteBeforeAnotherVersionIsRefusedWhereItWouldBeCommitted() throws {
        let old = try store("1")
        try fill(old, 1)
        try RawDatabase(setup.url).execute(
            "UPDATE archives SET cache_version = '2' WHERE name = 'cache'"
        )
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

    /// As another process does that opens the cache with version 2 and ends.
    private func replaceFromOutside() throws {
        try RawDatabase(setup.url).execute(
            """
            UPDATE archives SET next = 1 + (SELECT max(id) FROM entries WHERE id >> 40 = \
            archives.id) - (id << 40) WHERE name = 'cache';
            UPDATE archives SET entries = 0, bytes = 0, cleared = next - 1, cleared_check = -next, \
            low_water = next - 1, expiring = 0,
                cache_version = '2' WHERE name = 'cache'
            """
        )
    }

    @Test func aReplacedVersionDisturbsNoOtherCache() async throws {
        let (other, old) = (try store("1", named: "other"), try store("1"))
        for store in [other, old] {
            try store.setRetention(.after(.seconds(60)))
            try fill(store, 3)
        }
        let events = other.events.events()
        try replaceFromOutside()
        setup.clock.advance(by: .seconds(2 * 86_400))
        for _ in 0..<2 { try setup.open().sweepEverything() }
        #expect(try other.count() == 0)
        try other.record(Data(), forKey: "last")
        for await event in events {
            if case .failure(let error) = event { Issue.record(error) }
            if case .recorded(key: "last") = event { break }
        }
    }

    /// The index of a replaced version is not built. That of a later cache is, and checkpoints
    /// succeed.
    @Test func aReplacedVersionKeepsNoOtherIndexFromBeingBuilt() async throws {
        func people(
            _ name: String,
            _ version: String?,
            _ catalog: IndexCatalog<Person>?
        ) throws -> Store<Person> {
            try setup.open().store(
                named: name,
                codec: JSONCodec<Person>(),
                cacheVersion: version,
                memory: Capacity(1.megaByte),
                disk: Capacity(1.megaByte),
                indexing: catalog
            )
        }
        let old = try people("cache", "1", Person.catalog)
        try old.record(Person.crowd(20))
        let unindexed = try people("later", nil, nil)
        try unindexed.record(Person.crowd(20))
        try unindexed.close()
        try replaceFromOutside()
        let later = try people("later", nil, Person.catalog)
        let events = later.events.events()
        later.disk.file.waitForMaintenance()
        try later.disk.file.checkpoint()
        #expect(try later.indexProgress().isComplete)
        try later.record(Person("last"), forKey: "last")
        for await event in events {
            if case .failure(let error) = event { Issue.record(error) }
            if case .recorded(key: "last") = event { break }
        }
    }

    @Test func usesOfAReplacedVersionDoNotKeepAFileFromBeingSuspended() throws {
        let old = try store("1")
        try fill(old, 3)
        for _ in 0..<3 { _ = try old.value(forKey: "1") }
        try replaceFromOutside()
        let file = try setup.open()
        try file.suspend()
        try file.resume()
        try file.flush()
    }

    @Test func aReplacedVersionTakesNoAcknowledgedRelaxedWriteOfAnotherCacheWithIt() throws {
        let (other, old) = (
            try store("1", named: "other", durability: .relaxed),
            try store("1", durability: .relaxed)
        )
        try fill(old, 1)
        try setup.open().commitBatch()
        try replaceFromOutside()
        try other.record(Data("kept".utf8), forKey: "a")
        #expect(code { try old.record(Data(), forKey: "b") } == .cacheVersionChanged)
        #expect(try other.value(forKey: "a") == Data("kept".utf8))
        try setup.close()
        #expect(try store("1", named: "other").value(forKey: "a") == Data("kept".utf8))
    }

    @Test func clearedEntriesOfEveryCacheAreDeletedBesideAReplacedVersion() throws {
        let (other, old) = (try store("1", named: "other"), try store("1"))
        try fill(old, 500)
        try fill(other, 500)
        try replaceFromOutside()
        try other.removeAll()
        try setup.open().waitForMaintenance()
        #expect(try RawDatabase(setup.url).int("SELECT count(*) FROM entries") == 0)
        #expect(code { _ = try old.count() } == .cacheVersionChanged)
    }

    @Test func aStoreThatWasOpenedWithoutTheVersionEndsWhenItIsOpenedWithIt() throws {
        try fill(try store("1"), 3)
        try setup.close()
        let unversioned = try store(nil)
        let versioned = try store("1")
        #expect(try versioned.value(forKey: "1") != nil)
        #expect(code { try unversioned.removeAll() } == .cacheVersionChanged)
        #expect(try versioned.count() == 3)
    }

    @Test func aReplacedHandleSaysSoAlsoWhenItsSuccessorIsClosed() throws {
        let old = try store("1")
        try store("2").close()
        #expect(code { try old.record(Data(), forKey: "1") } == .cacheVersionChanged)
    }

    @Test func anEmptyCacheThatGetsAnotherVersionIsNotReported() async throws {
        try fill(try store("1"), 3)
        try store("1").removeAll()
        let new = try store("2")
        var events = new.events.events().makeAsyncIterator()
        try new.record(Data(), forKey: "a")
        guard case .recorded? = await events.next() else {
            Issue.record("The replacement of an empty cache was reported.")
            return
        }
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
        #expect(
            code { _ = try setup.open().store(named: "cache", codec: IdentityCodec(), options) }
                == .cacheVersionChanged
        )
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
        #expect(
            change
                == VersionChange(from: "1", to: "2", removed: StorageUsage(entries: 3, bytes: 300))
        )
    }

    /// A warning is due once, when the version that is replaced had replaced another within the
    /// hour.
    @Test func twoVersionsThatAlternateWithinAnHourAreNoticedOnce() throws {
        func replaced(by version: String) throws -> ReplacedVersion? {
            try store(nil).record(Data(count: 10), forKey: "1")
            return try setup.open().withWriter { (writer) throws(SQLiteError) -> ReplacedVersion? in
                let found = try writer.archive(named: "cache")
                return try writer.setVersion(
                    version,
                    of: found,
                    mayReplace: true,
                    at: setup.clock.now
                )
            }
        }
        // The file knows whether it has warned for as long as it is open.
        let file = try setup.open()
        _ = try store("1")
        #expect(try replaced(by: "2")?.isSecondWithinAnHour == false)
        setup.clock.advance(by: .seconds(60))
        #expect(try replaced(by: "1")?.isSecondWithinAnHour == true)
        #expect(try replaced(by: "2")?.isSecondWithinAnHour == false)
        #expect(try replaced(by: "2") == nil)
        try file.close()
    }

    @Test(arguments: [false, true])
    func agesBeginAnew(isReplaced: Bool) throws {
        let old = try store("1")
        try old.setRetention(.after(.seconds(60)))
        try fill(old, 3)
        guard isReplaced else {
            setup.clock.advance(by: .seconds(90))
            try setup.open().sweepEverything()
            #expect(try old.count() == 0)
            return
        }
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
        try #require(
            FileManager.default.createFile(atPath: setup.url.path + "-damaged", contents: nil)
        )
        #expect(try store("1").count() == 10)
        #expect(try store("2").count() == 0)
    }
}
