import Foundation
import MiniCache
import Synchronization
import TestThreads
import Testing
import VellumTestSupport

/// `value(forKey:orLoad:)` on a cache.
@Suite(.ownThreads)
struct MiniCacheLoadingTests {
    let temporary = TemporaryCaches()
    let calls = Calls()

    struct Down: Error, Equatable {}

    /// How often a loader ran.
    final class Calls: Sendable {
        private let count = Atomic(0)
        var number: Int { count.load(ordering: .relaxed) }
        func add() -> Int { count.add(1, ordering: .relaxed).newValue }
    }

    /// A loader that returns how often it was called.
    func next(
        _ cache: MiniCache<String, Int>,
        _ key: String = "a",
        options: LoadOptions = LoadOptions()
    ) async throws -> Int {
        try await cache.value(forKey: key, options: options) { [calls] in calls.add() }
    }

    @Test func aMissIsLoadedOnce() async throws {
        let cache = temporary.cache()
        #expect(try await next(cache) == 1)
        #expect(try await next(cache) == 1)
        #expect(cache["a"] == 1)
        #expect(
            try await next(
                temporary.anotherManager().cache(
                    cacheName: "Test",
                    cacheVersion: .custom("1"),
                    maxAge: .days(7)
                )
            ) == 1
        )
    }

    /// P25: a thousand tasks on a few threads.
    @Test func aStampedeIsOneLoad() async throws {
        let cache = temporary.cache()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1000 {
                // On the few threads of Swift's concurrency, and not on those of the test.
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    try await next(cache)
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(values == [1])
        #expect(calls.number == 1)
    }

    @Test func anExpiredValueIsLoadedAgain() async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        #expect(try await next(cache) == 1)
        temporary.clock.advance(by: .seconds(3600))
        #expect(try await next(cache) == 2)
    }

    @Test func theAgeOfALoadedValueAppliesToEveryHandle() async throws {
        let cache = temporary.cache(maxAge: .days(7))
        let first = try await cache.value(forKey: "a", maxAge: .timeInterval(5)) { [calls] in
            calls.add()
        }
        #expect(first == 1)
        temporary.clock.advance(by: .seconds(5))
        #expect(cache["a"] == nil)
        #expect(try await next(cache) == 2)
    }

    @Test func aStaleValueIsReturnedWhileItIsLoadedAgainOrWhenThatFails() async throws {
        let cache = temporary.cache(maxAge: .hours(1), keepExpiredFor: .seconds(86_400))
        cache["a"] = 100
        temporary.clock.advance(by: .seconds(4000))
        let down: @Sendable () async throws -> Int = { throw Down() }

        #expect(
            try await cache.load("a", staleIfError: .seconds(1000), orLoad: down)
                == Loaded(100, .staleIfError)
        )
        await #expect(throws: Down.self) {
            try await cache.load("a", staleIfError: .seconds(399), orLoad: down)
        }
        #expect(
            try await cache.load("a", staleWhileRevalidate: .seconds(1000)) { 200 }
                == Loaded(100, .staleWhileRevalidate)
        )
        // The value is loaded in the background. A reader that takes no stale values waits for it,
        // or finds it.
        #expect(try await cache.value(forKey: "a") { 300 } > 100)
        #expect(try await cache.load("a") { 400 }.source == .cached)
    }

    // MARK: Misses

    /// P43: a miss can be remembered, and differs from a value that is nil.
    @Test func aMissIsRememberedInTheFileForItsAge() async throws {
        let cache = temporary.cache()
        let options = LoadOptions(negativeMaxAge: .seconds(60))
        let find: @Sendable () async throws -> Int? = { [calls] in
            _ = calls.add()
            return nil
        }
        #expect(try await cache.value(forKey: "a", options: options, orLoad: find) == nil)
        #expect(try await cache.value(forKey: "a", options: options, orLoad: find) == nil)
        #expect(calls.number == 1)
        #expect(cache["a"] == nil)
        #expect(try !cache.contains("a"))
        #expect(try cache.keys() == [])
        try temporary.manager.close()

        let later: MiniCache<String, Int> = temporary.anotherManager().cache(
            cacheName: "Test",
            cacheVersion: .custom("1"),
            maxAge: .days(7)
        )
        #expect(try await later.value(forKey: "a", options: options, orLoad: find) == nil)
        #expect(calls.number == 1)
        // A reader that does not accept nil loads again.
        #expect(try await later.value(forKey: "a") { 7 } == 7)
        #expect(later["a"] == 7)

        try later.removeValue(forKey: "a")
        #expect(try await later.value(forKey: "a", options: options, orLoad: find) == nil)
        temporary.clock.advance(by: .seconds(60))
        #expect(try await later.value(forKey: "a", options: options, orLoad: find) == nil)
        #expect(calls.number == 3)
    }

    @Test func withoutAnAgeAMissIsNotRemembered() async throws {
        let cache = temporary.cache()
        for _ in 0..<3 {
            let value: Int? = try await cache.value(forKey: "a") {
                [calls] () async throws -> Int? in
                _ = calls.add()
                return nil
            }
            #expect(value == nil)
        }
        #expect(calls.number == 3)
    }

    @Test func aNilThatIsAValueIsCached() async throws {
        let cache: MiniCache<String, Int?> = temporary.cache(of: Int?.self)
        for _ in 0..<3 {
            let value = try await cache.value(forKey: "a") { [calls] () async throws -> Int? in
                _ = calls.add()
                return nil
            }
            #expect(value == nil)
        }
        #expect(calls.number == 1)
        #expect(cache["a"] == .some(nil))
    }

    @Test func settingAValueReplacesARememberedMiss() async throws {
        let cache = temporary.cache()
        let options = LoadOptions(negativeMaxAge: .seconds(60))
        #expect(try await cache.value(forKey: "a", options: options) { nil } == nil)
        cache["a"] = 5
        #expect(try await cache.value(forKey: "a", options: options) { nil } == 5)
        cache["a"] = nil
        #expect(try await next(cache) == 1)
    }

    // MARK: Failure

    @Test func aFailureIsThrownToTheWaitersAndNotRemembered() async throws {
        let cache = temporary.cache()
        await #expect(throws: Down()) { try await cache.value(forKey: "a") { throw Down() } }
        #expect(try await next(cache) == 1)
    }

    /// P46.
    @Test func aLoaderThatWaitsForItsOwnKeyGetsAnError() async throws {
        let cache = temporary.cache()
        await #expect {
            try await cache.value(forKey: "a") { try await cache.value(forKey: "a") { 1 } }
        } throws: {
            ($0 as? MiniCacheError)?.code == .recursiveLoad
        }
        #expect(
            try await cache.value(forKey: "a") { try await cache.value(forKey: "b") { 2 } } == 2
        )
        #expect(cache["b"] == 2)
    }

    /// A value of another type is a miss for this handle, and hides no other value.
    @Test func aValueThatCannotBeDecodedIsLoaded() async throws {
        let strings = temporary.cache(of: String.self)
        strings["a"] = "text"
        let numbers = temporary.cache()
        #expect(try await next(numbers) == 1)
        #expect(try await next(numbers) == 1)
        #expect(strings["a"] == nil)
    }

    @Test(arguments: [false, true])
    func anInvalidKeyOrAgeIsAnError(isKey: Bool) async throws {
        let cache: MiniCache<Double, Int> = temporary.manager.cache(
            cacheName: "N",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        await #expect(throws: MiniCacheError.self) {
            try await cache.value(forKey: isKey ? .nan : 1, maxAge: .seconds(isKey ? 1 : .nan)) {
                1
            }
        }
    }

    /// P18, P24.
    @Test func aValueThatIsRemovedWhileItIsLoadedStaysRemovedAndAnExpiredOneIsReplaced()
        async throws
    {
        let cache = temporary.cache(maxAge: .hours(1))
        cache["removed"] = 1
        cache["expired"] = 1
        temporary.clock.advance(by: .seconds(3600))
        let clock = temporary.clock
        let removed = try await cache.value(forKey: "removed") {
            try cache.removeValue(forKey: "removed")
            return 2
        }
        let expired = try await cache.value(forKey: "expired") {
            clock.advance(by: .seconds(20))
            return 2
        }
        #expect(removed == 2 && expired == 2)
        #expect(cache["removed"] == nil)
        #expect(cache["expired"] == 2)
    }

    /// Waiters for an object get different instances.
    @Test func everyWaiterGetsItsOwnObject() async throws {
        final class Box: Codable, Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        let cache: MiniCache<String, Box> = temporary.cache(of: Box.self)
        let first = try await cache.value(forKey: "a") { Box(1) }
        let second = try await cache.value(forKey: "a") { Box(2) }
        #expect(first.number == 1 && second.number == 1)
        #expect(first !== second)
    }

    /// Remembered misses count toward the limits, so that random keys do not fill memory and disk.
    @Test func limitsBoundRememberedMisses() async throws {
        let cache: MiniCache<Int, Int> = temporary.manager.cache(
            cacheName: "Misses",
            cacheVersion: .custom("1"),
            maxAge: .days(1),
            memoryLimit: 1.kiloByte,
            diskLimit: 10.kiloByte
        )
        let options = LoadOptions(negativeMaxAge: .seconds(600))
        for key in 0..<LongRun.number(1000, usually: 300) {
            _ = try await cache.value(forKey: key, options: options) { nil }
        }
        let statistics = try cache.statistics()
        #expect(statistics.disk.bytes <= 10 * 1024 && statistics.disk.entries < 200)
        #expect(statistics.memory.bytes <= 1024)
        #expect(try cache.keys() == [])
    }

    /// Handles of different types that load one key concurrently each get a value of their type.
    @Test func aHandleDoesNotTakeALoadedValueOfAnotherType() async throws {
        let (numbers, texts) = (temporary.cache(), temporary.cache(of: String.self))
        let isAsked = AsyncStream.makeStream(of: Void.self)
        let mayAnswer = AsyncStream.makeStream(of: Void.self)
        async let number = numbers.value(forKey: "a") {
            isAsked.continuation.finish()
            for await _ in mayAnswer.stream {}
            return 5
        }
        for await _ in isAsked.stream {}
        async let text = texts.value(forKey: "a") { "five" }
        try await until("the second caller waits for the first's load") {
            try numbers.statistics().loading.joined == 1
        }
        mayAnswer.continuation.finish()
        #expect(try await number == 5)
        #expect(try await text == "five")
    }

    @Test func aLoaderThatCancelsItselfRunsAgain() async throws {
        let cache = temporary.cache()
        let options = LoadOptions(errorMaxAge: .seconds(100))
        await #expect(throws: CancellationError.self) {
            try await cache.value(forKey: "a", options: options) { throw CancellationError() }
        }
        #expect(try await next(cache, options: options) == 1)
    }

    /// A loaded value that cannot be recorded is returned, also if memory keeps bytes.
    @Test func aLoadedValueThatCannotBeEncodedIsReturned() async throws {
        final class Stubborn: Codable, Sendable {
            init() {}
            func encode(to encoder: any Encoder) throws { throw Down() }
        }
        let cache: MiniCache<String, Stubborn> = temporary.cache(of: Stubborn.self)
        _ = try await cache.value(forKey: "a") { Stubborn() }
        #expect(try !cache.contains("a"))
    }

    /// A file that cannot be opened does not keep the caller from the source.
    @Test func withoutAFileTheLoaderRunsEachTime() async throws {
        try temporary.makeDirectory()
        let place = temporary.directory.appendingPathComponent("no folder")
        try Data().write(to: place)
        let cache: MiniCache<String, Int> = MiniCacheManager(name: "C", directory: place).cache(
            cacheName: "C",
            cacheVersion: .custom("1"),
            maxAge: .days(1)
        )
        #expect(try await next(cache) == 1)
        #expect(try await next(cache) == 2)
        #expect(throws: MiniCacheError.self) { try cache.value(forKey: "a") }
    }

    @Test func requestingACacheOpensItAgainWhateverClosedIt() throws {
        let (first, second) = (temporary.manager, temporary.anotherManager())
        func cache(_ name: String, _ manager: MiniCacheManager) -> MiniCache<String, Int> {
            manager.cache(cacheName: name, cacheVersion: .custom("1"), maxAge: .days(1))
        }
        for name in ["x", "y"] {
            cache(name, first)["a"] = 1
            _ = cache(name, second)
        }
        try second.close()
        for name in ["x", "y"] { #expect(try cache(name, first).value(forKey: "a") == 1) }
    }

    /// P23: a removed value is not returned as a stale one, whichever handle removed it.
    @Test(arguments: 0..<3)
    func whatWasClearedIsNoOldValue(way: Int) async throws {
        let cache = temporary.cache(maxAge: .hours(1))
        cache["a"] = 1
        temporary.clock.advance(by: .seconds(4000))
        switch way {
        case 0: try cache.removeAll()
        case 1: temporary.manager.clearAll()
        default: try temporary.cache(maxAge: .days(7)).removeValue(forKey: "a")
        }
        await #expect(throws: Down.self) {
            try await cache.value(
                forKey: "a",
                staleWhileRevalidate: .seconds(9999),
                staleIfError: .seconds(9999)
            ) { throw Down() }
        }
    }

    /// P23: ages are counted from when a value was written. A clock that is a little behind does
    /// not matter.
    @Test(arguments: [-60, 60])
    func aReaderWithASlightlyDifferentClockReadsTheSame(seconds: Int) throws {
        temporary.cache(maxAge: .hours(1))["a"] = 1
        temporary.clock.advance(by: .seconds(seconds))
        #expect(temporary.cache(maxAge: .hours(1))["a"] == 1)
        #expect(try temporary.cache(maxAge: .hours(1)).keys() == ["a"])
    }
}
