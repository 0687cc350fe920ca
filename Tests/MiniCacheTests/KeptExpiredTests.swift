import MiniCache
import TestThreads
import Testing
import VellumEngine
import VellumTestSupport

/// How long a cache keeps expired values for loads that accept old ones. Ages are 100 seconds, and
/// values are kept for 50 more.
@Suite(.ownThreads)
struct CacheKeptExpiredTests {
    private struct SourceDown: Error {}

    let clock = ManualClock()
    let folder = TemporaryCaches()

    private func manager(_ durability: Durability = .crashSafe) -> MiniCacheManager {
        MiniCacheManager(
            name: "Kept",
            directory: folder.directory,
            durability: durability,
            clock: clock.wallClock
        )
    }

    private func cache(
        _ manager: MiniCacheManager,
        maxAge: Double = 100,
        for window: Duration = .zero
    ) -> MiniCache<String, String> {
        manager.cache(
            cacheName: "Pages",
            cacheVersion: .custom("1"),
            maxAge: .timeInterval(maxAge),
            keepExpiredFor: window
        )
    }

    private func sweep(_ manager: MiniCacheManager) throws {
        try #require(DatabaseFile.opened(at: manager.url)).sweepEverything()
    }

    private func old(_ cache: MiniCache<String, String>) async throws -> Loaded<String> {
        try await cache.load("a", staleIfError: .seconds(1000)) { () async throws -> String in
            throw SourceDown()
        }
    }

    @Test(arguments: KeptCell.all) func whatHasExpiredIsThereForAFailingLoader(
        _ cell: KeptCell
    ) async throws {
        var manager = manager(cell.durability)
        // The shorter age is that of the cell.
        var cache = cache(manager, maxAge: cell.hasOwnAge ? 1 : 100, for: .seconds(50))
        let age: CacheMaxAge? = cell.hasOwnAge ? .seconds(100) : nil
        switch cell.write {
        case .set: try cache.set("old", forKey: "a", maxAge: age)
        case .setIfAbsent: #expect(try cache.setIfAbsent("old", forKey: "a", maxAge: age))
        case .update: try cache.update(forKey: "a", maxAge: age) { $0 = "old" }
        case .load: _ = try await cache.load("a", maxAge: age) { "old" }
        }
        if cell.isReopened {
            try manager.close()
            manager = self.manager(cell.durability)
            cache = self.cache(manager, maxAge: cell.hasOwnAge ? 1 : 100)
        }
        clock.advance(by: .seconds(149))
        try sweep(manager)
        #expect(try cache.value(forKey: "a") == nil)
        #expect(try cache.count() == 1)
        clock.advance(by: .seconds(1))
        try sweep(manager)
        #expect(try cache.count() == 0)
        try cache.set("old", forKey: "a", maxAge: .seconds(100))
        clock.advance(by: .seconds(149))
        try sweep(manager)
        #expect(try await old(cache) == Loaded("old", .staleIfError))
    }

    @Test func withoutTheSettingWhatHasExpiredIsRemoved() async throws {
        let manager = manager()
        let cache = cache(manager, for: .seconds(-1))
        try cache.set("old", forKey: "a")
        clock.advance(by: .seconds(100))
        try sweep(manager)
        await #expect(throws: SourceDown.self) { try await old(cache) }
    }

    /// It belongs to the cache: a handle with another age, which was opened before, finds what a
    /// later one wants to be kept.
    @Test func theLongestOfAllHandlesCounts() throws {
        let manager = manager()
        let first = cache(manager, maxAge: 200)
        try first.set("old", forKey: "a")
        _ = cache(manager, for: .seconds(50))
        _ = cache(manager, for: .seconds(20))
        clock.advance(by: .seconds(249))
        try sweep(manager)
        #expect(try first.count() == 1)
        clock.advance(by: .seconds(1))
        try sweep(manager)
        #expect(try first.count() == 0)
    }

    @Test(arguments: [Duration.seconds(1 << 62), .seconds(Int64.max)])
    func anEndlessDurationKeepsEverything(_ window: Duration) throws {
        let manager = manager()
        let cache = cache(manager, for: window)
        try cache.set("old", forKey: "a", maxAge: .seconds(1))
        clock.advance(by: .seconds(86_400 * 3650))
        try sweep(manager)
        #expect(try cache.count() == 1)
    }

    /// As any policy: a program that has not opened the cache for a week does not count.
    @Test func itEndsAWeekAfterTheLastProgramThatGaveIt() throws {
        let before = manager()
        try cache(before, for: .seconds(86_400 * 365)).set(
            "old",
            forKey: "a",
            maxAge: .seconds(100)
        )
        try before.close()
        let after = manager()
        let cache = cache(after)
        clock.advance(by: .seconds(86_400 * 7 - 1))
        try sweep(after)
        #expect(try cache.count() == 1)
        clock.advance(by: .seconds(1))
        try sweep(after)
        #expect(try cache.count() == 0)
    }
}
