import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// One loader per key: shared results, failures and cancellation.
@Suite(.ownThreads)
struct LoadingTests {
    let setup: LoadingSetup
    let source = Source()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    /// A task that loads the key.
    private func ask(
        _ key: EntryKey = "a",
        options: LoadOptions = LoadOptions()
    ) -> Task<String, any Error> {
        Task { [store, source] in
            try await store.value(forKey: key, options: options) { try await source.load() }
        }
    }

    // MARK: One loader

    /// A load that misses reads the disk before it calls the loader, and once more inside the load.
    @Test(arguments: [Duration.zero, .seconds(60)])
    func aMissCountsOnce(_ stale: Duration) async throws {
        _ = try await store.value(forKey: "a", staleWhileRevalidate: stale) { "loaded" }
        #expect(try store.statistics().misses == 1)
    }

    @Test func aMissIsLoadedAndRecorded() async throws {
        let first = try await store.load("a") { "loaded" }
        #expect(first == Loaded("loaded", .loaded))
        #expect(try store.value(forKey: "a") == "loaded")
        let second = try await store.load("a") { () async throws -> String in throw Outage() }
        #expect(second == Loaded("loaded", .cached))
        #expect(setup.codec.counts == .init(encodes: 1, decodes: 0))
    }

    @Test func aCallerDuringALoadWaitsForItsResult() async throws {
        let asks = (0..<10).map { _ in ask() }
        await source.waitUntilCalled()
        await setup.waitForWaiters(10)
        source.answer("loaded")
        for ask in asks { #expect(try await ask.value == "loaded") }
        #expect(source.asked == 1)
    }

    @Test func differentKeysDoNotWaitForOneAnother() async throws {
        let slow = ask("slow")
        await source.waitUntilCalled()
        #expect(try await store.value(forKey: "quick") { "loaded" } == "loaded")
        source.answer("slow")
        #expect(try await slow.value == "slow")
    }

    @Test func aLoadThatStartsJustAfterAnotherFindsItsValue() async throws {
        // Another load ends between the caller's read of the disk and its own load.
        setup.clock.beforeReading(2) { [store] in
            do { try store.record("other", forKey: "a") } catch { Issue.record(error) }
        }
        #expect(try await store.load("a") { "loaded" } == Loaded("other", .cached))
    }

    @Test func aLoadFindsAMemoryOnlyValue() async throws {
        let setup = try LoadingSetup(disk: 5)
        setup.clock.beforeReading(2) { [store = setup.store] in
            do { try store.record("other", forKey: "a") } catch { Issue.record(error) }
        }
        #expect(try await setup.store.load("a") { "loaded" } == Loaded("other", .cached))
    }

    @Test func theLoadedValueHasTheExpirationOfTheOptions() async throws {
        let options = LoadOptions(expiration: .after(.seconds(10)))
        _ = try await store.value(forKey: "a", options: options) { "one" }
        setup.clock.advance(by: .seconds(9))
        #expect(try await store.value(forKey: "a", options: options) { "two" } == "one")
        setup.clock.advance(by: .seconds(1))
        #expect(try await store.value(forKey: "a", options: options) { "two" } == "two")
    }

    @Test func eachReaderAppliesItsOwnAge() async throws {
        _ = try await store.value(forKey: "a") { "one" }
        setup.clock.advance(by: .seconds(10))
        #expect(try await store.value(forKey: "a", under: .after(.seconds(60))) { "two" } == "one")
        #expect(try await store.value(forKey: "a", under: .after(.seconds(5))) { "two" } == "two")
    }

    @Test func theLoaderHasTheTaskLocalValuesOfTheFirstCaller() async throws {
        enum Local { @TaskLocal static var name = "none" }
        let value = try await Local.$name.withValue("mine") {
            try await store.value(forKey: "a") { Local.name }
        }
        #expect(value == "mine")
    }

    // MARK: Errors

    @Test func anErrorReachesEveryWaiterAndIsNotCached() async throws {
        let asks = (0..<10).map { _ in ask() }
        await source.waitUntilCalled()
        await setup.waitForWaiters(10)
        source.answer(.failure(Outage()))
        for ask in asks { await #expect(throws: Outage.self) { try await ask.value } }
        #expect(source.asked == 1)
        #expect(try await store.value(forKey: "a") { "well again" } == "well again")
    }

    @Test func anErrorIsCachedForTheErrorMaxAge() async throws {
        let counter = Counter()
        @Sendable func fail() async throws -> String {
            counter.increment()
            throw Outage()
        }
        let options = LoadOptions(errorMaxAge: .seconds(10))
        await #expect(throws: Outage.self) {
            try await store.value(forKey: "a", options: options, orLoad: fail)
        }
        setup.clock.advance(by: .seconds(9))
        await #expect(throws: Outage.self) {
            try await store.value(forKey: "a", options: options, orLoad: fail)
        }
        #expect(counter.value == 1)
        setup.clock.advance(by: .seconds(1))
        #expect(try await store.value(forKey: "a") { "well again" } == "well again")
    }

