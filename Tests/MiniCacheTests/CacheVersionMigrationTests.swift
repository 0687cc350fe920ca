import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// Values whose type has changed, in a cache of one version.
@Suite(.ownThreads)
struct CacheVersionMigrationTests {
    struct Old: Codable {
        var rate: Double
    }

    struct Rate: Codable, Sendable, Equatable, VersionedArchive {
        static var archiveVersion: Int { 3 }
        var rate: Double
        var source: String

        static func migrate(_ old: StoredObject) throws -> Migrated<Rate> {
            let before = try old.decode(Old.self)
            return before.rate < 0
                ? .remove : .object(Rate(rate: before.rate, source: "\(old.version)"))
        }
    }

    final class Newer: Codable, VersionedArchive, Sendable {
        static var archiveVersion: Int { 4 }
        static func migrate(_ old: StoredObject) throws -> Migrated<Newer> {
            .object(try old.decode(Newer.self))
        }
        let rate: Double
        init(_ rate: Double) { self.rate = rate }
    }

    let folder = TemporaryCaches()

    private func cache<Value: Codable & Sendable>(
        _ manager: MiniCacheManager,
        of type: Value.Type
    ) -> MiniCache<String, Value> {
        manager.cache(cacheName: "Rates", cacheVersion: .custom("1"), maxAge: .days(1))
    }

    @Test func anOldValueIsMigratedInPlaceOfBeingInvisible() throws {
        let first = folder.anotherManager()
        let old: MiniCache<String, Old> = first.cache(
            cacheName: "Rates",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        try old.set(Old(rate: 2), forKey: "usd")
        try old.set(Old(rate: -1), forKey: "gone")
        try first.close()

        let second = folder.anotherManager()
        let rates = cache(second, of: Rate.self)
        for _ in 0..<2 { #expect(try rates.value(forKey: "usd") == Rate(rate: 2, source: "0")) }
        #expect(rates["usd"] == Rate(rate: 2, source: "0"))
        #expect(try rates.value(forKey: "gone") == nil)
        try rates.set(Rate(rate: 5, source: "x"), forKey: "eur")
        try second.close()
        #expect(
            try cache(folder.anotherManager(), of: Rate.self).value(forKey: "eur")
                == Rate(rate: 5, source: "x")
        )
    }

    @Test func aValueOfANewerVersionIsAnErrorThatNoLoaderReplaces() async throws {
        let first = folder.anotherManager()
        try cache(first, of: Newer.self).set(Newer(4), forKey: "usd")
        try first.close()
        let second = folder.anotherManager()
        let rates = cache(second, of: Rate.self)
        let error = #expect(throws: MiniCacheError.self) { try rates.value(forKey: "usd") }
        #expect(error?.code == .newerVersion)
        #expect(rates["usd"] == nil)
        await #expect(throws: MiniCacheError.self) {
            try await rates.value(forKey: "usd") { Rate(rate: 0, source: "loader") }
        }
        // Nor ahead of the end of its age.
        folder.clock.advance(by: .seconds(80_000))
        await #expect(throws: MiniCacheError.self) {
            try await rates.value(
                forKey: "usd",
                staleWhileRevalidate: .seconds(60),
                options: LoadOptions(refreshAhead: 0.8)
            ) {
                Rate(rate: 0, source: "loader")
            }
        }
        #expect(try rates.statistics().loading.loads == 0)
        try second.close()
        #expect(try cache(folder.anotherManager(), of: Newer.self).value(forKey: "usd")?.rate == 4)
    }

    @Test func cachesAreListedWithTheirVersionsAndDropped() throws {
        let manager = folder.anotherManager()
        #expect(try manager.caches() == [])
        #expect(!FileManager.default.fileExists(atPath: manager.url.path))
        for (name, version) in [("Numbers", "1"), ("Others", "2")] {
            let cache: MiniCache<Int, Int> = manager.cache(
                cacheName: name,
                cacheVersion: .custom(version),
                maxAge: .days(1)
            )
            for number in 0..<3 { cache[number] = number }
        }
        #expect(try manager.caches().map(\.name) == ["Numbers", "Others"])
        #expect(try manager.caches().map(\.version) == ["1", "2"])
        #expect(try manager.caches().map(\.usage.entries) == [3, 3])
        #expect(throws: MiniCacheError.self) { try manager.drop(cacheNamed: "Numbers") }
        try manager.close()
        #expect(try manager.drop(cacheNamed: "Numbers"))
        #expect(try manager.caches().map(\.version) == ["2"])
        #expect(try manager.drop(cacheNamed: "None") == false)
    }
}
