import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// The table of the guide "Loading", for caches.
@Suite(.ownThreads)
struct CacheLoadingTableTests {
    private struct Subject: LoadingSubject {
        let clock: ManualClock
        let cache: MiniCache<String, String>

        func load(
            whileRevalidate: Duration,
            ifError: Duration,
            options: LoadOptions,
            _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
        ) async throws -> Loaded<String?> {
            try await cache.load(
                "a",
                staleWhileRevalidate: whileRevalidate,
                staleIfError: ifError,
                options: options,
                orLoad: loader
            )
        }

        func stored() throws -> String? { try cache.value(forKey: "a") }
    }

    @Test(arguments: LoadingCell.all) func eachCellIsAsTheTableSays(
        _ cell: LoadingCell
    ) async throws {
        let (clock, folder) = (ManualClock(), try TemporaryDirectory())
        let manager = MiniCacheManager(name: "Test", directory: folder.url, clock: clock.wallClock)
        let cache: MiniCache<String, String> = manager.cache(
            cacheName: "Pages",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        #expect(try await cell.run(on: Subject(clock: clock, cache: cache)) == cell.expected)
    }
}