    @Test func aFailingDiskIsNotAMissAndRunsNoLoader() async throws {
        try setup.disk.file.suspend()
        let error = await #expect(throws: VellumError.self) {
            try await store.value(forKey: "a") { "loaded" }
        }
        #expect(error?.code == .suspended)
    }

    @Test func anUndecodableEntryIsReportedAndLoadedAgain() async throws {
        try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(
            Array("no JSON".utf8),
            "a"
        )
        let events = store.events.events()
        #expect(try await store.load("a") { "loaded" } == Loaded("loaded", .loaded))
        var iterator = events.makeAsyncIterator()
        guard case .damagedEntry("a", _) = await iterator.next() else { throw Unexpected() }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    /// P20.
    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func negativeDurationsCountAsZero(_ duration: Duration) async throws {
        try store.record("old", forKey: "a", expiration: .after(duration))
        // It has expired at once, and nobody accepts an expired one for a negative time.
        #expect(
            try await store.value(
                forKey: "a",
                staleWhileRevalidate: duration,
                staleIfError: duration
            ) { "loaded" } == "loaded"
        )
        let options = LoadOptions(
            expiration: .after(duration),
            negativeMaxAge: duration,
            errorMaxAge: duration
        )
        for number in 0..<2 {
            #expect(
                try await store.value(forKey: "b", options: options) { "\(number)" } == "\(number)"
            )
            await #expect(throws: Unexpected.self) {
                try await store.value(forKey: "c", options: options) { throw Unexpected() }
            }
        }
    }

    /// P20: nobody waits for a negative time.
    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func aNegativeTimeoutIsOver(_ duration: Duration) async throws {
        let error = await #expect(throws: VellumError.self) {
            try await store.value(forKey: "a", options: LoadOptions(timeout: duration)) {
                try await Task.sleep(for: .seconds(3600))
                return "loaded"
            }
        }
        #expect(error?.code == .loadTimedOut)
    }

    // MARK: Recording

    @Test func aTooLargeValueIsReturnedToEveryWaiterAndReported() async throws {
        let setup = try LoadingSetup(memory: 100, disk: 100)
        let events = setup.store.events.events()
        let value = String(repeating: "x", count: 500)
        #expect(try await setup.store.value(forKey: "a") { value } == value)
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .tooLarge)
        #expect(try setup.store.value(forKey: "a") == nil)
    }

    @Test func aFullDiskIsReportedAndTheValueIsReturned() async throws {
        let events = store.events.events()
        setup.disk.file.failWrites(full)
        #expect(try await store.value(forKey: "a") { "loaded" } == "loaded")
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .diskFull)
    }

    // MARK: Cancelling

    @Test func cancellingOneWaiterDoesNotAffectTheOthers() async throws {
        let (first, second) = (ask(), ask())
        await source.waitUntilCalled()
        await setup.waitForWaiters(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(source.cancelled == 0)
        source.answer("loaded")
        #expect(try await second.value == "loaded")
    }

    /// P46: a loader that is cancelled.
    @Test func cancellingTheLastWaiterCancelsTheLoader() async throws {
        let asks = (0..<3).map { _ in ask() }
        await source.waitUntilCalled()
        await setup.waitForWaiters(3)
        for ask in asks { ask.cancel() }
        for ask in asks { await #expect(throws: CancellationError.self) { try await ask.value } }
        await until("the loader is cancelled") { source.cancelled > 0 }
        #expect(source.cancelled == 1)
        #expect(try await store.value(forKey: "a") { "again" } == "again")
    }

    @Test func aLoaderThatKeepsRunningFillsTheCacheWithoutWaiters() async throws {
        let ask = ask(options: LoadOptions(onLastWaiterCancelled: .finish))
        await source.waitUntilCalled()
        ask.cancel()
        await #expect(throws: CancellationError.self) { try await ask.value }
        source.answer("loaded")
        await setup.waitUntilIdle()
        #expect(source.cancelled == 0)
        #expect(try store.value(forKey: "a") == "loaded")
    }

    /// P46: a loader that never returns blocks only callers of its key, and releases cancelled
    /// ones.
    @Test func cancelledWaitersOfALoaderThatNeverReturnsAreReleased() async throws {
        let first = Task { [store, source] in
            try await store.value(forKey: "a") { try await source.loadIgnoringCancellation() }
        }
        await source.waitUntilCalled()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await store.value(forKey: "a") { "another" } == "another")
        let finished = store.loads.finishedCount
        source.answer("too late")
        await until("the load of the cancelled loader is over") {
            store.loads.finishedCount > finished
        }
        #expect(try store.value(forKey: "a") == "another")
    }

    @Test func theResultOfACancelledLoaderIsNotRecorded() async throws {
        let (counter, source) = (Counter(), source)
        let ask = Task { [store] in
            try await store.value(forKey: "a") {
                defer { counter.increment() }
                return try await source.loadIgnoringCancellation()
            }
        }
        await source.waitUntilCalled()
        ask.cancel()
        await #expect(throws: CancellationError.self) { try await ask.value }
        let finished = store.loads.finishedCount
        source.answer("too late")
        // Afterwards nothing of the load is recorded any more.
        await until("the load of the cancelled loader is over") {
            store.loads.finishedCount > finished
        }
        #expect(counter.value == 1)
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func aCancelledTaskStartsNoLoad() async throws {
        let ask = Task { [store] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.value(forKey: "a") { () async throws -> String in
                Issue.record("The loader ran.")
                return ""
            }
        }
        await #expect(throws: CancellationError.self) { try await ask.value }
    }

    @Test func aCancelledTaskStillGetsAHit() async throws {
        try store.record("there", forKey: "a")
        let ask = Task { [store] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.value(forKey: "a") { "loaded" }
        }
        #expect(try await ask.value == "there")
    }
}
