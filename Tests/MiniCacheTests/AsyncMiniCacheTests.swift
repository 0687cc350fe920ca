import Foundation
import MiniCache
import TestThreads
import Testing

/// What is awaited does what its namesake does (decision 86).
@Suite(.ownThreads)
struct AsyncMiniCacheTests {
    let temporary = TemporaryCaches()
    let cache: MiniCache<String, [Int]>

    init() {
        cache = temporary.manager.cache(
            cacheName: "numbers",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
    }

    @Test func everyMethodDoesWhatItsNamesakeDoes() async throws {
        let async = cache.async
        try await async.set([1], forKey: "a")
        try await async.set([2], forKey: "b", expiration: .after(.seconds(60)))
        try await async.set([3], forKey: "c", groups: ["odd"])
        try await async.set([5], forKey: "e", expiration: .never, groups: ["odd"])
        #expect(try await async.setIfAbsent([9], forKey: "a") == false)
        #expect(try await async.setIfAbsent([4], forKey: "d", expiration: .never))
        #expect(
            try await async.update(forKey: "a") {
                $0?.append(7); return $0?.count
            } == 2
        )
        #expect(
            try await async.update(forKey: "a", expiration: .never) {
                $0?.append(8); return $0?.count
            } == 3
        )

        #expect(try await async.value(forKey: "a") == [1, 7, 8])
        #expect(try await async.value(forKey: "x") == nil)
        #expect(try await async.values(forKeys: ["a", "b", "x"]) == ["a": [1, 7, 8], "b": [2]])
        #expect(try await async.contains("a"))
        #expect(try await async.metadata(forKey: "a") == cache.metadata(forKey: "a"))
        #expect(try await async.count() == 5)
        #expect(try await async.keys() == cache.keys())
        #expect(try await async.keys(prefix: "b") == ["b"])
        #expect(try await Set(async.keys(group: "odd")) == ["c", "e"])
        #expect(try await async.statistics().disk == cache.statistics().disk)

        #expect(try await async.removeValue(forKey: "x") == false)
        #expect(try await async.removeValue(forKey: "a"))
        #expect(try await async.removeAll(group: "odd") == 2)
        #expect(try await async.removeAll(prefix: "b") == 1)
        try await async.removeAll()
        #expect(try cache.count() == 0)
    }

    /// A file that was deleted is made again, as by the direct call.
    @Test func aCacheGoesOnWhenItsFileWasDeleted() async throws {
        try await cache.async.set([1], forKey: "a")
        try FileManager.default.removeItem(at: temporary.directory)
        try await cache.async.set([2], forKey: "b")
        #expect(try await cache.async.value(forKey: "b") == [2])
    }

    @Test func aValueThatCannotBeEncodedSaysSo() async throws {
        let doubles: MiniCache<String, Double> = temporary.manager.cache(
            cacheName: "x",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        let strings: MiniCache<Double, Int> = temporary.manager.cache(
            cacheName: "y",
            cacheVersion: .custom("1"),
            maxAge: .forever
        )
        try await doubles.async.set(.infinity, forKey: "a")
        let direct = #expect(throws: MiniCacheError.self) { try strings.set(1, forKey: .nan) }
        let awaited = await #expect(throws: MiniCacheError.self) {
            try await strings.async.set(1, forKey: .nan)
        }
        #expect("\(direct as Any)" == "\(awaited as Any)")
    }

    @Test func callersOfManyTasksSeeTheirOwnWrites() async throws {
        let cache = cache
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for number in 0..<20 {
                        try await cache.async.set([number], forKey: "\(task)")
                        let found = try await cache.async.value(forKey: "\(task)")
                        #expect(found == [number])
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
