import Foundation
import TestThreads
import Testing

@testable import MiniCache
@testable import VellumCore
@testable import VellumEngine

/// The version of a program without and with an `Info.plist`.
@Suite(.ownThreads)
struct CacheVersionTests {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "CacheVersionTests-\(UUID().uuidString)"
    )

    /// Writes a file like a program of 20 kB, whose beginning differs between builds, and returns
    /// its path.
    private func program(
        build: UInt8,
        body: UInt8 = 7,
        date: Double = 1_700_000_000
    ) throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("program")
        try (Data(repeating: build, count: 100) + Data(repeating: body, count: 20_000)).write(
            to: file
        )
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: date)],
            ofItemAtPath: file.path
        )
        return file.path
    }

    @Test func theFingerprintOfAProgramChangesWithItsBuildItsSizeAndItsDate() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try #require(ProgramVersion.fingerprint(ofFile: program(build: 1)))
        #expect(try ProgramVersion.fingerprint(ofFile: program(build: 1)) == first)
        #expect(try ProgramVersion.fingerprint(ofFile: program(build: 2)) != first)
        #expect(
            try ProgramVersion.fingerprint(ofFile: program(build: 1, date: 1_700_000_001)) != first
        )
        #expect(
            ProgramVersion.fingerprint(ofFile: folder.appendingPathComponent("none").path) == nil
        )
    }

    @Test func theInfoPlistComesFirst() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = folder.appendingPathComponent("Some.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        let numbers = ["CFBundleShortVersionString": "1.2", "CFBundleVersion": "34"]
        try PropertyListSerialization.data(fromPropertyList: numbers, format: .xml, options: 0)
            .write(
                to: app.appendingPathComponent("Info.plist")
            )
        let bundle = try #require(Bundle(url: app))
        #expect(ProgramVersion.text(bundle: bundle, executable: nil) == "1.2-34")
    }

    @Test func aProgramWithoutAnInfoPlistHasAVersion() throws {
        #expect(!CacheVersion.appVersion.text.isEmpty)
        #expect(CacheVersion.appVersion.text == CacheVersion.appVersion.text)
    }
}

/// A cache that is opened with another version is cleared, and handles of the former version find
/// and store nothing.
@Suite(.ownThreads)
struct ReplacedVersionTests {
    let folder = TemporaryCaches()

    private final class LoadCount: Sendable {
        let value = Locked(0)
    }

    private func cache(
        _ version: String,
        _ manager: MiniCacheManager? = nil
    ) -> MiniCache<String, Int> {
        (manager ?? folder.manager).cache(
            cacheName: "Test",
            cacheVersion: .custom(version),
            maxAge: .days(7)
        )
    }

