import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Regression tests for ages and retention policies.
@Suite(.ownThreads)
struct SweepDefectTests {
    let setup: Setup

    init() throws { setup = try Setup() }

    static let day = 86_400

    func fill(_ store: Store<Data>, _ count: Int) throws {
        for number in 0..<count {
            try store.record(Data(number, count: 100), forKey: EntryKey("\(number)"))
        }
    }

    func sweep() throws { try setup.open().sweepEverything() }

    func find(_ number: String) throws -> Int { try RawDatabase(setup.url).int(number) }

    // MARK: Ages

    /// P22: a reader's sliding age also depends on touches of entries that memory has evicted.
    @Test(arguments: [1.megaByte, 1.bytes])
    func aReadersSlidingAgeKnowsUsesThatMemoryDoesNot(memory: DataSize) throws {
        let expiration = Expiration.unused(for: .seconds(60))
        let store = try setup.store(memory: memory)
        try store.setRetention(expiration)
        try store.record(Data(0, count: 10), forKey: "a")
        for _ in 0..<3 {
            setup.clock.advance(by: .seconds(40))
            #expect(try store.keys(under: expiration) == ["a"])
            #expect(try store.value(forKey: "a", under: expiration) != nil)
        }
        try store.close()
        try setup.close()
        setup.clock.advance(by: .seconds(40))
        #expect(try setup.store().value(forKey: "a", under: expiration) != nil)
    }

    /// P19: touches stamped while the clock was wrong make no entry immortal.
    static let jumps: [Int64] = [86_400 * 365, .max / 2000]

    @Test(arguments: jumps)
    func aClockThatWasFarAheadMakesNothingImmortal(seconds: Int64) throws {
        let store = try setup.store()
        let start = setup.clock.now
        setup.clock.now = start.advanced(byMilliseconds: seconds * 1000)
        try store.record(Data(1, count: 10), forKey: "other")
        setup.clock.now = start
        // Every later touch is stamped after the last one, and so in the far future.
        try store.record(Data(1, count: 10), forKey: "s", expiration: .unused(for: .seconds(60)))
        #expect(try store.value(forKey: "s") != nil)
        setup.clock.advance(by: .seconds(86_400))
        #expect(try store.value(forKey: "s") == nil)
        #expect(try store.keys() == ["other"])
        try sweep()
        #expect(try store.count() == 1)
    }

    @Test func theClockMayStartAtZero() throws {
        setup.clock.now = WallInstant(rawValue: .min)
        let store = try setup.store()
        try store.record(Data(), forKey: "a", expiration: .after(.seconds(1)))
        #expect(try store.value(forKey: "a") != nil)
    }

    @Test func aQueryAgreesAboutASlidingEntryThatWasOverwritten() throws {
        let store = try setup.people()
        for _ in 0..<2 {
            try store.record(
                Person("ann", age: 3),
                forKey: "ann",
                expiration: .unused(for: .seconds(60))
            )
            setup.clock.advance(by: .seconds(50))
        }
        // Reads the file as it is, without memory.
        let copy = setup.folder.file("Copy.sqlite")
        try RawDatabase(setup.url).execute("VACUUM INTO '\(copy.path)'")
        let other = try DatabaseFile.open(at: copy, clock: setup.clock.wallClock).store(
            named: "people",
            codec: JSONCodec<Person>(),
            memory: Capacity(1.megaByte),
            disk: Capacity(1.megaByte),
            caching: .values,
            indexing: Person.catalog
        )
        #expect(try other.count(QueryDescription([.filter(Question.age(3))])) == 1)
        #expect(try other.value(forKey: "ann") != nil)
    }

    @Test func salvagedEntriesKeepTheirLastUse() throws {
        let store = try setup.store()
        try store.record(Data(1, count: 10), forKey: "s", expiration: .unused(for: .seconds(60)))
        setup.clock.advance(by: .seconds(50))
        #expect(try store.value(forKey: "s") != nil)
        try store.close()
        try setup.close()
        setup.clock.advance(by: .seconds(20))
        try #require(
            FileManager.default.createFile(atPath: setup.url.path + "-damaged", contents: nil)
        )
        let salvaged = try setup.store()
        #expect(try salvaged.value(forKey: "s") != nil)
    }

    // MARK: Retention policies

    @Test func theStaleWindowOfAnEarlierRunApplies() throws {
        let store = try setup.store()
        try store.setRetention(.after(.seconds(60)), staleWindow: .seconds(3600))
        try store.record(Data(1, count: 10), forKey: "a")
        try store.close()
        try setup.close()
        let again = try setup.store()
        try again.setRetention(.after(.seconds(60)))
        setup.clock.advance(by: .seconds(90))
        try sweep()
        #expect(try again.count() == 1)
    }

    @Test func aLongRunningProcessRenewsItsPolicyEveryDay() async throws {
        let store = try setup.store()
        try store.setRetention(.never)
        for _ in 0..<3 {
            setup.clock.advance(by: .seconds(3 * Self.day))
            let now = Int(setup.clock.now.rawValue)
            // A write notices that the time of the next check has passed.
            try await until("the policy is renewed") {
                let isRenewed = try find("SELECT min(seen) FROM retention") >= now
                if !isRenewed { try fill(store, 1) }
                return isRenewed
            }
        }
    }

    @Test func aDamagedArchiveDoesNotAffectOthers() throws {
        let stores = try ["bad", "good", "better"].map { try setup.store($0) }
        for store in stores {
            try store.record(Data(), forKey: "a", expiration: .after(.seconds(60)))
        }
        try RawDatabase(setup.url).execute("UPDATE archives SET next = -1000 WHERE name = 'bad'")
        setup.clock.advance(by: .seconds(100))
        for _ in 0..<3 { try sweep() }
        #expect(try stores[1].count() == 0)
        #expect(try stores[2].count() == 0)
    }
}
