import Foundation
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// One loader for all who want a key, and what becomes of them when some go or it fails.
@Suite(.timeLimit(.minutes(60)))
struct LoadingTests {
    let setup: LoadingSetup
    let source = Source()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    /// A task that wants the key.
    private func ask(_ key: EntryKey = "a", options: LoadOptions = LoadOptions()) -> Task<String, any Error> {
        Task { [store, source] in
            try await store.value(forKey: key, options: options) { try await source.load() }
        }
    }

    // MARK: One loader

    /// A load that misses looks at the disk before it asks for the loader, and once more inside the load.
    @Test(arguments: [Duration.zero, .seconds(60)])
    func aLoadThatMissesLooksTwiceAtTheDiskAndCountsOneMiss(_ stale: Duration) async throws {
        _ = try await store.value(forKey: "a", staleWhileRevalidate: stale) { "loaded" }
        #expect(setup.faults.calls.count { $0 == .entry("a") } == 2)
        #expect(try store.statistics().misses == 1)
    }

    @Test func aMissIsLoadedAndRecordedAndIsAHitFromThenOn() async throws {
        let first = try await store.load("a") { "loaded" }
        #expect(first == Loaded("loaded", .loaded))
        #expect(try store.value(forKey: "a") == "loaded")
        let second = try await store.load("a") { () async throws -> String in throw Outage() }
        #expect(second == Loaded("loaded", .cached))
        #expect(setup.codec.counts == .init(encodes: 1, decodes: 0))
    }

    @Test func aValueOnDiskIsNotLoaded() async throws {
        try store.record("there", forKey: "a")
        store.trimMemory(to: 0)
        #expect(try await store.load("a") { "loaded" } == Loaded("there", .cached))
    }

    @Test func whoAsksWhileTheLoaderRunsWaitsForTheSameAnswer() async throws {
        let asks = (0..<10).map { _ in ask() }
        await source.wasAsked()
        await setup.waiters(10)
        source.answer("loaded")
        for ask in asks { #expect(try await ask.value == "loaded") }
        #expect(source.asked == 1)
    }

    @Test func differentKeysDoNotWaitForOneAnother() async throws {
        let slow = ask("slow")
        await source.wasAsked()
        #expect(try await store.value(forKey: "quick") { "loaded" } == "loaded")
        source.answer("slow")
        #expect(try await slow.value == "slow")
    }

    @Test func aFlightThatIsStartedWhenAnotherHasJustLandedFindsItsValue() async throws {
        // Between a reader's look at the disk and its boarding, another flight lands.
        setup.faults.interrupt { [store, faults = setup.faults] call in
            guard case .entry = call else { return }
            faults.interrupt(nil)
            do { try store.record("landed", forKey: "a") } catch { Issue.record(error) }
        }
        #expect(try await store.load("a") { "loaded" } == Loaded("landed", .cached))
    }

    @Test func aFlightFindsAlsoWhatLivesInMemoryAlone() async throws {
        let setup = try LoadingSetup(disk: 5)
        setup.faults.interrupt { [store = setup.store, faults = setup.faults] call in
            guard case .entry = call else { return }
            faults.interrupt(nil)
            do { try store.record("landed", forKey: "a") } catch { Issue.record(error) }
        }
        #expect(try await setup.store.load("a") { "loaded" } == Loaded("landed", .cached))
    }

    @Test func theLoadedValueHasTheAgeOfItsOwnThatWasAskedFor() async throws {
        let options = LoadOptions(expiration: .after(.seconds(10)))
        _ = try await store.value(forKey: "a", options: options) { "one" }
        setup.clock.advance(by: .seconds(9))
        #expect(try await store.value(forKey: "a", options: options) { "two" } == "one")
        setup.clock.advance(by: .seconds(1))
        #expect(try await store.value(forKey: "a", options: options) { "two" } == "two")
    }

    @Test func eachReaderJudgesByItsOwnAge() async throws {
        _ = try await store.value(forKey: "a") { "one" }
        setup.clock.advance(by: .seconds(10))
        #expect(try await store.value(forKey: "a", under: .after(.seconds(60))) { "two" } == "one")
        #expect(try await store.value(forKey: "a", under: .after(.seconds(5))) { "two" } == "two")
    }

    @Test func theLoaderHasTheTaskLocalValuesOfWhoAskedFirst() async throws {
        enum Local { @TaskLocal static var name = "none" }
        let value = try await Local.$name.withValue("mine") { try await store.value(forKey: "a") { Local.name } }
        #expect(value == "mine")
    }

    // MARK: Errors

    @Test func anErrorReachesAllWhoWaitAndIsNotRemembered() async throws {
        let asks = (0..<10).map { _ in ask() }
        await source.wasAsked()
        await setup.waiters(10)
        source.answer(.failure(Outage()))
        for ask in asks { await #expect(throws: Outage.self) { try await ask.value } }
        #expect(source.asked == 1)
        #expect(try await store.value(forKey: "a") { "well again" } == "well again")
    }

    @Test func anErrorIsRememberedForAsLongAsAsked() async throws {
        let counter = Counter()
        @Sendable func fail() async throws -> String {
            counter.increment()
            throw Outage()
        }
        let options = LoadOptions(errorMaxAge: .seconds(10))
        await #expect(throws: Outage.self) { try await store.value(forKey: "a", options: options, orLoad: fail) }
        setup.clock.advance(by: .seconds(9))
        await #expect(throws: Outage.self) { try await store.value(forKey: "a", options: options, orLoad: fail) }
        #expect(counter.value == 1)
        setup.clock.advance(by: .seconds(1))
        #expect(try await store.value(forKey: "a") { "well again" } == "well again")
    }

    @Test func aRememberedErrorIsForgottenWhenTheKeyIsWrittenOrRemoved() async throws {
        let options = LoadOptions(errorMaxAge: .seconds(10))
        for forget in [
            { try store.remove("a") },
            {
                try store.record("x", forKey: "a"); return try store.remove("a")
            },
        ] {
            await #expect(throws: Outage.self) {
                try await store.value(forKey: "a", options: options) { () async throws -> String in throw Outage() }
            }
            _ = try forget()
            #expect(try await store.value(forKey: "a") { "well again" } == "well again")
            try store.remove("a")
        }
    }

    @Test func aFailingDiskIsNoMissAndRunsNoLoader() async throws {
        setup.faults.fail(.read, with: VellumError(.inputOutput, "Broken."))
        let error = await #expect(throws: VellumError.self) { try await store.value(forKey: "a") { "loaded" } }
        #expect(error?.code == .inputOutput)
    }

    @Test func anEntryThatCannotBeReadIsReportedAndLoadedAnew() async throws {
        try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).store(Array("no JSON".utf8), "a")
        let events = store.events.events()
        #expect(try await store.load("a") { "loaded" } == Loaded("loaded", .loaded))
        var iterator = events.makeAsyncIterator()
        guard case .damagedEntry("a", _) = await iterator.next() else { throw Unexpected() }
        #expect(try store.value(forKey: "a") == "loaded")
    }

