import Foundation
import TestThreads
import Testing
import VellumCore

@testable import VellumRemote

/// The rules of loading and removing on a server in memory, with a clock that the test sets.
@Suite(.ownThreads)
struct SharedStoreTests {
    private struct SourceDown: Error {}

    private let time = ManualTime()
    private let backend: ScriptedBackend
    private let store: SharedStore<String>
    private let pauses = Pauses()

    init() throws {
        backend = ScriptedBackend(clock: time.clock)
        store = try Self.store(on: backend, time, pauses)
    }

    /// Pauses that end when a test says so.
    private final class Pauses: Sendable {
        private let (ends, end) = AsyncStream.makeStream(of: Void.self)
        private let begun = Locked(0)

        /// How many have begun.
        var count: Int { begun.withLock { $0 } }

        func finish() { end.yield() }

        func wait() async {
            begun.withLock { $0 += 1 }
            for await _ in ends { return }
        }
    }

    private static func store(
        on backend: ScriptedBackend,
        _ time: ManualTime,
        _ pauses: Pauses
    ) throws -> SharedStore<String> {
        let trust = Trust(for: 100, clock: time.clock)
        trust.begin(ServerTime(milliseconds: 0, sent: 0, received: 0))
        var times = SharedStore<String>.Times()
        times.clock = time.clock
        // Time passes when somebody waits for it, except for the renewal of a lease: no loader here
        // takes so long, however busy the machine is.
        let (step, renewal) = (Sum(0), backend.leaseDuration / 3)
        times.sleep = { milliseconds in
            if milliseconds == renewal { try await Task.sleep(for: .seconds(1_000_000)) }
            try Task.checkCancellation()
            time.reach(step.add(milliseconds))
        }
        times.pause = { _ in await pauses.wait() }
        return SharedStore(
            name: "test",
            near: NearCache(capacity: try Capacity(1.megaByte), trust: trust),
            backend: backend,
            coding: SharedStore.Coding(
                typeVersion: 0,
                encode: { Data($0.utf8) },
                decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }
            ),
            times: times
        )
    }

    /// A sum that closures share.
    private final class Sum: Sendable {
        private let value: Locked<Int64>
        init(_ value: Int64) { self.value = Locked(value) }
        func add(_ more: Int64) -> Int64 {
            value.withLock {
                $0 += more
                return $0
            }
        }
    }

    private func load(
        _ key: EntryKey,
        whileRevalidate: Duration = .zero,
        ifError: Duration = .zero,
        age: Int64 = 1_000_000,
        _ loader: @escaping @Sendable () async throws -> String?
    ) async throws -> Loaded<String?> {
        try await store.load(
            LoadRequest(
                key: key,
                under: Expiration(age: age),
                staleness: Staleness(whileRevalidate: whileRevalidate, ifError: ifError),
                options: LoadOptions(loadTimeout: nil),
                loader: .plain(loader)
            )
        )
    }

    @Test func oneOfManySetsWhatIsAbsent() async throws {
        let set = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await store.setIfAbsent("\(number)", forKey: "a", under: .never)
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(set == 1)
        #expect(try await !store.setIfAbsent("late", forKey: "a", under: .never))
    }

    @Test func manyKeysAreOneCommand() async throws {
        for key in ["a", "b", "c"] {
            try await store.set(key, forKey: EntryKey(key), under: .never)
        }
        _ = try await store.value(forKey: "b", asksServer: false)
        let before = backend.calls.count
        #expect(
            try await store.values(forKeys: ["a", "nothing", "b", "c", "a"], asksServer: false) == [
                "a", nil, "b", "c", "a",
            ]
        )
        #expect(Array(backend.calls.dropFirst(before)) == ["entries"])
        #expect(try await store.values(forKeys: ["a", "c"], asksServer: false) == ["a", "c"])
        #expect(backend.calls.count == before + 1)
        #expect(try await store.values(forKeys: ["a", "c"], asksServer: true) == ["a", "c"])
        #expect(backend.calls.count == before + 2)
    }

    @Test func aLoadedValueIsStoredUnderItsLease() async throws {
        #expect(try await load("a") { "1" } == Loaded("1", .loaded))
        #expect(backend.record("a")?.value == Data("1".utf8))
        #expect(backend.lease("a") == nil)
        #expect(try await load("a") { "2" } == Loaded("1", .cached))
    }

    @Test func aCallerWaitsForAnothersLeaseNoLongerThanTheLimit() async throws {
        // Another process that never ends.
        let backend = ScriptedBackend(clock: time.clock, leaseDuration: 1 << 40)
        let store = try Self.store(on: backend, time, pauses)
        _ = try await backend.entryOrLease(
            forKey: "a",
            token: LeaseToken("other"),
            ignoresEntry: false,
            atReply: {}
        )
        let request = try LoadRequest<String>(
            key: "a",
            under: .never,
            staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
            options: LoadOptions(loadTimeout: nil),
            loader: .plain { "mine" }
        )
        #expect(try await store.load(request) == Loaded("mine", .loaded))
        #expect(time.clock.now() >= 31_000)
        #expect(backend.record("a") == nil)
    }

    @Test func aLeaseThatIsNotRenewedIsTakenOver() async throws {
        _ = try await backend.entryOrLease(
            forKey: "a",
            token: LeaseToken("dead"),
            ignoresEntry: false,
            atReply: {}
        )
        #expect(try await load("a") { "mine" } == Loaded("mine", .loaded))
        #expect(backend.record("a")?.value == Data("mine".utf8))
    }

    @Test func aCancelledCallerLeavesNoLease() async throws {
        let (started, stop) = (
            AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
        )
        let caller = Task {
            try await load("a") {
                started.continuation.yield()
                for await _ in stop.stream {}
                throw CancellationError()
            }
        }
        for await _ in started.stream { break }
        #expect(backend.lease("a") != nil)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await until("the lease was given back") { backend.lease("a") == nil }
        #expect(backend.record("a") == nil)
    }

    @Test func aLeaseThatMayHaveBeenGrantedIsGivenBack() async throws {
        backend.fail(.unanswered("slow"))
        #expect(try await load("a") { "1" } == Loaded("1", .loaded))
        await until("the lease was given back") { backend.calls.contains("giveBack") }
    }

    @Test func aFailedLoadGivesTheLeaseBack() async throws {
        await #expect(throws: SourceDown.self) { try await load("a") { throw SourceDown() } }
        #expect(backend.lease("a") == nil)
    }

    @Test func aSetThatCannotBeSentIsNotRepeated() async throws {
        backend.fail(.unreachable("cut"))
        await #expect(throws: VellumError.self) {
            try await store.set("1", forKey: "a", under: .never)
        }
        backend.fail(nil)
        store.sendPendingRemovals()
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
    }

    @Test func aRemovalThatCouldNotBeSentComesBeforeTheNextRead() async throws {
        try await store.set("1", forKey: "a", under: .never)
        backend.fail(.unanswered("cut"))
        await #expect(throws: VellumError.self) { try await store.removeValue(forKey: "a") }
        backend.fail(nil)
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
        #expect(backend.record("a") == nil)
    }

    /// A pause of the store, so that what fails is sent again; what the server says meanwhile
    /// changes nothing.
    @Test(arguments: [
        RemoteFailure.unanswered("silent"), .unreachable("cut"), .overloaded, .cancelled, .full,
        .refused("no"), .tooLarge,
        .failed("BUSY"), .failed("MISCONF"), .failed("READONLY"),
    ])
    func aRemovalThatFailedIsSentAgainUntilItArrives(_ failure: RemoteFailure) async throws {
        try await store.set("1", forKey: "a", under: .never)
        backend.fail(failure)
        await #expect(throws: VellumError.self) { try await store.removeValue(forKey: "a") }
        for round in 2...3 {
            pauses.finish()
            await until("the removal was sent \(round) times") {
                backend.calls.count { $0.hasPrefix("drop") } >= round
            }
            #expect(backend.record("a") != nil)
        }
        backend.fail(nil)
        pauses.finish()
        await until("the removal has arrived") { backend.record("a") == nil }
    }

    private struct Unowned {
        weak var store: SharedStore<String>?
    }

    /// Removes a value in vain, in a store that only those who send removals again hold then.
    private func removeInVain() async throws -> Unowned {
        let store = try Self.store(on: backend, time, pauses)
        await #expect(throws: VellumError.self) { try await store.removeValue(forKey: "a") }
        return Unowned(store: store)
    }

    @Test func aClosedConnectionSendsNothingAgain() async throws {
        backend.fail(.closed)
        let removed = try await removeInVain()
        pauses.finish()
        await until("nobody sends removals any more, or somebody waits to send them again") {
            removed.store == nil || pauses.count > 1
        }
        #expect(pauses.count == 1)
        #expect(backend.calls.count { $0 == "drop" } == 2)
    }

    /// What is on its way has begun before the second removal of the key.
    @Test func aRemovalIsSentThoughOneOfItAndOneOfEverythingAreOnTheirWay() async throws {
        let (reached, released) = (
            AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
        )
        backend.beforeDrop {
            reached.continuation.yield()
            for await _ in released.stream { break }
        }
        var arrivals = reached.stream.makeAsyncIterator()
        let store = store
        async let first: Void = store.removeValue(forKey: "a")
        await arrivals.next()
        async let all: Void = store.removeAll()
        await arrivals.next()
        async let second: Void = store.removeValue(forKey: "a")
        await until("the second removal of the key waits") {
            store.pending.withLock { $0.count } >= 3
        }
        for _ in 0..<3 { released.continuation.yield() }
        _ = try await (first, all, second)
        #expect(backend.calls.count { $0 == "drop" } == 2)
        #expect(store.pending.withLock { $0.isEmpty })
    }

    @Test func aRemovalThatJoinsOneThatFailsIsSentByItself() async throws {
        try await store.set("1", forKey: "b", under: .never)
        let (reached, released) = (
            AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
        )
        backend.beforeDrop {
            reached.continuation.yield()
            for await _ in released.stream { break }
        }
        backend.fail(.overloaded)
        let first = Task { try await store.removeValue(forKey: "a") }
        for await _ in reached.stream { break }
        let second = Task { try await store.removeValue(forKey: "b") }
        await until("the second removal waits") {
            store.pending.withLock { $0.lot(ofKey: "b", .one) != nil }
        }
        // The first fails; what is sent next succeeds.
        backend.beforeDrop { backend.fail(nil) }
        released.continuation.yield()
        await #expect(throws: VellumError.self) { try await first.value }
        try await second.value
        #expect(backend.record("b") == nil)
    }

    @Test func aSetSupersedesARemovalThatCouldNotBeSent() async throws {
        backend.fail(.unanswered("cut"))
        await #expect(throws: VellumError.self) { try await store.removeValue(forKey: "a") }
        backend.fail(nil)
        try await store.set("2", forKey: "a", under: .never)
        #expect(try await store.value(forKey: "a", asksServer: true) == "2")
    }

    @Test func manyRemovalsThatCouldNotBeSentRemoveEverythingOnce() async throws {
        try await store.set("1", forKey: "kept", under: .never)
        backend.fail(.unreachable("cut"))
        for number in 0...PendingRemovals.mostKeys {
            await #expect(throws: VellumError.self) {
                try await store.removeValue(forKey: EntryKey("\(number)"))
            }
        }
        let before = backend.calls.count { $0 == "dropAll" }
        backend.fail(nil)
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<20 {
                group.addTask { [store] in try await store.value(forKey: "kept", asksServer: true) }
            }
            for try await value in group { #expect(value == nil) }
        }
        #expect(backend.calls.count { $0 == "dropAll" } == before + 1)
    }

    @Test func removalsThatCouldNotBeSentAreSentInOneCommand() async throws {
        backend.fail(.unreachable("cut"))
        for key in ["a", "b", "c"] {
            await #expect(throws: VellumError.self) {
                try await store.removeValue(forKey: EntryKey(key))
            }
        }
        let before = backend.calls.count { $0 == "drop" }
        backend.fail(nil)
        _ = try await store.value(forKey: "b", asksServer: true)
        #expect(backend.calls.count { $0 == "drop" } == before + 1)
        _ = try await store.value(forKey: "a", asksServer: true)
        #expect(backend.calls.count { $0 == "drop" } == before + 1)
    }

    @Test func aSetComesAfterARemovalThatIsOnItsWay() async throws {
        backend.fail(.unreachable("cut"))
        await #expect(throws: VellumError.self) { try await store.removeValue(forKey: "a") }
        backend.fail(nil)
        let (reached, released) = (
            AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self)
        )
        backend.beforeDrop {
            reached.continuation.yield()
            for await _ in released.stream { break }
        }
        store.sendPendingRemovals()
        for await _ in reached.stream { break }
        async let set: Void = store.set("2", forKey: "a", under: .never)
        // Another key waits for nothing.
        try await store.set("1", forKey: "b", under: .never)
        #expect(backend.record("a") == nil)
        backend.beforeDrop(nil)
        released.continuation.yield()
        try await set
        #expect(try await store.value(forKey: "a", asksServer: true) == "2")
    }

    @Test func withoutAServerAnOldValueIsForCallersThatTakeOne() async throws {
        #expect(
            try await load("a", ifError: .seconds(600), age: 50) { "1" } == Loaded("1", .loaded)
        )
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        backend.fail(.unreachable("cut"))
        // The value is older than its age.
        time.set(100_000)
        #expect(try await load("a", ifError: .seconds(600)) { "2" } == Loaded("1", .staleIfError))
        #expect(try await load("a") { "3" } == Loaded("3", .loaded))
    }

    /// Also what is set before any load accepts an old value. The longest that was asked for
    /// counts.
    @Test func theServerKeepsExpiredValuesForAsLongAsTheCacheSays() async throws {
        for (asked, kept) in [
            (0, 0), (500, 500), (200, 500), (-1, 500), (1000, 1000), (Int64.max, nil),
        ] as [(Int64, Int64?)] {
            store.keepExpired(forMilliseconds: asked)
            try await store.set("1", forKey: "a", under: .after(.milliseconds(50)))
            #expect(backend.lifetime == kept.map { $0 + 50 })
        }
    }

    @Test func nothingInPlaceOfAValueHidesTheOldOne() async throws {
        #expect(
            try await load("a", ifError: .seconds(600), age: 50) { "1" } == Loaded("1", .loaded)
        )
        // The value is older than its age.
        time.set(100_000)
        var request = try LoadRequest<String>(
            key: "a",
            under: .never,
            staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
            options: LoadOptions(loadTimeout: nil),
            loader: .plain { nil }
        )
        request.acceptsNil = true
        #expect(try await store.load(request) == Loaded(nil, .loaded))
        await #expect(throws: SourceDown.self) {
            try await load("a", ifError: .seconds(600)) { throw SourceDown() }
        }
    }
}
