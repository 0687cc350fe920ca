import Foundation
import MiniCache
import TestThreads
import Testing

/// A folder of a test's own for the caches in it, with a clock that only the test moves. Removed
/// with the object.
nonisolated final class TemporaryCaches: Sendable {
    let directory: URL
    let clock = HandClock()
    let cacheManager: MiniCacheManager

    init() {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "Parity-\(UUID().uuidString)",
            isDirectory: true
        )
        cacheManager = MiniCacheManager(
            name: "MiniCache",
            directory: directory,
            clock: clock.wallClock
        )
    }

    deinit {
        try? cacheManager.close()
        try? FileManager.default.removeItem(at: directory)
    }
}

// The document's definition of a global manager. Another name, because the tests of three modes run
// at the same time.
extension MiniCacheManager {
    static let shared = MiniCacheManager(name: "MiniCache-Parity-\(UUID().uuidString)")
}

/// The blocks of MiniCache's document, and what its text says.
@Suite(.ownThreads)
struct MiniCacheDocumentTests {
    let temporary = TemporaryCaches()
    var cacheManager: MiniCacheManager { temporary.cacheManager }

    struct Settings: Codable, Equatable {
        var volume: Double
        var names: [String]
    }

    enum Screen: String, Codable { case home, detail }

    /// "Creating a cache manager": a file of that name in the caches folder.
    @Test func aManagerIsMadeByName() throws {
        let cacheManager = MiniCacheManager(name: "MiniCache")
        #expect(cacheManager.name == "MiniCache")
        let caches = try #require(
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        )
        #expect(cacheManager.url == caches.appendingPathComponent("MiniCache.sqlite"))
    }

    /// "define a static shared property"
    @Test func aManagerMayBeGlobal() throws {
        let cache: MiniCache<String, Int> = MiniCacheManager.shared.cache(
            cacheName: "Counter",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        defer {
            #expect(throws: Never.self) { try MiniCacheManager.shared.close() }
            #expect(throws: Never.self) {
                try FileManager.default.removeItem(at: MiniCacheManager.shared.url)
            }
        }
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
        #expect(FileManager.default.fileExists(atPath: MiniCacheManager.shared.url.path))
    }

    /// "Creating a cache", "Accessing cache values"
    @Test func aValueIsSetAndRead() {
        let cache: MiniCache<String, Int> = self.cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )

        cache["foo"] = 1

        let value = cache["foo"]

        #expect(value == 1)
        cache["foo"] = nil
        #expect(cache["foo"] == nil)
    }

    /// "Any type that is conform to Codable can be used as Key/Value type."
    @Test func anyCodableTypeIsKeyOrValue() {
        let settings: MiniCache<Screen, Settings> = cacheManager.cache(
            cacheName: "Settings",
            cacheVersion: .custom("v2"),
            maxAge: .hours(1)
        )
        settings[.home] = Settings(volume: 0.5, names: ["a", "b"])
        #expect(settings[.home] == Settings(volume: 0.5, names: ["a", "b"]))
        #expect(settings[.detail] == nil)

        let screens: MiniCache<Settings, Screen> = cacheManager.cache(
            cacheName: "Screens",
            cacheVersion: .custom("v2"),
            maxAge: .timeInterval(1000)
        )
        screens[Settings(volume: -0.0, names: ["é"])] = .detail
        #expect(screens[Settings(volume: 0, names: ["e\u{301}"])] == .detail)

        let numbers: MiniCache<Int, [Int: String]> = cacheManager.cache(
            cacheName: "Numbers",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        numbers[1] = [2: "two"]
        #expect(numbers[1] == [2: "two"])
    }

    /// "Cache expiry by version": when the cache is accessed, all entries that do not match the
    /// cache version are cleared.
    @Test func valuesOfAnotherVersionAreCleared() {
        let old: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("v1"),
            maxAge: .days(7)
        )
        old["foo"] = 1
        let new: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("v2"),
            maxAge: .days(7)
        )
        #expect(new["foo"] == nil)
        new["foo"] = 2
        #expect(new["foo"] == 2)
        let app: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        #expect(app["foo"] == nil)
        let again: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .custom("v1"),
            maxAge: .days(7)
        )
        #expect(again["foo"] == nil)
        #expect(old["foo"] == nil)
    }

    /// "Cache expiry by age"
    @Test func valuesAreReadForAsLongAsMaxAgeSays() {
        let week: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Ages",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        let hour: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Ages",
            cacheVersion: .appVersion,
            maxAge: .hours(1)
        )
        let seconds: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Ages",
            cacheVersion: .appVersion,
            maxAge: .timeInterval(1000)
        )
        week["foo"] = 1
        #expect([week["foo"], hour["foo"], seconds["foo"]] == [1, 1, 1])
        temporary.clock.advance(bySeconds: 1000)
        #expect([week["foo"], hour["foo"], seconds["foo"]] == [1, 1, nil])
        temporary.clock.advance(bySeconds: 2600)
        #expect([week["foo"], hour["foo"], seconds["foo"]] == [1, nil, nil])
        temporary.clock.advance(bySeconds: 7 * 86_400 - 3600)
        #expect([week["foo"], hour["foo"], seconds["foo"]] == [nil, nil, nil])
    }

    /// "Error handling": "nil is returned and an error is logged"
    @Test func aValueThatCannotBeDecodedReadsAsNil() {
        let numbers: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Types",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        numbers["foo"] = 1
        let texts: MiniCache<String, String> = cacheManager.cache(
            cacheName: "Types",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        #expect(texts["foo"] == nil)
        texts["foo"] = "one"
        #expect(texts["foo"] == "one")
    }

    /// "When the cache database cannot be opened", a new one begins.
    @Test func aDatabaseThatCannotBeOpenedIsReplaced() throws {
        try FileManager.default.createDirectory(
            at: temporary.directory,
            withIntermediateDirectories: true
        )
        try Data("xyz".utf8).write(to: cacheManager.url)
        let cache: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Counter",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        cache["foo"] = 1
        #expect(cache["foo"] == 1)
    }

    @Test func everythingIsClearedAtOnce() {
        let first: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "First",
            cacheVersion: .appVersion,
            maxAge: .days(7)
        )
        let second: MiniCache<String, Int> = cacheManager.cache(
            cacheName: "Second",
            cacheVersion: .custom("v2"),
            maxAge: .days(7)
        )
        (first["foo"], second["foo"]) = (1, 2)
        cacheManager.clearAll()
        #expect(first["foo"] == nil)
        #expect(second["foo"] == nil)
    }
}