    @Test func openingWithAnotherVersionClearsAndKeepsTheLimit() throws {
        let first: MiniCache<String, Int> = folder.manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(7),
            diskLimit: 5.megaByte
        )
        for number in 0..<10 { first["\(number)"] = number }
        try folder.manager.close()
        let again = cache("1")
        #expect(try again.count() == 10)
        try folder.manager.close()
        let second = cache("2")
        #expect(try second.count() == 0)
        #expect(try second.keys() == [])
        #expect(second.limits.disk == 5.megaByte)
        try folder.manager.close()
        #expect(try cache("1").count() == 0)
    }

    @Test func aHandleOfTheFormerVersionReadsNothing() throws {
        let old = cache("1")
        old["foo"] = 1
        let new = cache("2")
        new["foo"] = 2
        for _ in 0..<2 {
            #expect(old["foo"] == nil)
            #expect(try old.value(forKey: "foo") == nil)
            #expect(try old.contains("foo") == false)
            #expect(try old.metadata(forKey: "foo") == nil)
            #expect(try old.keys() == [])
            #expect(try old.count() == 0)
        }
        #expect(new["foo"] == 2)
    }

    @Test func aHandleOfTheFormerVersionStoresAndRemovesNothing() throws {
        let old = cache("1")
        old["foo"] = 1
        let new = cache("2", folder.anotherManager())
        new["foo"] = 2
        #expect(code { try old.set(3, forKey: "bar") } == .cacheVersionChanged)
        #expect(code { try old.removeValue(forKey: "foo") } == .cacheVersionChanged)
        #expect(code { try old.removeAll() } == .cacheVersionChanged)
        old["bar"] = 3
        old["foo"] = nil
        #expect(new["bar"] == nil)
        #expect(new["foo"] == 2)
        let error = #expect(throws: MiniCacheError.self) { try old.set(3, forKey: "bar") }
        #expect(error?.description.contains("Test") == true)
    }

    @Test func requestingTheFormerVersionAgainClearsAgainAndItsOldHandlesStayEmpty() throws {
        let old = cache("1")
        old["foo"] = 1
        cache("2")["foo"] = 2
        let again = cache("1")
        #expect(again["foo"] == nil)
        again["foo"] = 3
        #expect(again["foo"] == 3)
        #expect(old["foo"] == nil)
        #expect(code { try old.set(4, forKey: "foo") } == .cacheVersionChanged)
        #expect(again["foo"] == 3)
    }

    @Test func clearingEverythingConcernsTheVersionThatIsThere() throws {
        let old = cache("1")
        old["foo"] = 1
        let new = cache("2")
        new["foo"] = 2
        folder.manager.clearAll()
        #expect(new["foo"] == nil)
        new["foo"] = 3
        #expect(new["foo"] == 3)
        #expect(old["foo"] == nil)
        try folder.manager.flush()
        try folder.manager.close()
        #expect(cache("2")["foo"] == 3)
    }

    @Test func theLoadersValueIsReturnedAndNotStored() async throws {
        let old = cache("1")
        let new = cache("2")
        #expect(try await old.value(forKey: "foo") { 1 } == 1)
        #expect(try await old.value(forKey: "foo", staleWhileRevalidate: .seconds(60)) { 2 } == 2)
        #expect(try await old.load("foo") { 3 }.value == 3)
        #expect(try await old.value(forKey: "foo") { nil as Int? } == nil)
        #expect(new["foo"] == nil)
    }

    @Test func aReplacedHandleRunsOneLoaderForAllCallers() async throws {
        let old = cache("1")
        _ = cache("2")
        let loads = LoadCount()
        let gate = AsyncStream<Void>.makeStream()
        let callers = (0..<20).map { _ in
            Task {
                try await old.value(forKey: "foo") {
                    loads.value.withLock { $0 += 1 }
                    for await _ in gate.stream { break }
                    return 1
                }
            }
        }
        try await until("all callers wait") { try old.openStore().loads.waiterCount == 20 }
        gate.continuation.finish()
        for caller in callers { #expect(try await caller.value == 1) }
        #expect(loads.value.withLock { $0 } == 1)
    }

    @Test func aLoadersOwnErrorIsNotTakenForThatOfTheCache() async throws {
        let (old, other) = (cache("1"), folder.cache("Other", version: .custom("1")))
        _ = cache("2")
        _ = folder.cache("Other", version: .custom("2"))
        let loads = LoadCount()
        await #expect(throws: MiniCacheError.self) {
            _ = try await old.value(forKey: "foo") {
                loads.value.withLock { $0 += 1 }
                try other.set(1, forKey: "a")
                return 1
            }
        }
        #expect(loads.value.withLock { $0 } == 1)
    }

    @Test func aLoadThatRunsWhenTheVersionIsReplacedIsReturnedAndNotStored() async throws {
        let old = cache("1")
        let folder = folder
        let value = try await old.value(forKey: "foo") {
            let new: MiniCache<String, Int> = folder.manager.cache(
                cacheName: "Test",
                cacheVersion: .custom("2"),
                maxAge: .days(7)
            )
            new["bar"] = 5
            return 1
        }
        #expect(value == 1)
        #expect(old["foo"] == nil)
        let new = cache("2")
        #expect(new["foo"] == nil)
        #expect(new["bar"] == 5)
    }

    @Test func theSubscriptReportsOnceForEachHandle() async throws {
        let (first, second) = (cache("1"), cache("1"))
        var failures = first.failures.makeAsyncIterator()
        _ = cache("2")
        for _ in 0..<5 {
            first["foo"] = 1
            _ = first["foo"]
            _ = try await first.value(forKey: "foo") { 1 }
            second["foo"] = 1
        }
        #expect(await failures.next(isolation: #isolation)?.code == .cacheVersionChanged)
        #expect(await failures.next(isolation: #isolation)?.code == .cacheVersionChanged)
        // Nothing else was reported: the next failure is of another kind.
        first[String(repeating: "x", count: 100_000)] = 1
        #expect(await failures.next(isolation: #isolation)?.code != .cacheVersionChanged)
    }

    @Test func theReplacementIsReportedToAnObserverOfTheNewVersion() async throws {
        cache("1")["foo"] = 1
        let new = cache("2")
        var failures = new.failures.makeAsyncIterator()
        let error = await failures.next(isolation: #isolation)
        #expect(error?.code == .cacheVersionChanged)
        #expect(error?.message.contains("removed: 1.") == true)
    }

    /// A cleared cache runs no migration: the version of the cache is judged before that of the
    /// model.
    @Test func anObjectOfAnotherVersionOfTheCacheIsNotMigrated() throws {
        struct Old: Codable {
            var rate = 1
        }
        struct New: Codable, Sendable, VersionedArchive {
            static var archiveVersion: Int { 2 }
            var rate: Int
            static func migrate(_ old: StoredObject) throws -> Migrated<New> {
                Issue.record("A value of another version of the cache was migrated.")
                return .remove
            }
        }
        let old: MiniCache<String, Old> = folder.manager.cache(
            cacheName: "Rates",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        old["usd"] = Old()
        try folder.manager.close()
        let new: MiniCache<String, New> = folder.manager.cache(
            cacheName: "Rates",
            cacheVersion: .custom("2"),
            maxAge: .days(7)
        )
        #expect(new["usd"] == nil)
        #expect(try new.keys() == [])
    }

    @Test func listingCachesClearsNothing() throws {
        cache("1")["foo"] = 1
        try folder.manager.close()
        let other = folder.anotherManager()
        #expect(try other.caches().map(\.version) == ["1"])
        #expect(try other.caches().map(\.usage.entries) == [1])
        try other.close()
        #expect(cache("1")["foo"] == 1)
    }

    @Test func keysAreEmptyInEveryHandleWhateverItsAgeIs() throws {
        let short: MiniCache<String, Int> = folder.manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .hours(1)
        )
        let long: MiniCache<String, Int> = folder.manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(30)
        )
        short["foo"] = 1
        #expect(long["foo"] == 1)
        _ = cache("2")
        #expect(try short.keys() == [])
        #expect(try long.keys() == [])
    }
}
