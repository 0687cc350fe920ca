import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// A cache that another process opens with another version.
@Suite(.ownThreads)
struct CacheVersionProcessTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func cache(
        _ version: String,
        durability: Durability = .crashSafe
    ) -> MiniCache<String, Int> {
        MiniCacheManager(name: "Caches", directory: folder.url, durability: durability)
            .cache(cacheName: "Numbers", cacheVersion: .custom(version), maxAge: .days(7))
    }

    /// Runs a process that opens the cache with the version and sets `value`, and returns how many
    /// values it found.
    private func other(_ version: String, _ key: String, _ value: Int) throws -> Int? {
        let (end, lines) = try Spawned(["cache", folder.url.path, version, key, "\(value)"]).end()
        #expect(end == .exited(0))
        return lines.first.flatMap { Int($0) }
    }

    @Test(arguments: [Durability.crashSafe, .relaxed])
    func theHandleOfTheFormerVersionFindsAndStoresNothing(durability: Durability) throws {
        let old = cache("1", durability: durability)
        for number in 0..<100 { try old.set(number, forKey: "\(number)") }
        #expect(try old.value(forKey: "5") == 5)
        #expect(try other("2", "5", 50) == 0)
        // Memory has it, but what is in memory is of the former version.
        #expect(try old.value(forKey: "5") == nil)
        #expect(old["6"] == nil)
        #expect(try old.count() == 0)
        #expect(try old.keys() == [])
        let error = #expect(throws: MiniCacheError.self) { try old.set(1, forKey: "7") }
        #expect(error?.code == .cacheVersionChanged)
        #expect(try other("2", "8", 80) == 1)
        #expect(cache("2", durability: durability)["5"] == 50)
    }

    @Test func anObserverOfTheFormerVersionFindsNothing() async throws {
        let old = cache("1")
        try old.set(1, forKey: "5")
        var answers = old.observe(forKey: "5").makeAsyncIterator()
        #expect(try await answers.next() == 1)
        #expect(try other("2", "5", 50) == 0)
        #expect(try await answers.next() == .some(nil))
    }

    @Test func aWriteOfTheFormerVersionIsRefusedIfItIsTheFirstCall() throws {
        let old = cache("1")
        old["1"] = 1
        #expect(try other("2", "5", 50) == 0)
        let error = #expect(throws: MiniCacheError.self) { try old.set(1, forKey: "7") }
        #expect(error?.code == .cacheVersionChanged)
        #expect(try other("2", "6", 60) == 1)
    }

    @Test func aLoadOfTheFormerVersionIsReturnedAndNotStored() async throws {
        let old = cache("1")
        let folder = folder
        let value = try await old.value(forKey: "1") {
            let (end, _) = try Spawned(["cache", folder.url.path, "2", "5", "50"]).end()
            return end == .exited(0) ? 7 : 0
        }
        #expect(value == 7)
        #expect(try await old.value(forKey: "1") { 8 } == 8)
        #expect(try other("2", "6", 60) == 1)
    }

    @Test func requestingTheCacheAgainOpensItAgain() throws {
        let manager = MiniCacheManager(name: "Caches", directory: folder.url)
        func cache() -> MiniCache<String, Int> {
            manager.cache(cacheName: "Numbers", cacheVersion: .custom("1"), maxAge: .days(7))
        }
        cache()["1"] = 1
        #expect(try other("2", "5", 50) == 0)
        let again = cache()
        try again.set(2, forKey: "1")
        #expect(again["1"] == 2)
        #expect(try again.count() == 1)
    }

    @Test func sameVersionsShareTheCache() throws {
        let here = cache("1")
        here["1"] = 1
        #expect(try other("1", "5", 50) == 1)
        #expect(here["5"] == 50)
        #expect(here["1"] == 1)
    }

    @Test func aHandleNeverClearsWhenItsFileIsReplaced() throws {
        let old = cache("1")
        old["1"] = 1
        for suffix in ["", "-wal", "-shm"] {
            let path = folder.file("Caches.sqlite" + suffix).path
            if FileManager.default.fileExists(atPath: path) {
                try FileManager.default.removeItem(atPath: path)
            }
        }
        #expect(try other("2", "5", 50) == 0)
        #expect(old["5"] == nil)
        let error = #expect(throws: MiniCacheError.self) { try old.set(1, forKey: "7") }
        #expect(error?.code == .cacheVersionChanged)
        #expect(try other("2", "6", 60) == 1)
    }
}
