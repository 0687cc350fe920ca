import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// The subscript and the throwing methods.
@Suite(.ownThreads)
struct MiniCacheTests {
    let temporary = TemporaryCaches()

    @Test func aValueThatWasSetIsReadUntilItIsRemoved() throws {
        let cache = temporary.cache()
        #expect(cache["foo"] == nil)
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
        cache["foo"] = 2
        #expect(cache["foo"] == 2)
        cache["foo"] = nil
        #expect(cache["foo"] == nil)
        #expect(try cache.count() == 0)
        #expect(cache["foo", default: 7] == 7)
        #expect(cache["foo"] == nil, "Reading sets nothing.")
        cache["foo"] = 3
        #expect(cache["foo", default: 7] == 3)
    }

    @Test func theThrowingMethodsTellAMissFromAValue() throws {
        let cache = temporary.cache()
        #expect(try cache.value(forKey: "foo") == nil)
        #expect(try !cache.contains("foo"))
        #expect(try cache.metadata(forKey: "foo") == nil)
        try cache.set(12, forKey: "foo")
        #expect(try cache.value(forKey: "foo") == 12)
        #expect(try cache.contains("foo"))
        let metadata = try #require(try cache.metadata(forKey: "foo"))
        #expect(metadata.size == 4)
        #expect(metadata.written == temporary.clock.now.date)
        #expect(metadata.expires == temporary.clock.now.date.addingTimeInterval(7 * 86_400))
        #expect(try cache.removeValue(forKey: "foo"))
        #expect(try !cache.removeValue(forKey: "foo"))
    }

    @Test func valuesOutliveTheManager() throws {
        let cache = temporary.cache()
        cache["foo"] = 1
        try temporary.manager.close()
        #expect(temporary.cache()["foo"] == 1)
    }

    @Test func aClosedCacheReadsNilAndItsThrowingMethodsSayWhy() throws {
        let cache = temporary.cache()
        cache["foo"] = 1
        try temporary.manager.close()
        #expect(cache["foo"] == nil)
        cache["foo"] = 2
        #expect(code { _ = try cache.value(forKey: "foo") } == .closed)
        #expect(code { try cache.set(2, forKey: "foo") } == .closed)
        try temporary.manager.close()
        #expect(temporary.cache()["foo"] == 1)
    }

    @Test func keysAreThoseOfValidValuesMostRecentlyUsedFirst() throws {
        let cache = temporary.cache()
        for key in ["a", "b", "c"] { cache[key] = 1 }
        _ = cache["a"]
        #expect(try cache.keys() == ["a", "c", "b"])
        #expect(try cache.keys(limit: 2) == ["a", "c"])
        #expect(try cache.count() == 3)
        temporary.clock.advance(by: .seconds(8 * 86_400))
        #expect(try cache.keys() == [])
    }

    @Test func cachesOfDifferentNamesAreSeparate() throws {
        let first = temporary.cache("First")
        let second = temporary.cache("Second")
        first["foo"] = 1
        #expect(second["foo"] == nil)
        second["foo"] = 2
        try first.removeAll()
        #expect(first["foo"] == nil)
        #expect(second["foo"] == 2)
    }

    /// The archives of different names and versions are different.
    @Test(arguments: [
        ("a", "b"), ("a\u{0}b", ""), ("a", "\u{0}b"), ("", "a\u{0}b"), ("a\u{1}", "b"),
        ("a", "\u{1}b"), ("a\u{1}0b", ""),
    ])
    func differentNamesAndVersionsMakeDifferentCaches(_ name: String, _ version: String) throws {
        for (otherName, otherVersion) in [
            ("a", "b"), ("a\u{0}b", ""), ("a", "\u{0}b"), ("", "a\u{0}b"), ("a\u{1}0b", ""),
            ("a", "\u{1}b"),
        ]
        where (otherName, otherVersion) != (name, version) {
            temporary.cache(otherName, version: .custom(otherVersion))["foo"] = 1
        }
        #expect(temporary.cache(name, version: .custom(version))["foo"] == nil)
    }

    @Test func clearAllEmptiesEveryCacheOfTheFile() throws {
        temporary.cache("First")["foo"] = 1
        temporary.cache("Second", version: .custom("2"))["foo"] = 2
        temporary.cache("Another type", of: String.self)["foo"] = "3"
        try temporary.manager.close()
        let second = temporary.cache("Second", version: .custom("2"))
        #expect(second["foo"] == 2)
        temporary.manager.clearAll()
        #expect(second["foo"] == nil)
        #expect(temporary.cache("First")["foo"] == nil)
        #expect(temporary.cache("Another type", of: String.self)["foo"] == nil)
        second["foo"] = 3
        #expect(second["foo"] == 3)
    }

    @Test func clearingAMissingFileDoesNotCreateIt() throws {
        temporary.manager.clearAll()
        #expect(!FileManager.default.fileExists(atPath: temporary.directory.path))
    }

    @Test func noFileIsCreatedUntilACacheIsRequested() throws {
        _ = temporary.manager.url
        #expect(!FileManager.default.fileExists(atPath: temporary.directory.path))
        _ = temporary.cache()
        #expect(FileManager.default.fileExists(atPath: temporary.file.path))
    }

    /// P2
    @Test(arguments: ["a/b", "../a", "", "..", "a\u{0}b", "50%", "é", "a%2Fb"])
    func anyNameOfAManagerIsAFileInItsFolder(_ name: String) throws {
        let manager = MiniCacheManager(name: name, directory: temporary.directory)
        let cache: MiniCache<String, Int> = manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        try cache.set(1, forKey: "foo")
        #expect(
            manager.url.deletingLastPathComponent().standardizedFileURL.path
                == temporary.directory.standardizedFileURL.path
        )
        #expect(try temporary.files().contains(manager.url.lastPathComponent))
        try manager.close()
    }

    @Test func namesOfManagersThatLookAlikeWhenEscapedAreDifferentFiles() {
        let names = ["a/b", "a%2Fb", "a%252Fb"]
        #expect(
            Set(names.map { MiniCacheManager(name: $0, directory: temporary.directory).url }).count
                == 3
        )
    }

    @Test func theFileIsInTheCachesFolderByDefault() throws {
        let caches = try #require(
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        )
        #expect(MiniCacheManager(name: "Some").url == caches.appendingPathComponent("Some.sqlite"))
    }

    @Test func trimmingMemoryKeepsValuesOnDisk() throws {
        let cache = temporary.cache()
        for number in 0..<100 { cache["\(number)"] = number }
        cache.trimMemory(to: 0)
        let statistics = try cache.statistics()
        #expect(statistics.memory.entries == 0)
        #expect(statistics.disk.entries == 100)
        #expect(cache["50"] == 50)
    }
}
