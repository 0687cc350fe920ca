import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import MiniCache
@testable import VellumCore
@testable import VellumEngine

/// What a loader says of its value, how long callers wait for it, and loads ahead of the end of an
/// age.
@Suite(.ownThreads)
struct CacheLoadResultTests {
    let clock = ManualClock()
    let folder: TemporaryDirectory
    let cache: MiniCache<String, String>
    let source = Gate()

    init() throws {
        folder = try TemporaryDirectory()
        cache = MiniCacheManager(name: "Test", directory: folder.url, clock: clock.wallClock)
            .cache(
                cacheName: "Pages",
                cacheVersion: .custom("1"),
                maxAge: .hours(1),
                keepExpiredFor: Self.window
            )
    }

    /// A second after it was opened, a cache removes expired values that it need not keep.
    private static let window = Duration.seconds(1_000_000)

    struct Down: Error {}

    /// A source that answers when a test says so, or at once.
    final class Gate: Sendable {
        private let state = Locked((calls: 0, isOpen: true))

        var calls: Int { state.withLock { $0.calls } }

        func close() { state.withLock { $0.isOpen = false } }
        func open() { state.withLock { $0.isOpen = true } }
        func waitForCall(_ number: Int = 1) async {
            await until("the loader is called") { calls >= number }
        }

        func load() async throws -> String {
            let number = state.withLock { state in
                state.calls += 1
                return state.calls
            }
            while !state.withLock({ $0.isOpen }) {
                try Task.checkCancellation()
                await pause()
            }
            return "\(number)"
        }
    }

    private func load(
        ifError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        _ loader: (@Sendable () async throws -> String)? = nil
    ) async throws -> Loaded<String> {
        try await cache.load("a", staleIfError: ifError, options: options) { [source] in
            if let loader { return try await loader() }
            return try await source.load()
        }
    }

    /// Until all that it found is recorded, or is not.
    private func waitForTheLoad() async throws {
        try await until("the load has ended") { try cache.openStore().loads.count == 0 }
    }

    // MARK: Results

    @Test func aLoaderSaysHowLongItsValueLives() async throws {
        let token = try await cache.value(forKey: "a") { previous in
            #expect(previous == nil)
            return .value("1", maxAge: .seconds(10))
        }
        #expect(token == "1")
        clock.advance(by: .seconds(9))
        #expect(try cache.value(forKey: "a") == "1")
        clock.advance(by: .seconds(1))
        #expect(try cache.value(forKey: "a") == nil)
        // Without an age it has that of the cache.
        #expect(try await cache.value(forKey: "b") { _ in .value("2") } == "2")
        clock.advance(by: .seconds(3599))
        #expect(try cache.value(forKey: "b") == "2")
    }

    @Test func aLoaderReceivesTheValueHoweverOld() async throws {
        try cache.set("old", forKey: "a", maxAge: .seconds(1))
        clock.advance(by: .seconds(100_000))
        _ = try await cache.value(forKey: "a") { previous in
            #expect(previous == "old")
            return .value("new")
        }
        #expect(try cache.value(forKey: "a") == "new")
    }

