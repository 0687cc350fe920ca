import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Every load ends: after its `loadTimeout`, whatever its loader does, and however callers wait for
/// it (decision 75).
@Suite(.ownThreads)
struct LoadTimeoutTests {
    let setup: LoadingSetup
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    // MARK: However callers wait

    /// A call of a loader that hangs, with a `loadTimeout` of ten seconds.
    struct Waiting: Sendable, CustomStringConvertible {
        var description: String
        /// How many seconds ago the value under the key was written, whose age is 100.
        var old: Int?
        var whileRevalidate = Duration.zero
        var ifError = Duration.zero
        var options = LoadOptions()
        /// After how many seconds the caller has its answer; `nil`: it times out.
        var after = 10
        var answer: Loaded<String>?
    }

    private static let waiting = [
        Waiting(description: "nothing is there"),
        Waiting(
            description: "staleIfError",
            old: 110,
            ifError: .seconds(100),
            answer: Loaded("old", .staleIfError)
        ),
        Waiting(
            description: "staleWhileRevalidate",
            old: 110,
            whileRevalidate: .seconds(100),
            after: 0,
            answer: Loaded("old", .staleWhileRevalidate)
        ),
        Waiting(
            description: "refreshAhead",
            old: 85,
            options: LoadOptions(expiration: .after(.seconds(100)), refreshAhead: 0.8),
            after: 0,
            answer: Loaded("old", .cached)
        ),
        Waiting(
            description: "softTimeout",
            old: 110,
            ifError: .seconds(100),
            options: LoadOptions(softTimeout: .seconds(1)),
            after: 1,
            answer: Loaded("old", .staleIfSlow)
        ),
        Waiting(
            description: "softTimeout, nothing is there",
            options: LoadOptions(softTimeout: .seconds(1))
        ),
        Waiting(description: "timeout", options: LoadOptions(timeout: .seconds(2)), after: 2),
        Waiting(
            description: "timeout, finish",
            options: LoadOptions(onLastWaiterCancelled: .finish, timeout: .seconds(2)),
            after: 2
        ),
        Waiting(description: "finish", options: LoadOptions(onLastWaiterCancelled: .finish)),
    ]

    @Test(arguments: waiting, [false, true])
    func aLoaderThatHangsIsCancelledAndTheNextCallerLoads(
        _ waiting: Waiting,
        ignoresCancellation: Bool
    ) async throws {
        if let old = waiting.old {
            try store.record("old", forKey: "a", expiration: .after(.seconds(100)))
            setup.clock.advance(by: .seconds(old))
        }
        var options = waiting.options
        options.loadTimeout = .seconds(10)
        let (source, begin) = (
            NumberedSource(ignoresCancellation: ignoresCancellation), setup.clock.now
        )
        let ask: @Sendable () async throws -> Loaded<String> = { [store, options] in
            try await store.load(
                "a",
                staleWhileRevalidate: waiting.whileRevalidate,
                staleIfError: waiting.ifError,
                options: options
            ) {
                try await source.text()
            }
        }
        let call = Task { try await ask() }
        await source.waitForCall()
        await pass(to: waiting.after, since: begin)
        if let answer = waiting.answer {
            #expect(try await call.value == answer)
        } else {
            await #expect { try await call.value } throws: {
                ($0 as? VellumError)?.code == .loadTimedOut
            }
        }
        // A caller that has left with nothing has cancelled it.
        if waiting.answer != nil || waiting.options.onLastWaiterCancelled == .finish {
            await pass(to: 10, since: begin)
        }
        await setup.waitUntilIdle()
        await until("the loader is cancelled") { !source.cancelled.isEmpty }
        #expect(source.cancelled == [1])

