import Foundation
import MiniCache
import TestThreads
import Testing
import VellumTestSupport

/// Observing a key of a cache.
@Suite(.ownThreads)
struct MiniCacheObservingTests {
    let temporary = TemporaryCaches()

    @Test func eachChangeOfTheKeyIsSeen() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try cache.set(1, forKey: "a")
        #expect(try await answers.next() == 1)
        try cache.set(1, forKey: "b")
        try cache.set(2, forKey: "a")
        #expect(try await answers.next() == 2)
        try cache.removeValue(forKey: "a")
        #expect(try await answers.next() == .some(nil))
    }

    @Test func theEndOfTheAgeIsAChange() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        try cache.set(1, forKey: "a")
        let begin = temporary.clock.now
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == 1)
        await temporary.clock.waitForSleeper(until: begin.advanced(byMilliseconds: 3_600_000))
        temporary.clock.advance(by: .seconds(3600))
        #expect(try await answers.next() == .some(nil))
    }

    /// A cache goes on in a new file, and so do its observers.
    @Test func anObserverFollowsTheCacheToANewFile() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        try cache.set(1, forKey: "a")
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == 1)
        try FileManager.default.removeItem(at: temporary.manager.url.deletingLastPathComponent())
        // Within 20 ms the file is not looked for again.
        try await until("the cache has a new file") {
            if try cache.value(forKey: "a") == nil { return true }
            try cache.set(1, forKey: "b")
            return false
        }
        try cache.set(2, forKey: "a")
        var last = try await answers.next()
        while last == .some(nil) { last = try await answers.next() }
        #expect(last == 2)
        try temporary.manager.close()
        #expect(try await answers.next() == nil)
    }

    /// Also if another manager has the file open, so that it stays open.
    @Test func closingTheManagerEndsTheSequence() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        let other: MiniCache<String, Int> = temporary.anotherManager()
            .cache(cacheName: "Test", cacheVersion: .custom("1"), maxAge: .hours(1))
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try temporary.manager.close()
        #expect(try await answers.next() == nil)
        try other.set(1, forKey: "a")
        #expect(try await answers.next() == nil)
    }

    /// A handle that is requested before an older one notices that the file is gone shares the new
    /// file with it.
    @Test func handlesFromBeforeAndAfterADeletionAreClosedTogether() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try FileManager.default.removeItem(at: temporary.manager.url.deletingLastPathComponent())
        var another = temporary.cache(maxAge: .hours(1))
        // Within 20 ms the file is not looked for again.
        try await until("the cache has a new file") {
            another = temporary.cache(maxAge: .hours(1))
            try another.set(1, forKey: "b")
            return FileManager.default.fileExists(atPath: temporary.manager.url.path)
        }
        try another.set(2, forKey: "a")
        while try await answers.next() != 2 {}
        try temporary.manager.close()
        #expect(try await answers.next() == nil)
    }

    @Test func aRememberedAbsenceIsNoValue() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        _ = try await cache.value(forKey: "a", options: LoadOptions(negativeMaxAge: .seconds(60))) {
            nil
        }
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == .some(nil))
        try cache.set(1, forKey: "a")
        #expect(try await answers.next() == 1)
    }

    /// The handle finds nothing from then on. Opened by another handle, or as another process opens
    /// it.
    @Test(arguments: [false, true]) func anotherVersionOfTheCacheIsAnAnswer(
        _ isElsewhere: Bool
    ) async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        try cache.set(1, forKey: "a")
        var answers = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await answers.next() == 1)
        let manager = isElsewhere ? temporary.anotherManager() : temporary.manager
        let next: MiniCache<String, Int> = manager.cache(
            cacheName: "Test",
            cacheVersion: .custom("2"),
            maxAge: .hours(1)
        )
        try next.set(2, forKey: "a")
        #expect(try await answers.next() == .some(nil))
        var later = cache.observe(forKey: "a").makeAsyncIterator()
        #expect(try await later.next() == .some(nil))
        try next.set(3, forKey: "a")
        try temporary.manager.close()
        #expect(try await answers.next() == nil)
        #expect(try await later.next() == nil)
    }
}
