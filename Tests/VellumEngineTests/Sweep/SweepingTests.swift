import Foundation
import RawDatabase
import TestThreads
import Testing
import VellumCore
import VellumEngine
import VellumTestSupport

/// Expired entries are reclaimed in the background, even if they are never read.
@Suite(.ownThreads)
struct SweepingTests {
    let setup: Setup
    let store: Store<Data>

    init() throws {
        setup = try Setup()
        store = try setup.store()
    }

    func sweep() throws { try setup.open().sweepEverything() }

    func fill(_ count: Int, from first: Int = 0, expiration: Expiration? = nil) throws {
        var transaction = StoreTransaction()
        for number in first..<first + count {
            try transaction.record(
                Data(number, count: 100),
                forKey: EntryKey("\(number)"),
                in: store,
                expiration: expiration
            )
        }
        try transaction.commit()
    }

    @Test func expiredEntriesLeaveTheDiskAndMemory() throws {
        try fill(1000, expiration: .after(.seconds(60)))
        try fill(10, from: 1000)
        setup.clock.advance(by: .seconds(59))
        try sweep()
        #expect(try store.count() == 1010)

        setup.clock.advance(by: .seconds(1))
        try sweep()

        let statistics = try store.statistics()
        #expect(statistics.disk == StorageUsage(entries: 10, bytes: 1000))
        #expect(statistics.memory == StorageUsage(entries: 10, bytes: 1000))
        #expect(statistics.removals == [.expired: 1000])
        #expect(try setup.open().verify().isIntact)
    }

    @Test func observersReceiveExpiredEntries() async throws {
        var events = store.events.events().makeAsyncIterator()
        try store.record(Data(), forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(1))
        try sweep()
        _ = await events.next()
        guard case .removed("a", .expired) = await events.next() else {
            Issue.record("The second event is not the removal.")
            return
        }
    }

    /// Entries that an earlier process recorded and that are never read.
    @Test func entriesOfEarlierProcessesAreReclaimed() throws {
        try fill(1000, expiration: .after(.seconds(60)))
        try store.close()
        try setup.close()
        setup.clock.advance(by: .seconds(3600))

        let reopened = try setup.store()
        try sweep()

        #expect(try reopened.statistics().disk == StorageUsage())
    }

    @Test func overwritingAnEntryRenewsItsAge() throws {
        try fill(100, expiration: .after(.seconds(60)))
        setup.clock.advance(by: .seconds(30))
        try fill(50, expiration: .after(.seconds(60)))
        setup.clock.advance(by: .seconds(30))
        try sweep()
        #expect(try store.count() == 50)
        setup.clock.advance(by: .seconds(30))
        try sweep()
        #expect(try store.count() == 0)
    }

    @Test(arguments: [1.megaByte, 1.bytes])
    func usingAnEntryWhoseAgeSlidesKeepsIt(memory: DataSize) throws {
        let setup = try Setup()
        let store = try setup.store(memory: memory)
        for key in ["used", "unused"] {
            try store.record(
                Data(0, count: 10),
                forKey: EntryKey(key),
                expiration: .unused(for: .seconds(60))
            )
        }
        for _ in 0..<10 {
            setup.clock.advance(by: .seconds(40))
            #expect(try store.value(forKey: "used") != nil)
            try setup.open().sweepEverything()
        }
        #expect(try store.count() == 1)
        #expect(try store.value(forKey: "unused") == nil)
        #expect(try store.keys() == ["used"])
        setup.clock.advance(by: .seconds(60))
        #expect(try store.value(forKey: "used") == nil)
        #expect(try store.keys() == [])
    }

    @Test func aSlidingAgeSurvivesTheProcessAndIsBounded() throws {
        try store.record(
            Data(),
            forKey: "a",
            expiration: .unused(for: .seconds(60), atMost: .seconds(100))
        )
        setup.clock.advance(by: .seconds(50))
        #expect(try store.value(forKey: "a") != nil)
        try store.close()
        try setup.close()
        setup.clock.advance(by: .seconds(45))
        let reopened = try setup.store()
        #expect(try reopened.contains("a"))
        #expect(try reopened.value(forKey: "a") != nil)
        setup.clock.advance(by: .seconds(5))
        #expect(try reopened.value(forKey: "a") == nil)
    }

    @Test func listingDoesNotExtendASlidingAge() throws {
        try store.record(Data(), forKey: "a", expiration: .unused(for: .seconds(60)))
        setup.clock.advance(by: .seconds(40))
        _ = try store.keys()
        _ = try store.values()
        _ = try store.metadata(forKey: "a")
        setup.clock.advance(by: .seconds(40))
        #expect(try store.value(forKey: "a") == nil)
    }

    // MARK: Retention policies

    @Test func withoutAPolicyEntriesWithoutAnAgeAreKept() throws {
        try fill(10)
        setup.clock.advance(by: .seconds(1_000_000_000))
        try sweep()
        #expect(try store.count() == 10)
    }

    @Test func theLongestPolicyApplies() throws {
        try store.setRetention(.after(.seconds(60)))
        try store.setRetention(.after(.seconds(120)))
        try fill(10)
        setup.clock.advance(by: .seconds(119))
        try sweep()
        #expect(try store.count() == 10)
        #expect(try store.value(forKey: "1", under: .after(.seconds(60))) == nil)
        #expect(try store.value(forKey: "1", under: .after(.seconds(120))) != nil)
        setup.clock.advance(by: .seconds(1))
        try sweep()
        #expect(try store.count() == 0)
    }

    @Test func aLaterPolicyAppliesToAllStoredEntries() throws {
        try fill(1000)
        setup.clock.advance(by: .seconds(60))
        try store.setRetention(.after(.seconds(60)))
        try sweep()
        #expect(try store.count() == 0)
    }