    @Test func aValueThatCannotBeDecodedIsNoPreviousOne() async throws {
        let numbers: MiniCache<String, Int> = MiniCacheManager(
            name: "Test",
            directory: folder.url,
            clock: clock.wallClock
        )
        .cache(
            cacheName: "Pages",
            cacheVersion: .custom("1"),
            maxAge: .hours(1),
            keepExpiredFor: Self.window
        )
        try numbers.set(7, forKey: "a")
        let loaded = try await cache.value(forKey: "a") { previous in
            #expect(previous == nil)
            return .value("new")
        }
        #expect(loaded == "new")
        try numbers.set(8, forKey: "b")
        await #expect(throws: VellumError.self) {
            try await cache.value(forKey: "b") { _ in .unchanged() }
        }
    }

    @Test func anotherVersionsValueIsNoPreviousOne() async throws {
        try cache.set("old", forKey: "a")
        let next: MiniCache<String, String> = MiniCacheManager(
            name: "Test",
            directory: folder.url,
            clock: clock.wallClock
        )
        .cache(cacheName: "Pages", cacheVersion: .custom("2"), maxAge: .hours(1))
        _ = try await next.value(forKey: "a") { previous in
            #expect(previous == nil)
            return .value("new")
        }
    }

    @Test func aRememberedAbsenceIsNoPreviousValue() async throws {
        #expect(try await cache.value(forKey: "a") { _ in .none(maxAge: .seconds(5)) } == nil)
        #expect(try await cache.value(forKey: "a") { _ in .value("not asked") } == nil)
        clock.advance(by: .seconds(5))
        let loaded = try await cache.value(forKey: "a") { previous in
            #expect(previous == nil)
            return .value("1")
        }
        #expect(loaded == "1")
    }

    /// An unchanged value of a megabyte writes a few pages, and no megabyte.
    @Test func anUnchangedValueIsNotWrittenAgain() async throws {
        let large = String(repeating: "x", count: 1 << 20)
        let manager = MiniCacheManager(name: "Large", directory: folder.url, clock: clock.wallClock)
        func pages() -> MiniCache<String, String> {
            manager.cache(
                cacheName: "Pages",
                cacheVersion: .custom("1"),
                maxAge: .hours(1),
                keepExpiredFor: Self.window
            )
        }
        try pages().set(large, forKey: "a", maxAge: .seconds(10))
        clock.advance(by: .seconds(11))
        /// How much of the value the log has.
        func logged() throws -> Int {
            let log = try Data(contentsOf: URL(fileURLWithPath: manager.url.path + "-wal"))
            return log.count { $0 == UInt8(ascii: "x") }
        }
        #expect(try logged() > 1 << 19)
        // The log begins anew.
        try manager.close()
        let cache = pages()
        #expect(try logged() == 0)
        let puts = try cache.statistics().puts
        #expect(
            try await cache.value(forKey: "a") { _ in .unchanged(maxAge: .seconds(100)) } == large
        )
        #expect(try logged() < 10_000)
        #expect(try cache.statistics().puts == puts + 1)
        clock.advance(by: .seconds(99))
        #expect(try cache.value(forKey: "a") == large)
        // Another process reads it from the file.
        let again: MiniCache<String, String> = MiniCacheManager(
            name: "Large",
            directory: folder.url,
            clock: clock.wallClock
        )
        .cache(
            cacheName: "Pages",
            cacheVersion: .custom("1"),
            maxAge: .hours(1),
            keepExpiredFor: Self.window
        )
        #expect(try again.value(forKey: "a") == large)
        clock.advance(by: .seconds(1))
        #expect(try cache.value(forKey: "a") == nil)
    }

    /// Counts how often it is encoded.
    private struct Page: Codable, Sendable {
        static let encodings = Locked(0)
        var text: String

        init(text: String) { self.text = text }
        init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }

        func encode(to encoder: any Encoder) throws {
            Self.encodings.withLock { $0 += 1 }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }

    @Test func anUnchangedValueIsNotEncodedAgain() async throws {
        let pages: MiniCache<String, Page> = MiniCacheManager(
            name: "Counted",
            directory: folder.url,
            clock: clock.wallClock
        )
        .cache(
            cacheName: "Pages",
            cacheVersion: .custom("1"),
            maxAge: .hours(1),
            keepExpiredFor: Self.window
        )
        try pages.set(Page(text: "one"), forKey: "a", maxAge: .seconds(10))
        clock.advance(by: .seconds(11))
        let encodings = Page.encodings.withLock { $0 }
        #expect(
            try await pages.value(forKey: "a") { _ in .unchanged(maxAge: .seconds(100)) }?.text
                == "one"
        )
        clock.advance(by: .seconds(99))
        #expect(try pages.value(forKey: "a")?.text == "one")
        #expect(Page.encodings.withLock { $0 } == encodings)
    }

    @Test func aValueThatWasSetWhileItsLoaderRanIsNotRenewed() async throws {
        try cache.set("old", forKey: "a", maxAge: .seconds(10))
        clock.advance(by: .seconds(11))
        let answer = try await cache.value(forKey: "a") { [cache] previous in
            try cache.set("set", forKey: "a", maxAge: .seconds(10))
            return .unchanged(maxAge: .seconds(100))
        }
        #expect(answer == "old")
        #expect(try cache.value(forKey: "a") == "set")
        clock.advance(by: .seconds(11))
        #expect(try cache.value(forKey: "a") == nil)
    }

    /// P20.
    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func withANegativeAgeAResultHasExpiredAtOnce(_ age: Duration) async throws {
        for number in ["1", "2"] {
            #expect(
                try await cache.value(forKey: "a") { _ in .value(number, maxAge: age) } == number
            )
            #expect(try cache.value(forKey: "a") == nil)
            #expect(try await cache.value(forKey: "a") { _ in .unchanged(maxAge: age) } == number)
            #expect(try cache.value(forKey: "a") == nil)
            // That there is none is not remembered.
            #expect(try await cache.value(forKey: number) { _ in .none(maxAge: age) } == nil)
            #expect(try await cache.value(forKey: number) { _ in .value("found") } == "found")
        }
    }

    // MARK: Timeouts

    @Test func afterTheSoftTimeoutTheLoadGoesOnAndIsRecorded() async throws {
        try cache.set("old", forKey: "a", maxAge: .seconds(10))
        clock.advance(by: .seconds(11))
        source.close()
        let begin = clock.now
        let call = Task {
            try await load(ifError: .seconds(60), options: LoadOptions(softTimeout: .seconds(1)))
        }
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
        await source.waitForCall()
        clock.advance(by: .seconds(1))
        #expect(try await call.value == Loaded("old", .staleIfSlow))
        #expect(try await call.value.isStale)
        source.open()
        try await until("the loaded value is recorded") { try cache.value(forKey: "a") == "1" }
        #expect(try cache.statistics().loading.staleIfSlow == 1)
    }

    /// Each waiter has its own timeout, and the load is cancelled with the last.
    @Test func aTimeoutIsThatOfOneCaller() async throws {
        source.close()
        let begin = clock.now
        let first = Task { try await load(options: LoadOptions(timeout: .seconds(1))) }
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
        await source.waitForCall()
        let second = Task { try await load() }
        try await until("the second caller waits, too") {
            try cache.statistics().loading.joined == 1
        }
        clock.advance(by: .seconds(1))
        await #expect { try await first.value } throws: {
            ($0 as? VellumError)?.code == .loadTimedOut
        }
        source.open()
        #expect(try await second.value == Loaded("1", .loaded))
        #expect(source.calls == 1)
    }

    /// Whoever started the load has an old value already; the other one gets one, too.
    @Test func aFailureIsReportedIfItsStarterHasLeft() async throws {
        try cache.set("old", forKey: "a", maxAge: .seconds(10))
        clock.advance(by: .seconds(11))
        source.close()
        var failures = cache.failures.makeAsyncIterator()
        let begin = clock.now
        let first = Task {
            try await load(ifError: .seconds(60), options: LoadOptions(softTimeout: .seconds(1))) {
                [source] in
                _ = try await source.load()
                throw Down()
            }
        }
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
        await source.waitForCall()
        let second = Task { try await load(ifError: .seconds(60)) }
        try await until("the second caller waits, too") {
            try cache.statistics().loading.joined == 1
        }
        clock.advance(by: .seconds(1))
        #expect(try await first.value == Loaded("old", .staleIfSlow))
        source.open()
        #expect(try await second.value == Loaded("old", .staleIfError))
        #expect(try await failures.next()?.code == .loadFailed)
    }

    @Test func aLoadThatIsKeptGoesOnAfterTheTimeout() async throws {
        source.close()
        var options = LoadOptions(timeout: .seconds(1))
        options.onLastWaiterCancelled = .finish
        let begin = clock.now
        let call = Task { [options] in try await load(options: options) }
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
        await source.waitForCall()
        clock.advance(by: .seconds(1))
        await #expect { try await call.value } throws: {
            ($0 as? VellumError)?.code == .loadTimedOut
        }
        source.open()
        try await until("the loaded value is recorded") { try cache.value(forKey: "a") == "1" }
    }

    @Test func aTimeoutOfZeroWaitsForNothing() async throws {
        source.close()
        await #expect { try await load(options: LoadOptions(timeout: .zero)) } throws: {
            ($0 as? VellumError)?.code == .loadTimedOut
        }
        source.open()
    }

    // MARK: Ahead of the end

    private let ahead = LoadOptions(refreshAhead: 0.8)

    @Test func manyReadersInTheLastFifthStartOneLoad() async throws {
        #expect(try await load(options: ahead) == Loaded("1", .loaded))
        clock.advance(by: .seconds(3600 * 79 / 100))
        #expect(try await load(options: ahead) == Loaded("1", .cached))
        #expect(source.calls == 1)
        clock.advance(by: .seconds(72))
        source.close()
        for _ in 0..<10 { #expect(try await load(options: ahead) == Loaded("1", .cached)) }
        await source.waitForCall(2)
        source.open()
        try await until("the loaded value is recorded") { try cache.value(forKey: "a") == "2" }
        #expect(source.calls == 2)
        #expect(try await load(options: ahead) == Loaded("2", .cached))
    }

    @Test func aFailedLoadAheadIsReportedThrottledAndHidesNothing() async throws {
        #expect(try await load(options: ahead) == Loaded("1", .loaded))
        clock.advance(by: .seconds(3000))
        var failures = cache.failures.makeAsyncIterator()
        let failing = Gate()
        var options = ahead
        options.errorMaxAge = .seconds(60)
        func loadFailing() async throws -> Loaded<String> {
            try await load(options: options) {
                _ = try await failing.load()
                throw Down()
            }
        }
        #expect(try await loadFailing() == Loaded("1", .cached))
        #expect(try await failures.next()?.code == .loadFailed)
        for _ in 0..<10 { #expect(try await loadFailing() == Loaded("1", .cached)) }
        #expect(failing.calls == 1)
        clock.advance(by: .seconds(60))
        #expect(try await loadFailing() == Loaded("1", .cached))
        #expect(try await failures.next()?.code == .loadFailed)
        #expect(failing.calls == 2)
    }

    @Test func aValueThatIsSetMeanwhileStays() async throws {
        #expect(try await load(options: ahead) == Loaded("1", .loaded))
        clock.advance(by: .seconds(3000))
        source.close()
        #expect(try await load(options: ahead) == Loaded("1", .cached))
        await source.waitForCall(2)
        try cache.set("set", forKey: "a")
        source.open()
        try await waitForTheLoad()
        #expect(try cache.statistics().loading.loads == 2)
        #expect(try cache.value(forKey: "a") == "set")
    }

    /// Removed while the loader runs, or at any time from its start on.
    @Test(arguments: [true, false])
    func aKeyThatIsRemovedStaysRemoved(_ isRunning: Bool) async throws {
        #expect(try await load(options: ahead) == Loaded("1", .loaded))
        clock.advance(by: .seconds(3000))
        let ended = try cache.statistics().loading.loads
        source.close()
        #expect(try await load(options: ahead) == Loaded("1", .cached))
        if isRunning { await source.waitForCall(2) }
        try cache.removeValue(forKey: "a")
        source.open()
        try await waitForTheLoad()
        #expect(try cache.value(forKey: "a") == nil)
        #expect(try cache.statistics().loading.loads <= ended + 1)
    }

    @Test func aTimeoutThatNoClockCountsIsNone() async throws {
        #expect(
            try await load(options: LoadOptions(timeout: .seconds(Int64.max / 10)))
                == Loaded("1", .loaded)
        )
    }

    @Test func agesThatSlideOrNeverEndHaveNoLastFifth() async throws {
        await #expect(throws: VellumError.self) {
            try await cache.value(forKey: "a", maxAge: .forever, options: ahead) { "1" }
        }
        let sliding = LoadOptions(expiration: .unused(for: .seconds(10)), refreshAhead: 0.8)
        await #expect(throws: VellumError.self) {
            try await cache.value(forKey: "a", options: sliding) { "1" }
        }
        for part in [0, 1, -1, 2, Double.nan] {
            await #expect(throws: VellumError.self) {
                try await cache.value(forKey: "a", options: LoadOptions(refreshAhead: part)) { "1" }
            }
        }
        // A loader that says the age may.
        let value = try await cache.value(forKey: "a", maxAge: .forever, options: ahead) { _ in
            .value("1", maxAge: .seconds(10))
        }
        #expect(value == "1")
    }

    // MARK: Counting

    @Test func putsAndEvictedBytesAreCounted() throws {
        let small: MiniCache<Int, Data> = MiniCacheManager(name: "Small", directory: folder.url)
            .cache(
                cacheName: "Small",
                cacheVersion: .custom("1"),
                maxAge: .hours(1),
                memoryLimit: 1.byte,
                diskLimit: 10.kiloByte
            )
        for number in 0..<30 { try small.set(Data(count: 1000), forKey: number) }
        let statistics = try small.statistics()
        #expect(statistics.puts == 30)
        // Whatever is not there was evicted, and each value has the same size.
        let size = statistics.disk.bytes / statistics.disk.entries
        #expect(statistics.evictedSize.bytes == (30 - statistics.disk.entries) * size)
    }

    // MARK: Forms of loaders

    private func plain() async throws -> String { "plain" }
    private func optional() async throws -> String? { "optional" }
    private func informed(_ previous: String?) async throws -> LoadResult<String> {
        .value("informed")
    }

    @Test func everyFormOfALoaderIsUnderstood() async throws {
        let text: String = try await cache.value(forKey: "1") { "closure" }
        #expect(text == "closure")
        #expect(try await cache.value(forKey: "2", orLoad: plain) == "plain")
        #expect(try await cache.value(forKey: "3", orLoad: optional) == "optional")
        #expect(try await cache.value(forKey: "4", orLoad: informed) == "informed")
        #expect(try await cache.value(forKey: "5") { _ in .value("ignores") } == "ignores")
        #expect(
            try await cache.value(forKey: "6") { previous in
                previous == nil ? .none() : .unchanged()
            } == nil
        )
        let none = try await cache.value(forKey: "7") { _ in
            if Task.isCancelled { return .none() }
            return .value("several lines", maxAge: .seconds(1))
        }
        #expect(none == "several lines")
    }
}
