import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// The disk limit belongs to the cache, and handles are independent.
@Suite(.ownThreads)
struct MiniCacheLimitTests {
    let temporary = TemporaryCaches()

    private func cache(
        _ manager: MiniCacheManager? = nil,
        version: String = "1",
        memory: DataSize? = nil,
        disk: DataSize? = nil
    ) -> MiniCache<String, Data> {
        (manager ?? temporary.manager).cache(
            cacheName: "blobs",
            cacheVersion: .custom(version),
            maxAge: .days(7),
            memoryLimit: memory,
            diskLimit: disk
        )
    }

    private func fill(
        _ cache: MiniCache<String, Data>,
        _ count: Int,
        of size: Int = 10_000
    ) throws {
        for number in 0..<count { try cache.set(Data(count: size), forKey: "\(number)") }
    }

    @Test func aCacheThatIsOpenedWithoutALimitKeepsItsLimit() throws {
        // More than the limit of a cache that is given none.
        try fill(cache(disk: 100.megaByte), 250, of: 100_000)
        try temporary.manager.close()

        let again = cache()

        #expect(again.limits.disk == 100.megaByte)
        #expect(try again.count() == 250)
        #expect(try again.statistics().removals == [:])
    }

    @Test func theFirstHandleInAProcessMayLowerTheLimitAndTheRemovalsAreCounted() throws {
        try fill(cache(disk: 10.megaByte), 100)
        try temporary.manager.close()
        let small = cache(disk: 200_200)
        #expect(try small.count() < 25)
        #expect(try small.statistics().removals[.limitLowered] ?? 0 > 75)
    }

    @Test func theLimitOfAnOpenCacheCanOnlyBeRaised() async throws {
        let first = cache(memory: 1.megaByte, disk: 1.megaByte)
        #expect(first.limits == StorageLimits(memory: 1.megaByte, disk: 1.megaByte))
        _ = cache(memory: 2.megaByte, disk: 3.megaByte)
        #expect(first.limits == StorageLimits(memory: 2.megaByte, disk: 3.megaByte))
        let failures = first.failures
        _ = cache(disk: 1.kiloByte)
        #expect(first.limits.disk == 3.megaByte)
        for await failure in failures {
            #expect(failure.code == .contradiction)
            #expect(
                failure.message.contains("3 MB") && failure.message.contains("1 kB")
                    && "\(failure)".contains("blobs")
            )
            break
        }
    }

    @Test func aNewVersionHasTheLimitOfThePreviousOne() throws {
        try fill(cache(disk: 50.megaByte), 250, of: 100_000)
        let next = cache(version: "2")
        #expect(next.limits.disk == 50.megaByte)
        try next.set(Data(count: 10), forKey: "new")
        #expect(try next.count() == 1)
    }

    @Test func unlimitedKeepsEverything() throws {
        let cache = cache(disk: .unlimited)
        try fill(cache, 220, of: 100_000)
        #expect(try cache.count() == 220)
    }

    @Test func aCacheThatCouldNotBeOpenedIsClosedWithItsManager() throws {
        // There is a file at the folder's path.
        try Data().write(to: temporary.directory)
        let unopened = cache()
        #expect(code { _ = try unopened.value(forKey: "a") } == .cannotOpen)
        try temporary.manager.close()
        try FileManager.default.removeItem(at: temporary.directory)
        #expect(code { try unopened.set(Data(), forKey: "a") } == .closed)
        try cache().set(Data(), forKey: "a")
    }

    @Test func closingAManagerKeepsItsSettingsAndThoseOfItsCaches() throws {
        let manager = MiniCacheManager(
            name: "Settings",
            directory: temporary.directory,
            durability: .powerSafe,
            format: .json,
            clock: temporary.clock.wallClock
        )
        func numbers(_ memory: DataSize? = nil, _ disk: DataSize? = nil) -> MiniCache<String, [Int]>
        {
            manager.cache(
                cacheName: "numbers",
                cacheVersion: .custom("1"),
                maxAge: .forever,
                memoryLimit: memory,
                diskLimit: disk
            )
        }
        let before = numbers(2.megaByte, 3.megaByte)
        try before.set([1], forKey: "a")

        try manager.close()

        #expect(code { _ = try before.count() } == .closed)
        #expect(before.name == "numbers")
        #expect(before.limits == StorageLimits(memory: 2.megaByte, disk: 3.megaByte))
        #expect(
            manager.name == "Settings"
                && manager.url == temporary.directory.appendingPathComponent("Settings.sqlite")
        )
        #expect(manager.durability == .powerSafe && manager.format == .json)

        temporary.clock.advance(by: .seconds(60))
        let after = numbers()
        // The disk limit belongs to the cache, the memory limit to the open cache.
        #expect(after.limits == StorageLimits(memory: 1.megaByte, disk: 3.megaByte))
        try after.set([1000, 2000, 3000], forKey: "b")
        let metadata = try #require(try after.metadata(forKey: "b"))
        #expect(metadata.size == DataSize(bytes: "[1000,2000,3000]".utf8.count))
        #expect(metadata.written == temporary.clock.now.date)
        #expect(try after.value(forKey: "a") == [1])
        try manager.close()
    }

    @Test func closingAManagerLeavesTheCachesOfAnother() throws {
        let other = temporary.anotherManager()
        let (mine, theirs) = (cache(), cache(other))
        try mine.set(Data(count: 1), forKey: "a")

        try temporary.manager.close()

        #expect(theirs["a"] == Data(count: 1))
        try theirs.set(Data(count: 2), forKey: "b")
        #expect(code { _ = try mine.value(forKey: "a") } == .closed)
        #expect(code { try mine.set(Data(), forKey: "c") } == .closed)
        #expect(try cache().count() == 2)
        try other.close()
        #expect(code { _ = try theirs.value(forKey: "a") } == .closed)
    }
}
