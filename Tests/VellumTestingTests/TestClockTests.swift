import Foundation
import MiniCache
import TestThreads
import Testing
import Vellum
import VellumTesting

/// When ``TestClock/advance(by:)`` returns, everything has followed.
@Suite(.ownThreads)
struct TestClockTests {
    let clock = TestClock()
    let archives: ArchivesFactory

    init() { archives = .inMemory(clock: clock.wallClock) }

    private func notes(
        _ expiration: Expiration? = .after(.seconds(10))
    ) throws -> ArchiveStore<Note> {
        try archives.store(expiration: expiration)
    }

    private func rates(_ maxAge: CacheMaxAge = .minutes(10)) -> MiniCache<String, Double> {
        MiniCacheManager.inMemory(clock: clock.wallClock)
            .cache(
                cacheName: "rates",
                cacheVersion: .custom("1"),
                maxAge: maxAge,
                keepExpiredFor: .seconds(86_400)
            )
    }

    @Test(arguments: [
        (Duration.zero, 0.0), (.seconds(-5), 0), (.seconds(3), 3), (.microseconds(1), 0.001),
        (.seconds(Int64.max), 0),
    ])
    func itMovesForwardsAndNeverTraps(_ duration: Duration, _ seconds: Double) async {
        let before = clock.now
        await clock.advance(by: duration)
        if duration < .seconds(1_000_000_000) {
            #expect(abs(clock.now.timeIntervalSince(before) - seconds) < 0.0005)
        }
        #expect(clock.now >= before)
    }

    @Test func settingItBackMakesNothingHappen() async throws {
        let notes = try notes()
        try notes.record(Note(title: "a"))
        clock.now = Date(timeIntervalSince1970: 0)
        #expect(try notes.count() == 1)
        #expect(clock.now == Date(timeIntervalSince1970: 0))
    }

    @Test func agesAndSweepsHaveFollowed() async throws {
        let notes = try notes()
        try notes.record(contentsOf: (0..<500).map { Note(title: "\($0)") })
        await clock.advance(by: .seconds(9))
        #expect(try notes.statistics().disk.entries == 500)
        await clock.advance(by: .seconds(1))
        #expect(try notes.statistics().disk.entries == 0)
    }

    /// With what else is observed at the same time.
    @MainActor @Test(arguments: 1...LongRun.number(20, usually: 5))
    func modelsOnTheMainActorHaveFollowed(_ round: Int) async throws {
        let notes = try notes()
        let (all, one, count) = (
            ArchiveResults(notes), ArchiveResult(notes, archiveWithKey: "a"), ArchiveCount(notes)
        )
        try notes.record(Note(title: "a"))
        await notes.observersSettled()
        #expect(all.value.map(\.title) == ["a"] && one.value != nil && count.value == 1)
        await clock.advance(by: .seconds(5))
        try notes.record(Note(title: "b"))
        await clock.advance(by: .seconds(5))
        #expect(all.value.map(\.title) == ["b"] && one.value == nil && count.value == 1)
        await clock.advance(by: .seconds(5))
        #expect(all.value.isEmpty && count.value == 0 && all.isLoaded && all.error == nil)
    }

    @Test(.patient, arguments: 1...LongRun.number(20, usually: 5))
    func aLoopHasFollowed(_ round: Int) async throws {
        let notes = try notes()
        let seen = Seen()
        let loop = Task { for try await count in notes.observeCount() { await seen.add(count) } }
        await until("the loop has the first answer") { await !seen.values.isEmpty }
        try notes.record(Note(title: "a"))
        await notes.observersSettled()
        #expect(await seen.values.last == 1)
        await clock.advance(by: .seconds(10))
        #expect(await seen.values.last == 0)
        loop.cancel()
    }

    @Test(.patient) func theBodyOfALoopIsWaitedFor() async throws {
        let (notes, gate, seen) = (try notes(), LoaderGate<Int>(), Seen())
        let loop = Task {
            for try await count in notes.observeCount() {
                if count > 0 { _ = try await gate.load() }
                await seen.add(count)
            }
        }
        await until("the loop has the first answer") { await !seen.values.isEmpty }
        try notes.record(Note(title: "a"))
        await gate.waitForCalls()
        async let isSettled: Void = notes.observersSettled()
        gate.release(with: 0)
        await isSettled
        #expect(await seen.values.last == 1)
        loop.cancel()
    }

    @Test func twoTasksMoveTheClockTwice() async {
        for _ in 0..<LongRun.number(300, usually: 60) {
            let begin = clock.now
            async let one: Void = clock.advance(by: .seconds(10))
            async let other: Void = clock.advance(by: .seconds(10))
            _ = await (one, other)
            #expect(clock.now.timeIntervalSince(begin) == 20)
        }
    }

    @Test func whoeverDoesNotAskIsNotWaitedFor() async throws {
        let notes = try notes()
        var answers = notes.observeCount().makeAsyncIterator()
        #expect(try await answers.next() == 0)
        try notes.record(Note(title: "a"))
        // With a second for each, the test would reach its limit, which is a matter of minutes.
        for _ in 0..<1000 { await clock.advance(by: .milliseconds(1)) }
        #expect(try await answers.next() == 1)
    }

    @Test(.patient) func timeoutsOfLoadsFollow() async throws {
        let rates = rates()
        try rates.set(1.08, forKey: "USD")
        await clock.advance(by: .seconds(3600))
        let gate = LoaderGate<Double>()
        let options = LoadOptions(softTimeout: .milliseconds(200), timeout: .seconds(2))
        async let old = rates.load("USD", staleIfError: .seconds(86_400), options: options) {
            try await gate.load()
        }
        let none = Task {
            try await rates.load("EUR", options: options) { try await gate.load("EUR") }
        }
        await gate.waitForCalls(2)
        await clock.advance(by: .milliseconds(200))
        #expect(try await old.source == .staleIfSlow)
        await clock.advance(by: .seconds(2))
        await #expect(throws: (any Error).self) { try await none.value }
        gate.release("EUR", with: 1)
        gate.release("", with: 1.1)
        await clock.advance(by: .zero)
        #expect(try rates.value(forKey: "USD") == 1.1)
    }

    @Test(.patient) func refreshesInTheBackgroundHaveFollowed() async throws {
        let rates = rates()
        let source = Seen()
        let options = LoadOptions(refreshAhead: 0.5)
        for round in 1...20 {
            _ = try await rates.value(forKey: "USD", options: options) { await source.next() }
            await clock.advance(by: .seconds(301))
            _ = try await rates.value(forKey: "USD", options: options) { await source.next() }
            await clock.advance(by: .zero)
            #expect(await source.values.count == round + 1)
        }
    }

    @Test func aLateLoaderEndsWithItsTime() async throws {
        let rates = rates()
        let gate = LoaderGate<Double>()
        let rate = Task {
            try await rates.value(forKey: "USD", options: LoadOptions(loadTimeout: .seconds(5))) {
                try await gate.load()
            }
        }
        await gate.waitForCalls()
        await clock.advance(by: .seconds(5))
        await #expect(throws: MiniCacheError.self) { try await rate.value }
        #expect(gate.waiting.isEmpty)
    }
}

/// What a test has seen.
actor Seen {
    private(set) var values: [Int] = []

    func add(_ value: Int) { values.append(value) }

    func next() -> Double {
        values.append(values.count)
        return Double(values.count)
    }
}
