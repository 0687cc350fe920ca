import Foundation
import Shallows
import TestThreads
import Testing

@Suite(.ownThreads)
struct NSCacheStorageTests {
    @Test func keysAndValuesAreConvertedInEitherOrder() async throws {
        let url = URL(fileURLWithPath: "/a")
        let cache = NSCacheStorage<NSURL, NSData>()
        let storage: Storage<URL, Data> = cache.toNonObjCKeys().toNonObjCValues()
        try await storage.set(Data([1, 2]), forKey: url)
        #expect(try await storage.retrieve(forKey: url) == Data([1, 2]))
        let other: Storage<URL, Data> = cache.toNonObjCValues().toNonObjCKeys()
        #expect(try await other.retrieve(forKey: url) == Data([1, 2]))
        #expect(cache.cache.object(forKey: url as NSURL) == NSData(data: Data([1, 2])))
    }

    @Test func objectsThatMayNotCrossThreadsAreConvertedOnTheWay() async throws {
        let strings: Storage<String, String> = NSCacheStorage<NSString, NSString>().toNonObjCKeys()
            .toNonObjCValues()
        try await strings.set("é", forKey: "key")
        #expect(try await strings.retrieve(forKey: "key") == "é")
        let places: Storage<IndexPath, Date> = NSCacheStorage<NSIndexPath, NSDate>()
            .toNonObjCValues().toNonObjCKeys()
        let date = Date(timeIntervalSince1970: 1)
        try await places.set(date, forKey: [1, 2])
        #expect(try await places.retrieve(forKey: [1, 2]) == date)
    }

    @Test func aStorageOfSendableObjectsIsConvertedLikeAnyOther() async throws {
        let storage = MemoryStorage<NSURL, NSDate>().asReadOnlyStorage().toNonObjCKeys()
            .toNonObjCValues()
        await #expect(throws: MemoryStorageError.noValue) {
            try await storage.retrieve(forKey: URL(fileURLWithPath: "/a"))
        }
    }

    @Test func theCacheItselfIsAStorageThatRemoves() async throws {
        let cache = NSCacheStorage<NSURL, NSDate>()
        let (key, date) = (NSURL(fileURLWithPath: "/a"), NSDate(timeIntervalSince1970: 1))
        try await cache.combined(with: MemoryStorage()).set(date, forKey: key)
        #expect(try await cache.retrieve(forKey: key) == date)
        try await cache.remove(forKey: key)
        #expect(try await cache.retrieveIfPresent(forKey: key) == nil)
    }
}
