import Foundation
import TestThreads
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumRemote

/// What a process remembers that it has loaded itself while the server was out of reach.
@Suite(.ownThreads)
struct OutageTests {
    private let clock = ManualClock()
    private let backend: ScriptedBackend
    private let store: SharedStore<String>
    private let calls = Calls()

    /// How often a loader was called.
    private final class Calls: Sendable {
        private let number = Locked(0)

        var count: Int { number.withLock { $0 } }

        func next() -> String {
            number.withLock { number in
                number += 1
                return "\(number)"
            }
        }
    }

    init() throws {
        backend = ScriptedBackend(clock: clock.steady)
        store = try Self.store(backend, clock)
        backend.fail(.unreachable("It is down."))
    }

    private static func store(
        _ backend: ScriptedBackend,
        _ clock: ManualClock,
        outageMaxAge: Int64 = 10_000,
        trust milliseconds: Int64 = 100
    ) throws -> SharedStore<String> {
        let trust = Trust(for: milliseconds, clock: clock.steady)
        trust.begin(
            ServerTime(
                milliseconds: clock.now.rawValue,
                sent: clock.now.rawValue,
                received: clock.now.rawValue
            )
        )
        var times = SharedStore<String>.Times()
        times.clock = clock.steady
        times.outageMaxAge = outageMaxAge
        times.sleep = { try await clock.sleep($0) }
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

    /// Loads how often the loader was called.
    private func load(
        _ store: SharedStore<String>? = nil,
        age: Duration = .seconds(60),
        ifError: Duration = .zero,
        whileLoading body: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> Loaded<String?> {
        let calls = calls
        let request = try LoadRequest<String>(
            key: "a",
            under: .never,
            staleness: Staleness(whileRevalidate: .zero, ifError: ifError),
            options: LoadOptions(expiration: .after(age)),
            loader: .plain {
                let number = calls.next()
                try await body()
                return number
            }
        )
        return try await (store ?? self.store).load(request)
    }

    @Test func aValueIsLoadedOnceInTheTime() async throws {
        #expect(try await load() == Loaded("1", .loaded))
        for _ in 0..<10 { #expect(try await load() == Loaded("1", .loadedInOutage)) }
        #expect(try await !load().isStale)
        clock.advance(by: .milliseconds(9999))
        #expect(try await load() == Loaded("1", .loadedInOutage))
        clock.advance(by: .milliseconds(1))
        #expect(try await load() == Loaded("2", .loaded))
        #expect(store.statistics.loading.loads == 2)
        #expect(store.statistics.loading.inOutage == 12)
    }

    @Test func aValueIsRememberedNoLongerThanItIsValid() async throws {
        #expect(try await load(age: .seconds(3)) == Loaded("1", .loaded))
        clock.advance(by: .seconds(3))
        #expect(try await load(age: .seconds(3)) == Loaded("2", .loaded))
    }

    @Test func zeroTurnsItOff() async throws {
        let store = try Self.store(backend, clock, outageMaxAge: 0)
        #expect(try await load(store) == Loaded("1", .loaded))
        #expect(try await load(store) == Loaded("2", .loaded))
    }

    @Test func aReadThatAsksTheServerDoesNotGetIt() async throws {
        _ = try await load()
        for asksServer in [true, false] {
            await #expect(throws: VellumError.self) {
                try await store.value(forKey: "a", asksServer: asksServer)
            }
        }
    }

    @Test func whenTheServerIsBackItsValueIsReturned() async throws {
        _ = try await load()
        backend.fail(nil)
        try await Self.store(backend, clock).set("others", forKey: "a", under: .never)
        #expect(try await load() == Loaded("others", .cached))
    }

    /// The first to a server, the first to a primary of a cluster, and another.
    private static let connections: [@Sendable (SharedStore<String>) -> Void] = [
        { $0.didConnect() }, { $0.didConnectFirst() }, { $0.didChange(nil) },
    ]

    /// What was loaded before the server came back is forgotten before anything is trusted, also if
    /// it is out of reach again.
    @Test(arguments: 0..<connections.count) func aConnectionForgetsEverything(
        _ number: Int
    ) async throws {
        _ = try await load()
        Self.connections[number](store)
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test func aLoadThatBeganBeforeTheServerWasBackIsNotRemembered() async throws {
        let store = store
        #expect(try await load { store.didChange(nil) } == Loaded("1", .loaded))
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test(arguments: [false, true])
    func aWriteOfThisProcessEndsIt(_ isRemoval: Bool) async throws {
        _ = try await load()
        do throws(VellumError) {
            if isRemoval {
                try await store.removeValue(forKey: "a")
            } else {
                try await store.set("set", forKey: "a", under: .never)
            }
            Issue.record("The server is down.")
        } catch {}
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test func aWriteDuringTheLoadKeepsItFromBeingRemembered() async throws {
        let store = store
        _ = try await load {
            do { try await store.set("set", forKey: "a", under: .never) } catch {}
        }
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test func memoryIsBounded() async throws {
        let trust = Trust(for: 100, clock: clock.steady)
        let near = NearCache<String>(capacity: try Capacity(40.kiloByte), trust: trust)
        for number in 0..<1000 {
            let key = EntryKey("\(number)")
            let record = RemoteRecord(
                value: Data(count: 1000),
                typeVersion: 0,
                written: clock.now,
                expires: clock.now.advanced(byMilliseconds: 1000)
            )
            near.fillInOutage("value", record, forKey: key, ticket: near.outageTicket(forKey: key))
        }
        #expect(near.outage.totals().bytes <= 10 << 10)
    }

    // MARK: Unchanged, and ahead of the end

    @Test func ofAnUnchangedValueOnlyTheDateIsSent() async throws {
        backend.fail(nil)
        func load(_ result: LoadResult<String>) async throws -> Loaded<String?> {
            try await store.load(
                LoadRequest(
                    key: "a",
                    under: .never,
                    staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                    options: LoadOptions(),
                    loader: .informed { _ in result }
                )
            )
        }
        #expect(try await load(.value("1", maxAge: .seconds(10))) == Loaded("1", .loaded))
        clock.advance(by: .seconds(11))
        #expect(try await load(.unchanged(maxAge: .seconds(20))) == Loaded("1", .loaded))
        #expect(backend.calls.filter { $0 == "fill" }.count == 1)
        #expect(backend.calls.filter { $0 == "renewEntry" }.count == 1)
        clock.advance(by: .seconds(19))
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        clock.advance(by: .seconds(1))
        #expect(try await store.value(forKey: "a", asksServer: true) == nil)
    }

    /// Two machines read a value in the last fifth of its age: one loads it, and the other leaves
    /// it alone.
    @Test func oneMachineLoadsAheadOfTheEnd() async throws {
        backend.fail(nil)
        let other = try Self.store(backend, clock)
        let calls = calls
        func load(_ store: SharedStore<String>) async throws -> Loaded<String?> {
            try await store.load(
                LoadRequest(
                    key: "a",
                    under: .never,
                    staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                    options: LoadOptions(expiration: .after(.seconds(100)), refreshAhead: 0.8),
                    loader: .plain { calls.next() }
                )
            )
        }
        #expect(try await load(store) == Loaded("1", .loaded))
        #expect(try await load(other) == Loaded("1", .cached))
        clock.advance(by: .seconds(90))
        #expect(try await load(store) == Loaded("1", .cached))
        try await until("the other machine reads the new value") {
            try await other.value(forKey: "a", asksServer: true) == "2"
        }
        #expect(try await load(other) == Loaded("2", .cached))
        #expect(calls.count == 2)
    }

    /// A store whose memory is trusted for long.
    private func trusting() throws -> SharedStore<String> {
        try Self.store(backend, clock, trust: 1_000_000)
    }

    private func loadAhead(
        _ store: SharedStore<String>,
        errorMaxAge: Duration? = nil,
        _ loader: @escaping @Sendable () async throws -> String?
    ) async throws -> Loaded<String?> {
        try await store.load(
            LoadRequest(
                key: "a",
                under: .never,
                staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                options: LoadOptions(
                    expiration: .after(.seconds(100)),
                    errorMaxAge: errorMaxAge,
                    refreshAhead: 0.8
                ),
                loader: .plain(loader)
            )
        )
    }

    @Test func aServerThatIsOutOfReachKeepsNoGoodValueFromItsReader() async throws {
        backend.fail(nil)
        let store = try trusting()
        let failures = store.failures.events()
        _ = try await loadAhead(store) { "1" }
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        clock.advance(by: .seconds(90))
        backend.fail(.unreachable("It is down."))
        #expect(try await loadAhead(store) { "2" } == Loaded("1", .cached))
        var iterator = failures.makeAsyncIterator()
        #expect(await iterator.next()?.code == .unreachable)
        // It is not asked again with every hit.
        await until("no load runs any more") { store.loads.count == 0 }
        let asked = backend.calls.count
        for _ in 0..<10 { #expect(try await loadAhead(store) { "2" } == Loaded("1", .cached)) }
        #expect(backend.calls.count == asked)
        #expect(store.statistics.loading.loads == 1)
    }

    /// A failure ahead of the end hides no value, also if memory has lost its copy.
    @Test func aFailureAheadOfTheEndIsNoAnswer() async throws {
        struct Down: Error {}
        backend.fail(nil)
        let store = try trusting()
        let failures = store.failures.events()
        _ = try await loadAhead(store) { "1" }
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        clock.advance(by: .seconds(90))
        #expect(
            try await loadAhead(store, errorMaxAge: .seconds(60)) { throw Down() }
                == Loaded("1", .cached)
        )
        var iterator = failures.makeAsyncIterator()
        #expect(await iterator.next()?.code == .loadFailed)
        store.didChange(nil)
        #expect(
            try await loadAhead(store, errorMaxAge: .seconds(60)) { throw Down() }
                == Loaded("1", .cached)
        )
    }

    /// While another machine loads a value ahead of its end, hits do not ask the server again and
    /// again.
    @Test func aMachineDoesNotAskForALeaseThatAnotherHas() async throws {
        backend.fail(nil)
        let store = try trusting()
        _ = try await loadAhead(store) { "1" }
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        clock.advance(by: .seconds(90))
        let token = LeaseToken.random()
        _ = try await backend.entryOrLease(
            forKey: "a",
            token: token,
            ignoresEntry: true,
            atReply: {}
        )
        #expect(try await loadAhead(store) { "2" } == Loaded("1", .cached))
        await until("no load runs any more") { store.loads.count == 0 }
        let asked = backend.calls.count
        for _ in 0..<10 { #expect(try await loadAhead(store) { "2" } == Loaded("1", .cached)) }
        await until("no load runs any more") { store.loads.count == 0 }
        #expect(backend.calls.count == asked)
        #expect(store.statistics.loading.loads == 1)
    }

    @Test func aKeyThatIsRemovedIsNotLoadedAhead() async throws {
        backend.fail(nil)
        let store = try trusting()
        _ = try await loadAhead(store) { "1" }
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
        clock.advance(by: .seconds(90))
        // Another machine has removed it, and this one does not know it yet.
        try await backend.drop(["a"])
        #expect(try await loadAhead(store) { "2" } == Loaded("1", .cached))
        await until("the lease was given back") { backend.calls.last == "giveBack" }
        #expect(store.statistics.loading.loads == 1)
        #expect(backend.record("a") == nil)
    }

    /// After its answer the server has newer values than what was loaded without it.
    @Test func anAnswerOfTheServerEndsWhatWasLoadedWithoutIt() async throws {
        _ = try await load()
        backend.fail(nil)
        try await Self.store(backend, clock).set("others", forKey: "a", under: .never)
        #expect(try await store.value(forKey: "a", asksServer: true) == "others")
        backend.fail(.unreachable("It is down."))
        clock.advance(by: .seconds(1))
        #expect(try await load() == Loaded("2", .loaded))
    }

    /// A loader that ignores its cancellation does not keep other machines waiting.
    @Test func aLoadThatNobodyWaitsForGivesItsLeaseBack() async throws {
        backend.fail(nil)
        let (store, gate) = (store, Gate())
        let call = Task {
            try await store.load(
                LoadRequest(
                    key: "a",
                    under: .never,
                    staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                    options: LoadOptions(),
                    loader: .plain {
                        await gate.wait()
                        return "late"
                    }
                )
            )
        }
        await until("the load has its lease") { backend.lease("a") != nil }
        let begin = clock.now
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: backend.leaseDuration / 3))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        clock.advance(by: .milliseconds(backend.leaseDuration / 3))
        await until("the lease was given back") { backend.lease("a") == nil }
        #expect(try await self.load() == Loaded("1", .loaded))
        gate.open()
    }

    private final class Gate: Sendable {
        private let isOpen = Locked(false)
        func open() { isOpen.withLock { $0 = true } }
        func wait() async { await until("the gate is open") { isOpen.withLock { $0 } } }
    }

    /// A caller that begins after a set gets nothing older from a load that runs.
    @Test func afterASetNobodyJoinsAnOlderLoad() async throws {
        backend.fail(nil)
        let (store, gate) = (store, Gate())
        _ = try await load(age: .seconds(10))
        clock.advance(by: .seconds(11))
        let old = Task {
            try await store.load(
                LoadRequest(
                    key: "a",
                    under: .never,
                    staleness: Staleness(whileRevalidate: .zero, ifError: .seconds(600)),
                    options: LoadOptions(),
                    loader: .plain {
                        await gate.wait()
                        return "late"
                    }
                )
            )
        }
        await until("the load has found the expired value") {
            store.loads.interim(forKey: "a") != nil
        }
        try await store.set("set", forKey: "a", under: .never)
        #expect(try await load(ifError: .seconds(600)) == Loaded("set", .cached))
        gate.open()
        #expect(try await old.value == Loaded("late", .loaded))
        #expect(try await store.value(forKey: "a", asksServer: true) == "set")
    }

    private struct SourceDown: Error {}

    /// The server tells a program of its own writes, too, and maybe when the next load has begun.
    /// What it says before it replies is older than the entry in the reply.
    @Test func aWriteThatIsHeardBeforeTheReplyTakesNoOldValueAway() async throws {
        backend.fail(nil)
        let store = store
        _ = try await load(age: .seconds(10), ifError: .seconds(600))
        clock.advance(by: .seconds(11))
        backend.beforeLease { store.didChange(["a"]) }
        #expect(
            try await load(ifError: .seconds(600)) { throw SourceDown() }
                == Loaded("1", .staleIfError)
        )
        backend.beforeLease(nil)
        await #expect(throws: SourceDown.self) {
            try await load(ifError: .seconds(600)) {
                store.didChange(["a"])
                throw SourceDown()
            }
        }
    }

    /// What the server says after the soft timeout is taken, too.
    @Test func anOldValueThatIsFoundAfterTheSoftTimeoutIsTaken() async throws {
        backend.fail(nil)
        let (store, gate) = (store, Gate())
        _ = try await load(age: .seconds(10))
        clock.advance(by: .seconds(11))
        backend.beforeLease { await gate.wait() }
        let begin = clock.now
        let call = Task {
            try await store.load(
                LoadRequest(
                    key: "a",
                    under: .never,
                    staleness: Staleness(whileRevalidate: .zero, ifError: .seconds(600)),
                    options: LoadOptions(softTimeout: .seconds(1), timeout: .seconds(5)),
                    loader: .plain {
                        try await Task.sleep(for: .seconds(3600))
                        return "never"
                    }
                )
            )
        }
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 1000))
        clock.advance(by: .seconds(1))
        // It has found nothing after the soft timeout, and goes on waiting.
        await clock.waitForSleeper(until: begin.advanced(byMilliseconds: 5000))
        gate.open()
        #expect(try await call.value == Loaded("1", .staleIfSlow))
    }
}