    @Test func negativeDurationsAreRefused() async throws {
        try store.record("there", forKey: "a")
        for (stale, safe) in [(Duration.seconds(-1), Duration.zero), (.zero, .seconds(-1))] {
            let error = await #expect(throws: VellumError.self) {
                try await store.value(forKey: "a", staleWhileRevalidate: stale, staleIfError: safe) { "loaded" }
            }
            #expect(error?.code == .invalidDuration)
        }
        for options in [LoadOptions(negativeMaxAge: .seconds(-1)), LoadOptions(errorMaxAge: .seconds(-1))] {
            let error = await #expect(throws: VellumError.self) { try await store.value(forKey: "b", options: options) { "loaded" } }
            #expect(error?.code == .invalidDuration)
        }
    }

    // MARK: Recording

    @Test func aValueThatIsTooLargeIsGivenToAllAndReported() async throws {
        let setup = try LoadingSetup(memory: 100, disk: 100)
        let events = setup.store.events.events()
        let value = String(repeating: "x", count: 500)
        #expect(try await setup.store.value(forKey: "a") { value } == value)
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .tooLarge)
        #expect(try setup.store.value(forKey: "a") == nil)
    }

    @Test func aDiskThatIsFullSpoilsNoAnswerAndIsReported() async throws {
        let events = store.events.events()
        setup.faults.fail(.commit, with: VellumError(.diskFull, "Full."))
        #expect(try await store.value(forKey: "a") { "loaded" } == "loaded")
        var iterator = events.makeAsyncIterator()
        guard case .failure(let error) = await iterator.next() else { throw Unexpected() }
        #expect(error.code == .diskFull)
    }

    // MARK: Cancelling

    @Test func cancellingOneWaiterCancelsNoOther() async throws {
        let (first, second) = (ask(), ask())
        await source.wasAsked()
        await setup.waiters(2)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(source.cancelled == 0)
        source.answer("loaded")
        #expect(try await second.value == "loaded")
    }

    /// P46: a loader that is cancelled.
    @Test func whenTheLastWaiterGoesTheLoaderIsCancelled() async throws {
        let asks = (0..<3).map { _ in ask() }
        await source.wasAsked()
        await setup.waiters(3)
        for ask in asks { ask.cancel() }
        for ask in asks { await #expect(throws: CancellationError.self) { try await ask.value } }
        while source.cancelled == 0 { await Task.yield() }
        #expect(source.cancelled == 1)
        #expect(try await store.value(forKey: "a") { "again" } == "again")
    }

    @Test func aLoaderThatIsToFinishFillsTheCacheWithoutAnyWaiter() async throws {
        let ask = ask(options: LoadOptions(onLastWaiterCancelled: .finish))
        await source.wasAsked()
        ask.cancel()
        await #expect(throws: CancellationError.self) { try await ask.value }
        source.answer("loaded")
        await setup.landing()
        #expect(source.cancelled == 0)
        #expect(try store.value(forKey: "a") == "loaded")
    }

    /// P46: a loader that never returns holds only those who want its key, and lets go of those who are cancelled.
    @Test func aLoaderThatNeverReturnsHoldsNobodyWhoIsCancelled() async throws {
        let first = Task { [store, source] in try await store.value(forKey: "a") { try await source.loadStubbornly() } }
        await source.wasAsked()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await store.value(forKey: "a") { "another" } == "another")
        source.answer("too late")
        #expect(try store.value(forKey: "a") == "another")
    }

    @Test func whatAnUnawaitedLoaderReturnsIsNotRecorded() async throws {
        let (counter, source) = (Counter(), source)
        let ask = Task { [store] in
            try await store.value(forKey: "a") {
                defer { counter.increment() }
                return try await source.loadStubbornly()
            }
        }
        await source.wasAsked()
        ask.cancel()
        await #expect(throws: CancellationError.self) { try await ask.value }
        source.answer("too late")
        while counter.value == 0 { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func whoIsCancelledAlreadyStartsNothing() async throws {
        let ask = Task { [store] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.value(forKey: "a") { () async throws -> String in
                Issue.record("The loader ran.")
                return ""
            }
        }
        await #expect(throws: CancellationError.self) { try await ask.value }
    }

    @Test func aHitIsAHitAlsoForWhoIsCancelled() async throws {
        try store.record("there", forKey: "a")
        let ask = Task { [store] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.value(forKey: "a") { "loaded" }
        }
        #expect(try await ask.value == "there")
    }
}
