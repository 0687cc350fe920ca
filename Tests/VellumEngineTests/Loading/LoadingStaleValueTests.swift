import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Stale values: served while they are refreshed, or if that fails.
@Suite(.ownThreads)
struct LoadingStaleValueTests {
    let setup: LoadingSetup
    let source = Source()
    var store: Store<String> { setup.store }
    let age: Expiration

    init() throws {
        setup = try LoadingSetup()
        age = .after(.seconds(10))
    }

    private func fail() async throws -> String { throw Outage() }

    /// Loads a value that may be stale for five seconds.
    private func askForStale(_ options: LoadOptions = LoadOptions()) async throws -> String {
        try await store.value(forKey: "a", staleWhileRevalidate: .seconds(5), options: options) {
            [source] in try await source.load()
        }
    }

    /// Records a value that expired so many seconds ago.
    private func recordOld(endedFor seconds: Int = 0, onDisk: Bool = false) throws {
        try store.record("old", forKey: "a", expiration: age)
        setup.clock.advance(by: .seconds(10 + seconds))
        if onDisk { store.trimMemory(to: 0) }
    }

    // MARK: Stale while revalidating

    @Test(arguments: [false, true])
    func theStaleValueIsReturnedImmediatelyAndRefreshedInTheBackground(_ onDisk: Bool) async throws
    {
        try recordOld(endedFor: 5, onDisk: onDisk)
        let answer = try await store.load("a", staleWhileRevalidate: .seconds(6)) { [source] in
            try await source.load()
        }
        #expect(answer == Loaded("old", .staleWhileRevalidate))
        await source.waitUntilCalled()
        source.answer("new")
        await setup.waitUntilIdle()
        #expect(
            try await store.load("a", staleWhileRevalidate: .seconds(6), orLoad: fail)
                == Loaded("new", .cached)
        )
    }

    @Test func atMostOneRefreshRunsPerKey() async throws {
        try recordOld()
        for _ in 0..<10 {
            #expect(try await askForStale() == "old")
        }
        await source.waitUntilCalled()
        source.answer("new")
        await setup.waitUntilIdle()
        #expect(source.asked == 1)
    }

    @Test func aCallerThatAcceptsNoStaleValueWaitsForTheRunningRefresh() async throws {
        try recordOld()
        #expect(try await askForStale() == "old")
        let ask = Task { [store] in try await store.value(forKey: "a") { "another" } }
        await setup.waitForWaiters(1)
        await source.waitUntilCalled()
        source.answer("new")
        #expect(try await ask.value == "new")
    }

    @Test func afterItsWindowAStaleValueIsAMiss() async throws {
        try recordOld(endedFor: 5)
        #expect(
            try await store.load("a", staleWhileRevalidate: .seconds(5)) { "new" }
                == Loaded("new", .loaded)
        )
    }

    @Test func theStaleWindowBeginsWhenTheReadersAgeEnds() async throws {
        try store.record("old", forKey: "a")
        setup.clock.advance(by: .seconds(12))
        let answer = try await store.load("a", under: age, staleWhileRevalidate: .seconds(5)) {
            "new"
        }
        #expect(answer == Loaded("old", .staleWhileRevalidate))
    }

    @Test func aFailedRefreshIsReportedAndTheNextReaderRetries() async throws {
        try recordOld()
        let events = store.events.events()
        #expect(
            try await store.value(forKey: "a", staleWhileRevalidate: .seconds(5), orLoad: fail)
                == "old"
        )
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .loadFailed && error.cause is Outage)
        #expect(!error.description.contains("Outage"))
        await setup.waitUntilIdle()
        #expect(
            try await store.value(forKey: "a", staleWhileRevalidate: .seconds(5)) { "new" } == "old"
        )
        await setup.waitUntilIdle()
        #expect(try store.value(forKey: "a") == "new")
    }

    @Test func servingAStaleValueDoesNotAffectTheEvictionOrder() async throws {
        try store.record("old", forKey: "a", expiration: .unused(for: .seconds(10)))
        setup.clock.advance(by: .seconds(10))
        for _ in 0..<5 {
            #expect(
                try await store.value(forKey: "a", staleWhileRevalidate: .seconds(5), orLoad: fail)
                    == "old"
            )
            await setup.waitUntilIdle()
            setup.clock.advance(by: .seconds(1))
        }
        await #expect(throws: Outage.self) {
            try await store.value(forKey: "a", staleWhileRevalidate: .seconds(5), orLoad: fail)
        }
    }

    @Test func anEntryDatedInTheFutureIsNotServedAsStale() async throws {
        try recordOld()
        setup.clock.advance(by: .seconds(-3600))
        #expect(
            try await store.load("a", staleWhileRevalidate: .seconds(7200)) { "new" }
                == Loaded("new", .loaded)
        )
    }

    /// P24: a value is recorded even if its load takes longer than its age.
    @Test func aRefreshThatTakesLongerThanTheAgeIsRecorded() async throws {
        try recordOld()
        let options = LoadOptions(expiration: age, loadTimeout: nil)
        #expect(try await askForStale(options) == "old")
        await source.waitUntilCalled()
        setup.clock.advance(by: .seconds(100))
        source.answer("new")
        await setup.waitUntilIdle()
        #expect(try await store.load("a", options: options) { "newer" } == Loaded("new", .cached))
    }

    // MARK: Stale if error

    @Test(arguments: [false, true])
    func aStaleValueIsReturnedIfTheLoaderFailsWithinItsWindow(_ onDisk: Bool) async throws {
        try recordOld(onDisk: onDisk)
        let events = store.events.events()
        setup.clock.advance(by: .seconds(59))
        #expect(
            try await store.load("a", staleIfError: .seconds(60), orLoad: fail)
                == Loaded("old", .staleIfError)
        )
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .loadFailed && error.cause is Outage)
        setup.clock.advance(by: .seconds(1))
        await #expect(throws: Outage.self) {
            try await store.load("a", staleIfError: .seconds(60), orLoad: fail)
        }
    }

    @Test func whileAnErrorIsCachedTheStaleValueIsReturnedWithoutALoad() async throws {
        try recordOld()
        let counter = Counter()
        @Sendable func fail() async throws -> String {
            counter.increment()
            throw Outage()
        }
        let options = LoadOptions(errorMaxAge: .seconds(30))
        for _ in 0..<3 {
            let answer = try await store.load(
                "a",
                staleIfError: .seconds(60),
                options: options,
                orLoad: fail
            )
            #expect(answer == Loaded("old", .staleIfError))
        }
        #expect(
            try await store.load(
                "a",
                staleWhileRevalidate: .seconds(60),
                options: options,
                orLoad: fail
            )
                == Loaded("old", .staleWhileRevalidate)
        )
        await #expect(throws: Outage.self) { try await store.load("a", orLoad: fail) }
        #expect(counter.value == 1)
        setup.clock.advance(by: .seconds(30))
        #expect(
            try await store.load("a", staleIfError: .seconds(60), options: options, orLoad: fail)
                == Loaded("old", .staleIfError)
        )
        #expect(counter.value == 2)
    }
}
