import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// P43 and P46: a loaded `nil` is a result, and differs from a stored `nil` and from an empty
/// value.
@Suite(.ownThreads)
struct LoadingNilTests {
    let setup: LoadingSetup
    let counter = Counter()
    var store: Store<String> { setup.store }
    let caching = LoadOptions(negativeMaxAge: .seconds(10))

    init() throws { setup = try LoadingSetup() }

    /// Loads from a source without a value.
    private func ask(
        _ options: LoadOptions = LoadOptions(),
        staleWhileRevalidate: Duration = .zero
    ) async throws -> Loaded<String?> {
        try await store.load("a", staleWhileRevalidate: staleWhileRevalidate, options: options) {
            [counter] () async throws -> String? in
            counter.increment()
            return nil
        }
    }

    @Test func nilIsAResultAndIsCachedOnlyOnRequest() async throws {
        let (first, second) = (try await ask(), try await ask())
        #expect(first == Loaded(nil, .loaded) && second == first)
        #expect(counter.value == 2)
        #expect(try store.value(forKey: "a") == nil)
    }

    @Test func nilIsCachedForTheNegativeMaxAge() async throws {
        #expect(try await ask(caching) == Loaded(nil, .loaded))
        setup.clock.advance(by: .seconds(9))
        #expect(try await ask(caching) == Loaded(nil, .cached))
        #expect(counter.value == 1)
        setup.clock.advance(by: .seconds(1))
        #expect(try await ask(caching) == Loaded(nil, .loaded))
    }

    @Test func aCallerThatNeedsAValueRunsItsLoaderDespiteACachedNil() async throws {
        _ = try await ask(caching)
        #expect(try await store.load("a") { "something" } == Loaded("something", .loaded))
        #expect(try await ask(caching) == Loaded("something", .cached))
    }

    @Test func aCallerThatNeedsAValueRunsItsLoaderIfTheSharedOneReturnsNil() async throws {
        let gate = Source()
        let first = Task { [store] in
            try await store.value(forKey: "a") { () async throws -> String? in
                _ = try await gate.load()
                return nil
            }
        }
        await gate.waitUntilCalled()
        let second = Task { [store] in try await store.value(forKey: "a") { "something" } }
        await setup.waitForWaiters(2)
        gate.answer("")
        #expect(try await first.value == nil)
        #expect(try await second.value == "something")
    }

    @Test func nilReplacesAStaleValue() async throws {
        try store.record("old", forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(2))
        #expect(
            try await ask(staleWhileRevalidate: .seconds(60))
                == Loaded("old", .staleWhileRevalidate)
        )
        await setup.waitUntilIdle()
        #expect(try await ask(staleWhileRevalidate: .seconds(60)) == Loaded(nil, .loaded))
        #expect(try store.statistics().removals == [.expired: 1])
    }

    /// P43
    @Test func aStoredNilAndAnEmptyValueAreValues() async throws {
        let store: Store<String?> = try setup.disk.file.store(
            named: "optionals",
            codec: JSONCodec(),
            memory: .unlimited,
            caching: .values
        )
        for stored in [String?.none, .some("")] {
            try store.record(stored, forKey: "a")
            store.trimMemory(to: 0)
            let found = try await store.load("a") { () async throws -> String? in throw Outage() }
            #expect(found.value == stored && found.source == .cached)
        }
        // A `nil` of the value's type is recorded.
        #expect(try await store.value(forKey: "b") { nil as String? } == nil)
        #expect(try store.value(forKey: "b") == .some(nil))
        // The absence of a value is not.
        let none = try await store.value(forKey: "c") { () async throws -> String?? in .none }
        #expect(none == .none)
        #expect(try store.value(forKey: "c") == nil)
    }

    // MARK: Tombstones

    private func load(
        staleWhileRevalidate: Duration = .zero,
        acceptsNil: Bool = true,
        _ options: LoadOptions? = nil,
        _ answer: @escaping @Sendable () async throws -> String?
    ) async throws -> Loaded<String?> {
        var request = try LoadRequest<String>(
            key: "a",
            under: .never,
            staleness: Staleness(whileRevalidate: staleWhileRevalidate, ifError: .zero),
            options: options ?? caching,
            loader: .plain(answer)
        )
        request.tombstone = Tombstone("nothing") { value, _ in
            value == "nothing" ? .nothing : .value
        }
        request.acceptsNil = acceptsNil
        return try await store.load(request)
    }

    @Test func aNilIsRecordedAsItsTombstone() async throws {
        #expect(try await load { nil } == Loaded(nil, .loaded))
        store.trimMemory(to: 0)
        #expect(try await load { "something" } == Loaded(nil, .cached))
        setup.clock.advance(by: .seconds(10))
        #expect(try await load { "something" } == Loaded("something", .loaded))
    }

    @Test func anExpiredTombstoneIsNotAStaleValue() async throws {
        _ = try await load { nil }
        setup.clock.advance(by: .seconds(10))
        #expect(
            try await load(staleWhileRevalidate: .seconds(60)) { "something" }
                == Loaded("something", .loaded)
        )
    }

    @Test func aTombstoneIsReplacedForACallerThatNeedsAValue() async throws {
        _ = try await load { nil }
        #expect(try await load(acceptsNil: false) { "something" } == Loaded("something", .loaded))
        #expect(try await load { nil } == Loaded("something", .cached))
    }

    @Test func aNilIsRecordedOnlyOnRequest() async throws {
        for _ in 0..<2 { #expect(try await load(LoadOptions()) { nil } == Loaded(nil, .loaded)) }
        #expect(try store.count() == 0)
    }
}
