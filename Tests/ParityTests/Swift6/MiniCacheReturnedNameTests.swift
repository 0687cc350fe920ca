import Foundation
import MiniCache
import TestThreads
import Testing

/// Names of the shipped code of MiniCache that have a better one now. `Names.md` lists them all.
@Suite(.ownThreads)
struct MiniCacheReturnedNameTests {
    @available(*, deprecated)
    @Test func aManagerMayHaveAnOwner() throws {
        let manager = MiniCacheManager(
            name: "Owned-\(UUID().uuidString)",
            ownerThread: Thread.current
        )
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
        try manager.close()
        try FileManager.default.removeItem(at: manager.url)
    }

    @Test func agesCanBeSwitchedOver() {
        let ages: [CacheMaxAge] = [.hours(1), .days(2), .timeInterval(3), .minutes(1)]
        let seconds = ages.map { age in
            switch age {
            case .hours(let hours): return hours * 3600
            case .days(let days): return days * 86_400
            case .timeInterval(let seconds): return seconds
            }
        }
        #expect(seconds == [3600, 172_800, 3, 60])
    }

    @Test func versionsCanBeSwitchedOver() {
        let versions: [CacheVersion] = [.appVersion, .custom("2")]
        let texts = versions.map { version in
            switch version {
            case .appVersion: return "app"
            case .custom(let text): return text
            }
        }
        #expect(texts == ["app", "2"])
    }

    @Test func aManagerConformsToAProtocolOfAClient() throws {
        let manager = MiniCacheManager(name: "Mocked-\(UUID().uuidString)")
        let maker: any CacheMaker = manager
        let cache: MiniCache<String, Int> = maker.cache(
            cacheName: "Counter",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
        try manager.close()
        try FileManager.default.removeItem(at: manager.url)
    }
}

protocol CacheMaker {
    func cache<Key: Codable, Value: Codable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge
    ) -> MiniCache<Key, Value>
}

extension MiniCacheManager: CacheMaker {}
