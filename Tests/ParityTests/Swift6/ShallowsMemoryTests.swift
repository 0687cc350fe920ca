import Foundation
import Shallows
import TestThreads
import Testing

/// What lives in memory beside `MemoryStorage`: `NSCache`, and storages with limits and ages.
@Suite(.ownThreads)
struct ShallowsMemoryTests {
    /// "Using NSCacheStorage"
    @Test func anNSCacheIsAStorageOfSwiftTypes() async throws {
        let nscache = NSCacheStorage<NSURL, NSData>()
            .toNonObjCKeys()
            .toNonObjCValues()  // Storage<URL, Data>
        let typed: Storage<URL, Data> = nscache
        let url = try #require(URL(string: "https://example.org/a"))
        try await typed.set(Data("a".utf8), forKey: url)
        #expect(try await typed.retrieve(forKey: url) == Data("a".utf8))
        #expect(
            try await typed.retrieveIfPresent(
                forKey: #require(URL(string: "https://example.org/b"))
            ) == nil
        )
    }

    @Test func everyFoundationTypeIsConverted() async throws {
        let strings: Storage<String, String> = NSCacheStorage<NSString, NSString>().toNonObjCKeys()
            .toNonObjCValues()
        try await strings.set("value", forKey: "key")
        #expect(try await strings.retrieve(forKey: "key") == "value")
        let urls: Storage<String, URL> = NSCacheStorage<NSString, NSURL>().toNonObjCValues()
            .toNonObjCKeys()
        let url = try #require(URL(string: "https://example.org"))
        try await urls.set(url, forKey: "key")
        #expect(try await urls.retrieve(forKey: "key") == url)
        let dates: Storage<IndexPath, Date> = NSCacheStorage<NSIndexPath, NSDate>().toNonObjCKeys()
            .toNonObjCValues()
        try await dates.set(Date(timeIntervalSince1970: 1), forKey: [1, 2])
        #expect(try await dates.retrieve(forKey: [1, 2]) == Date(timeIntervalSince1970: 1))
    }

    @Test func theCacheOfAnNSCacheStorageIsUsedByItself() {
        let cache = NSCache<NSString, NSString>()
        cache.countLimit = 10
        let storage = NSCacheStorage(storage: cache)
        cache.setObject("value", forKey: "key")
        #expect(storage.cache.object(forKey: "key") == "value")
    }

    @Test func theLeastRecentlyUsedLeavesFirst() async throws {
        let memory = try LRUStorage<String, Int>(maxCount: 2)
        let storage = memory.combined(with: MemoryStorage<String, Int>())
        for (index, key) in ["a", "b", "a", "c"].enumerated() {
            try await storage.set(index, forKey: key)
        }
        #expect(memory.totals.entries == 2)
        #expect(try await memory.retrieveIfPresent(forKey: "b") == nil)
        #expect(try await storage.retrieve(forKey: "b") == 1)
        memory.trim(toCount: 0)
        #expect(memory.totals.entries == 0)
        let bytes = try LRUStorage<String, Data>(maxBytes: 10.kiloByte)
        try await bytes.set(Data(count: 8000), forKey: "a")
        try await bytes.set(Data(count: 8000), forKey: "b")
        #expect(bytes.totals.bytes == 8000)
    }

    @Test func valuesExpire() async throws {
        let clock = HandClock()
        let memory = MemoryStorage<String, Int>().expiring(
            after: .seconds(60),
            clock: clock.wallClock
        )
        let data = MemoryStorage<String, Data>()
        let behind = data.mapKeys { (key: String) in key }.expiring(
            after: .seconds(3600),
            clock: clock.wallClock
        )
        .mapString(withEncoding: .utf8).mapValues(
            transformIn: { try Int($0).unwrap() },
            transformOut: { "\($0)" }
        )
        let storage = memory.combined(with: behind)
        try await storage.set(1, forKey: "a")
        clock.advance(bySeconds: 61)
        #expect(try await memory.retrieveIfPresent(forKey: "a") == nil)
        #expect(try await storage.retrieve(forKey: "a") == 1)
        clock.advance(bySeconds: 3600)
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
    }
}
