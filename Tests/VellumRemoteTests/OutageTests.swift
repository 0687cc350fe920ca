import Foundation
import Testing
import VellumCore
import VellumTestSupport

@testable import VellumRemote

/// What a process remembers that it has loaded itself while the server was out of reach.
@Suite(.timeLimit(.minutes(1)))
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

    private static func store(_ backend: ScriptedBackend, _ clock: ManualClock, outageMaxAge: Int64 = 10_000) throws -> SharedStore<String>
    {
        let trust = Trust(for: 100, clock: clock.steady)
        trust.begin(ServerTime(milliseconds: clock.now.rawValue, sent: clock.now.rawValue, received: clock.now.rawValue))
        var times = SharedStore<String>.Times()
        times.clock = clock.steady
        times.outageMaxAge = outageMaxAge
        times.sleep = { try await clock.sleep($0) }
        return SharedStore(
            name: "test", near: NearCache(capacity: try Capacity(1.megaByte), trust: trust), backend: backend,
            coding: SharedStore.Coding(
                typeVersion: 0, encode: { Data($0.utf8) }, decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }),
            times: times)
    }

    /// Loads how often the loader was called.
    private func load(
        _ store: SharedStore<String>? = nil, age: Duration = .seconds(60), ifError: Duration = .zero,
        whileLoading body: @escaping @Sendable () async throws -> Void = {}
    ) async throws -> Loaded<String?> {
        let calls = calls
        let request = try LoadRequest<String>(
            key: "a", under: .never, staleness: Staleness(whileRevalidate: .zero, ifError: ifError),
            options: LoadOptions(expiration: .after(age)),
            loader: .plain {
                let number = calls.next()
                try await body()
                return number
            })
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
            await #expect(throws: VellumError.self) { try await store.value(forKey: "a", asksServer: asksServer) }
        }
    }

    @Test func whenTheServerIsBackItsValueIsReturned() async throws {
        _ = try await load()
        backend.fail(nil)
        try await Self.store(backend, clock).set("others", forKey: "a", under: .never)
        #expect(try await load() == Loaded("others", .cached))
    }

    /// What was loaded before the server came back is forgotten before anything is trusted, also if it is out of reach again.
    @Test func aConnectionForgetsEverything() async throws {
        _ = try await load()
        store.didChange(nil)
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
            if isRemoval { try await store.removeValue(forKey: "a") } else { try await store.set("set", forKey: "a", under: .never) }
            Issue.record("The server is down.")
        } catch {}
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test func aWriteDuringTheLoadKeepsItFromBeingRemembered() async throws {
        let store = store
        _ = try await load { do { try await store.set("set", forKey: "a", under: .never) } catch {} }
        #expect(try await load() == Loaded("2", .loaded))
    }

    @Test func memoryIsBounded() async throws {
        let trust = Trust(for: 100, clock: clock.steady)
        let near = NearCache<String>(capacity: try Capacity(40.kiloByte), trust: trust)
        for number in 0..<1000 {
            let key = EntryKey("\(number)")
            let record = RemoteRecord(
                value: Data(count: 1000), typeVersion: 0, written: clock.now, expires: clock.now.advanced(byMilliseconds: 1000))
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
                    key: "a", under: .never, staleness: Staleness(whileRevalidate: .zero, ifError: .zero), options: LoadOptions(),
                    loader: .informed { _ in result }))
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

    /// Two machines read a value in the last fifth of its age: one loads it, and the other leaves it alone.
    @Test func oneMachineLoadsAheadOfTheEnd() async throws {
        backend.fail(nil)
        let other = try Self.store(backend, clock)
        let calls = calls
        func load(_ store: SharedStore<String>) async throws -> Loaded<String?> {
            try await store.load(
                LoadRequest(
                    key: "a", under: .never, staleness: Staleness(whileRevalidate: .zero, ifError: .zero),
                    options: LoadOptions(expiration: .after(.seconds(100)), refreshAhead: 0.8),
                    loader: .plain { calls.next() }))
        }
        #expect(try await load(store) == Loaded("1", .loaded))
        #expect(try await load(other) == Loaded("1", .cached))
        clock.advance(by: .seconds(90))
        #expect(try await load(store) == Loaded("1", .cached))
        while try await other.value(forKey: "a", asksServer: true) != "2" { await Task.yield() }
        #expect(try await load(other) == Loaded("2", .cached))
        #expect(calls.count == 2)
    }

    @Test func aServerThatIsOutOfReachKeepsNoGoodValueFromItsReader() async throws {
        backend.fail(nil)
        let options = LoadOptions(expiration: .after(.seconds(100)), refreshAhead: 0.8)
        func load() async throws -> Loaded<String?> {
            try await store.load(
                LoadRequest(
                    key: "a", under: .never, staleness: Staleness(whileRevalidate: .zero, ifError: .zero), options: options,
                    loader: .plain { "1" }))
        }
        _ = try await load()
        clock.advance(by: .seconds(90))
        #expect(try await load() == Loaded("1", .cached))
        #expect(store.statistics.loading.failures == 0)
    }
}