        let next = Task { try await ask() }
        await source.waitForCall(2)
        source.answer(2, "new")
        _ = try await next.value
        await setup.waitUntilIdle()
        let finished = store.loads.finishedCount
        if ignoresCancellation {
            // It ends by itself, long after its load.
            source.answer(1, "late")
            await until("the load that hung is over") { store.loads.finishedCount > finished }
        }
        #expect(try store.value(forKey: "a") == "new")
        await until("no key is watched") { store.memory.isWatchingNothing }
        store.loads.checkInvariants()
    }

    /// Moves the clock to so many seconds after a moment, once somebody waits for it.
    private func pass(to seconds: Int, since begin: WallInstant) async {
        let end = begin.advanced(byMilliseconds: Int64(seconds) * 1000)
        guard setup.clock.now < end else { return }
        await setup.clock.waitForSleeper(until: end)
        setup.clock.advance(by: .milliseconds(end.rawValue - setup.clock.now.rawValue))
    }

    @Test func everyWaiterIsAnswered() async throws {
        let (source, begin) = (NumberedSource(), setup.clock.now)
        let calls = (0..<100).map { _ in
            Task { [store] in
                try await store.value(forKey: "a", options: LoadOptions(loadTimeout: .seconds(10)))
                { try await source.text() }
            }
        }
        await setup.waitForWaiters(100)
        await source.waitForCall()
        await pass(to: 10, since: begin)
        for call in calls {
            await #expect { try await call.value } throws: {
                ($0 as? VellumError)?.code == .loadTimedOut
            }
        }
        #expect(source.calls == 1 && store.loads.count == 0)
    }

    // MARK: Limits

    @Test func thirtySecondsUnlessSet() async throws {
        #expect(LoadOptions().loadTimeout == .seconds(30))
        let (source, begin) = (NumberedSource(), setup.clock.now)
        let call = Task { [store] in
            try await store.value(forKey: "a") { try await source.text() }
        }
        await source.waitForCall()
        await pass(to: 30, since: begin)
        await #expect { try await call.value } throws: {
            ($0 as? VellumError)?.message.contains("`loadTimeout`") ?? false
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1)]) func zeroEndsALoadImmediately(
        _ limit: Duration
    ) async throws {
        let source = NumberedSource()
        await #expect {
            try await store.value(forKey: "a", options: LoadOptions(loadTimeout: limit)) {
                try await source.text()
            }
        } throws: {
            ($0 as? VellumError)?.code == .loadTimedOut
        }
        #expect(store.loads.count == 0)
    }

    @Test func noLimitNeverEndsALoad() async throws {
        let source = NumberedSource()
        let call = Task { [store] in
            try await store.value(forKey: "a", options: LoadOptions(loadTimeout: nil)) {
                try await source.text()
            }
        }
        await source.waitForCall()
        #expect(setup.clock.sleeperCount == 0)
        setup.clock.advance(by: .seconds(1_000_000))
        source.answer(1, "new")
        #expect(try await call.value == "new")
    }

    /// Each ends after its own, whichever begins first.
    @Test(arguments: [(10, 3), (3, 10)]) func loadsWithDifferentLimitsEndOneByOne(
        _ first: Int,
        _ second: Int
    ) async throws {
        let (source, begin) = (NumberedSource(), setup.clock.now)
        var calls: [Int: Task<String, any Error>] = [:]
        for (number, seconds) in [first, second].enumerated() {
            calls[seconds] = Task { [store] in
                try await store.value(
                    forKey: EntryKey("\(number)"),
                    options: LoadOptions(loadTimeout: .seconds(seconds))
                ) {
                    try await source.text()
                }
            }
            await source.waitForCall(number + 1)
        }
        for (seconds, left) in [(3, 1), (10, 0)] {
            await pass(to: seconds, since: begin)
            let call = try #require(calls[seconds])
            await #expect { try await call.value } throws: {
                ($0 as? VellumError)?.code == .loadTimedOut
            }
            #expect(store.loads.count == left)
        }
    }

    /// A load that has ended in time does not shorten the time of the next.
    @Test func theNextLoadHasItsOwnTime() async throws {
        let source = NumberedSource()
        let ask: @Sendable (EntryKey) async throws -> String = { [store] key in
            try await store.value(forKey: key, options: LoadOptions(loadTimeout: .seconds(10))) {
                try await source.text()
            }
        }
        let first = Task { try await ask("a") }
        await source.waitForCall(1)
        setup.clock.advance(by: .seconds(6))
        source.answer(1, "first")
        #expect(try await first.value == "first")
        try store.remove("a")
        let (second, begin) = (Task { try await ask("a") }, setup.clock.now)
        await source.waitForCall(2)
        // The end of the first one's time.
        setup.clock.advance(by: .seconds(4))
        await setup.clock.waitForSleeper(until: begin.advanced(byMilliseconds: 10_000))
        source.answer(2, "second")
        #expect(try await second.value == "second")
    }

    // MARK: What is remembered

    @Test func aLateLoadIsAFailureThatMayBeRemembered() async throws {
        let (source, begin) = (NumberedSource(), setup.clock.now)
        let ask: @Sendable () async throws -> String = { [store] in
            try await store.value(
                forKey: "a",
                options: LoadOptions(errorMaxAge: .seconds(60), loadTimeout: .seconds(10))
            ) {
                try await source.text()
            }
        }
        let call = Task { try await ask() }
        await source.waitForCall()
        await pass(to: 10, since: begin)
        for _ in 0..<2 {
            await #expect { _ = try await call.value } throws: {
                ($0 as? VellumError)?.code == .loadTimedOut
            }
            await #expect { _ = try await ask() } throws: {
                ($0 as? VellumError)?.code == .loadTimedOut
            }
        }
        #expect(source.calls == 1)
        setup.clock.advance(by: .seconds(60))
        let next = Task { try await ask() }
        await source.waitForCall(2)
        source.answer(2, "new")
        #expect(try await next.value == "new")
    }

    // MARK: Slow loads

    /// Each caller would otherwise wait for its own soft timeout.
    @Test func whoJoinsALoadOlderThanItsSoftTimeoutHasTheOldValueAtOnce() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(100)))
        setup.clock.advance(by: .seconds(110))
        let (source, begin) = (NumberedSource(), setup.clock.now)
        let ask: @Sendable (Int) async throws -> Loaded<String> = { [store] seconds in
            try await store.load(
                "a",
                staleIfError: .seconds(100),
                options: LoadOptions(softTimeout: .seconds(seconds))
            ) {
                try await source.text()
            }
        }
        let first = Task { try await ask(1) }
        await source.waitForCall()
        await pass(to: 1, since: begin)
        #expect(try await first.value == Loaded("old", .staleIfSlow))
        for _ in 0..<100 { #expect(try await ask(1) == Loaded("old", .staleIfSlow)) }
        // A more patient one waits for the rest of its time.
        let patient = Task { try await ask(3) }
        await pass(to: 3, since: begin)
        #expect(try await patient.value == Loaded("old", .staleIfSlow))
        source.answer(1, "new")
        await setup.waitUntilIdle()
        #expect(try store.value(forKey: "a") == "new" && source.calls == 1)
    }
}