    @Test func thePolicyOfAnotherProcessAppliesForAWeek() throws {
        try store.setRetention(.after(.seconds(3600 * 24 * 365)))
        try fill(10)
        try store.close()
        try setup.close()

        setup.clock.advance(by: .seconds(3600 * 24 * 6))
        let other = try setup.store()
        try other.setRetention(.after(.seconds(60)))
        try sweep()
        #expect(try other.count() == 10)

        setup.clock.advance(by: .seconds(3600 * 24 + 1))
        try sweep()
        #expect(try other.count() == 0)
    }

    @Test func aStaleWindowKeepsExpiredEntries() throws {
        try store.setRetention(.after(.seconds(60)), staleWindow: .seconds(30))
        try fill(5)
        try fill(5, from: 5, expiration: .after(.seconds(60)))
        setup.clock.advance(by: .seconds(89))
        try sweep()
        #expect(try store.count() == 10)
        #expect(try store.keys(under: .after(.seconds(60))) == [])
        setup.clock.advance(by: .seconds(1))
        try sweep()
        #expect(try store.count() == 0)
    }

    /// Requesting stale values extends their retention accordingly.
    @Test func requestingStaleValuesKeepsThem() async throws {
        let minute = Expiration.after(.seconds(60))
        try store.setRetention(minute)
        _ = try await store.value(
            forKey: "a",
            under: minute,
            staleWhileRevalidate: .seconds(10),
            staleIfError: .seconds(30)
        ) {
            Data(1, count: 10)
        }
        // The policy is stored in the background.
        try await until("the longer window is in the file") {
            try RawDatabase(setup.url).int("SELECT max(stale_window) FROM retention") >= 30_000
        }
        try fill(5)
        setup.clock.advance(by: .seconds(89))
        try sweep()
        #expect(try store.count() == 6)
        struct Down: Error {}
        let old = try await store.load("a", under: minute, staleIfError: .seconds(30)) {
            () async throws -> Data in throw Down()
        }
        #expect(old == Loaded(Data(1, count: 10), .staleIfError))
        setup.clock.advance(by: .seconds(1))
        try sweep()
        #expect(try store.count() == 0)
    }

    /// P19: a clock that jumps forth and back loses no entry.
    @Test func theClockMayJump() throws {
        try store.setRetention(.after(.seconds(3600)))
        try fill(10)
        setup.clock.advance(by: .seconds(-86_400 * 365))
        try sweep()
        #expect(try store.value(forKey: "1", under: .after(.seconds(3600))) == nil)
        #expect(try store.count() == 10)
        setup.clock.advance(by: .seconds(86_400 * 365))
        #expect(try store.value(forKey: "1", under: .after(.seconds(3600))) != nil)
        setup.clock.advance(by: .seconds(86_400 * 365))
        try sweep()
        #expect(try store.count() == 0)
    }

    /// What was not reclaimed is valid again if the clock is set back; what was reclaimed stays
    /// gone.
    @Test(arguments: [1.megaByte, 1.bytes])
    func aClockThatIsSetBackRevivesWhatWasNotReclaimed(memory: DataSize) throws {
        let setup = try Setup()
        let store = try setup.store(memory: memory)
        // Nothing is reclaimed in the background before the end of the stale window.
        try store.setRetention(.after(.seconds(60)), staleWindow: .seconds(30))
        try store.record(Data(1, count: 10), forKey: "a", expiration: .after(.seconds(60)))
        setup.clock.advance(by: .seconds(60))
        #expect(try store.value(forKey: "a") == nil)
        setup.clock.advance(by: .seconds(-30))
        #expect(try store.value(forKey: "a") != nil)
        setup.clock.advance(by: .seconds(60))
        try setup.open().sweepEverything()
        setup.clock.advance(by: .seconds(-60))
        #expect(try store.value(forKey: "a") == nil)
        #expect(try store.count() == 0)
    }

    /// P22: entries recorded together do not all expire together, and memory, the disk and later
    /// processes agree on each.
    @Test func jitterSpreadsExpiriesIdenticallyForEveryReader() throws {
        let expiration = Expiration.after(.seconds(100)).jittered(by: 0.5)
        try fill(200)
        var left: [Int] = []
        for _ in 0..<10 {
            setup.clock.advance(by: .seconds(10))
            let inMemory = try (0..<200).filter {
                try store.value(forKey: EntryKey("\($0)"), under: expiration) != nil
            }
            #expect(
                Set(try store.keys(under: expiration).map(\.normalized))
                    == Set(inMemory.map(String.init))
            )
            store.trimMemory(to: .zero)
            let onDisk = try (0..<200).filter {
                try store.value(forKey: EntryKey("\($0)"), under: expiration) != nil
            }
            #expect(onDisk == inMemory)
            left.append(onDisk.count)
        }
        #expect(left.prefix(4) == [200, 200, 200, 200] && left.last == 0)
        #expect(
            (60..<140).contains(left[6]),
            "Of 200 about 60 % should be left after 70 of 50 to 100 seconds: \(left)"
        )
    }

    /// A manual clock jumps past the timer; the next write notices.
    @Test func aWriteTriggersReclaimingOfDueEntries() async throws {
        try fill(10, expiration: .after(.seconds(60)))
        setup.clock.advance(by: .seconds(86_400))
        var events = store.events.events().makeAsyncIterator()
        try store.record(Data(), forKey: "new")
        var expired = 0
        while expired < 10, let event = await events.next() {
            if case .removed(_, .expired) = event { expired += 1 }
        }
        #expect(try store.count() == 1)
    }
}
