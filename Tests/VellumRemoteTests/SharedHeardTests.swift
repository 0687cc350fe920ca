import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumRemote

/// Every write of a shared cache is heard by everyone whom it concerns: each kind of write, from
/// each place, for each bystander.
@Suite(.ownThreads)
struct SharedHeardTests {
    enum Write: CaseIterable, Sendable {
        case set, setIfAbsent, removeValue, removeAll, removeGroup

        var isRemoval: Bool { self != .set && self != .setIfAbsent }
        /// What is under the key afterwards.
        var value: String? { isRemoval ? nil : "written" }
    }

    enum Origin: CaseIterable, Sendable { case sameStore, otherMachine }

    enum Bystander: CaseIterable, Sendable {
        case runningLoad, laterCaller, refreshOfStaleValue, refreshAhead, failureOfARunningLoad,
            laterFailure
        case rememberedFailure, rememberedAbsence, nearValue
    }

    struct Cell: Sendable, CustomStringConvertible {
        var write: Write
        var origin: Origin
        var bystander: Bystander
        /// Whether the value is in a group.
        var isInGroup: Bool
        var description: String {
            "\(write), \(origin), \(bystander)\(isInGroup ? ", in a group" : "")"
        }
        var groups: Set<String> { isInGroup ? ["g", "other"] : [] }

        /// The server knows of nothing under the key, of which it could tell others. No face has
        /// both: storages, which have `removeAll`, remember no failures.
        var isUnheard: Bool {
            write == .removeAll && origin == .otherMachine && bystander == .rememberedFailure
        }

        /// A valid value is not replaced.
        var isWritten: Bool {
            write != .setIfAbsent || bystander != .refreshAhead && bystander != .nearValue
        }

        static let all = Write.allCases.flatMap { write in
            Origin.allCases.flatMap { origin in
                Bystander.allCases.flatMap { bystander in
                    [false, true].map {
                        Cell(write: write, origin: origin, bystander: bystander, isInGroup: $0)
                    }
                }
            }
        }.filter { $0.write != .removeGroup || $0.isInGroup }
    }

    private struct SourceDown: Error {}

    /// A loader that waits until the test says what it returns.
    private final class Loader: Sendable {
        private let state = Locked((calls: 0, answer: Result<String?, any Error>?.none))

        var calls: Int { state.withLock { $0.calls } }

        func answer(_ answer: Result<String?, any Error>) { state.withLock { $0.answer = answer } }

        func waitForCall() async { await until("the loader was called") { calls > 0 } }

        func load() async throws -> String? {
            state.withLock { $0.calls += 1 }
            var answer: Result<String?, any Error>?
            try await until("the test says what the loader returns") {
                answer = state.withLock { $0.answer }
                if answer == nil { try Task.checkCancellation() }
                return answer != nil
            }
            guard let answer else { throw SourceDown() }
            return try answer.get()
        }
    }

    private let clock = ManualClock()
    private let backend: ScriptedBackend
    private let store: SharedStore<String>
    private let other: SharedStore<String>

    init() throws {
        backend = ScriptedBackend(clock: clock.steady, leaseDuration: 1_000_000)
        store = try Self.store(on: backend, clock)
        other = try Self.store(on: backend, clock)
    }

    private static func store(
        on backend: ScriptedBackend,
        _ clock: ManualClock,
        longestWait: Int64? = nil
    ) throws -> SharedStore<String> {
        let trust = Trust(for: 1_000_000, clock: clock.steady)
        trust.begin(
            ServerTime(
                milliseconds: clock.now.rawValue,
                sent: clock.now.rawValue,
                received: clock.now.rawValue
            )
        )
        var times = SharedStore<String>.Times()
        (times.clock, times.longestWait) = (clock.steady, longestWait)
        times.sleep = { try await clock.sleep($0) }
        let store = SharedStore(
            name: "test",
            near: NearCache(capacity: try Capacity(1.megaByte), trust: trust),
            backend: backend,
            coding: SharedStore<String>.Coding(
                typeVersion: 0,
                encode: { Data($0.utf8) },
                decode: { bytes, _, _ in String(decoding: bytes, as: UTF8.self) }
            ),
            times: times
        )
        backend.push { [weak store] keys, areLeases in
            if areLeases { store?.didChangeLeases(keys ?? []) } else { store?.didChange(keys) }
        }
        backend.pushGroups { [weak store] in store?.didChange(groups: $0) }
        return store
    }

    private func load(
        whileRevalidate: Duration = .zero,
        ifError: Duration = .zero,
        _ options: LoadOptions = LoadOptions(),
        into groups: Set<String> = [],
        in store: SharedStore<String>? = nil,
        _ loader: @escaping @Sendable () async throws -> String?
    ) async throws -> Loaded<String?> {
        var request = try LoadRequest<String>(
            key: "a",
            under: Expiration(age: 100_000),
            staleness: Staleness(whileRevalidate: whileRevalidate, ifError: ifError),
            options: options,
            loader: .plain(loader)
        )
        (request.acceptsNil, request.groups) = (true, try EntryKey.groups(groups))
        return try await (store ?? self.store).load(request)
    }

    private func write(_ cell: Cell) async throws {
        let writer = cell.origin == .sameStore ? store : other
        switch cell.write {
        case .set: try await writer.set("written", forKey: "a", under: .never)
        case .setIfAbsent:
            #expect(
                try await writer.setIfAbsent("written", forKey: "a", under: .never)
                    == cell.isWritten
            )
        case .removeValue: try await writer.removeValue(forKey: "a")
        case .removeAll: try await writer.removeAll()
        case .removeGroup: try await writer.removeAll(group: "g")
        }
    }

    /// In the end the server has what was written, and memory nothing else.
    private func expectStored(_ cell: Cell) async throws {
        await until("no load runs any more") { store.loads.count == 0 }
        let stored = try await store.value(forKey: "a", asksServer: true)
        if cell.isWritten { #expect(stored == cell.write.value) }
        #expect(try await store.value(forKey: "a", asksServer: false) == stored)
    }

    private func recordOld(_ age: Duration, _ groups: Set<String> = []) async throws {
        try await store.set(
            "old",
            forKey: "a",
            under: Expiration(age: 100_000),
            groups: EntryKey.groups(groups)
        )
        #expect(try await store.value(forKey: "a", asksServer: true) == "old")
        clock.advance(by: age)
    }

    @Test(arguments: Cell.all) func eachCellIsHeard(_ cell: Cell) async throws {
        switch cell.bystander {
        case .runningLoad, .laterCaller: try await expectHeardByALoad(cell)
        case .refreshOfStaleValue, .refreshAhead: try await expectHeardByARefresh(cell)
        case .failureOfARunningLoad, .laterFailure: try await expectHeardByAFailure(cell)
        case .rememberedFailure, .rememberedAbsence:
            let options = LoadOptions(negativeMaxAge: .seconds(1000), errorMaxAge: .seconds(1000))
            let isFailure = cell.bystander == .rememberedFailure
            _ = await Task {
                try await load(options, into: cell.groups) {
                    if isFailure { throw SourceDown() } else { nil }
                }
            }.result
            try await write(cell)
            if cell.isUnheard {
                await #expect(throws: SourceDown.self) {
                    try await load(options, into: cell.groups) { "anew" }
                }
            } else {
                try await expectAnew(cell, options)
            }
        case .nearValue:
            try await recordOld(.zero, cell.groups)
            try await write(cell)
            try await expectStored(cell)
        }
        store.loads.checkInvariants()
    }

    private func expectAnew(_ cell: Cell, _ options: LoadOptions = LoadOptions()) async throws {
        let loaded = try await load(options, into: cell.groups) { "anew" }
        #expect(
            loaded == (cell.write.isRemoval ? Loaded("anew", .loaded) : Loaded("written", .cached))
        )
    }

    /// Who waited before gets its value; who comes after the write does not wait for it.
    private func expectHeardByALoad(_ cell: Cell) async throws {
        let loader = Loader()
        let running = Task { try await load(into: cell.groups) { try await loader.load() } }
        await loader.waitForCall()
        try await write(cell)
        if cell.bystander == .laterCaller { try await expectAnew(cell) }
        loader.answer(.success("loaded"))
        #expect(try await running.value == Loaded("loaded", .loaded))
        if cell.bystander == .runningLoad { try await expectStored(cell) }
    }

    private func expectHeardByARefresh(_ cell: Cell) async throws {
        let (loader, isAhead) = (Loader(), cell.bystander == .refreshAhead)
        store.keepExpired(forMilliseconds: 500_000)
        try await recordOld(.seconds(isAhead ? 90 : 110), cell.groups)
        let options = LoadOptions(refreshAhead: isAhead ? 0.8 : nil)
        #expect(
            try await load(whileRevalidate: .seconds(500), options, into: cell.groups) {
                try await loader.load()
            }.value == "old"
        )
        await loader.waitForCall()
        try await write(cell)
        loader.answer(.success("loaded"))
        try await expectStored(cell)
    }

    private func expectHeardByAFailure(_ cell: Cell) async throws {
        let loader = Loader()
        store.keepExpired(forMilliseconds: 500_000)
        try await recordOld(.seconds(110), cell.groups)
        if cell.bystander == .laterFailure { try await write(cell) }
        let loading = Task {
            try await load(ifError: .seconds(500), into: cell.groups) { try await loader.load() }
        }
        if cell.bystander == .failureOfARunningLoad {
            await loader.waitForCall()
            try await write(cell)
        }
        loader.answer(.failure(SourceDown()))
        switch await loading.result {
        case .success(let loaded):
            #expect(loaded == Loaded("written", .cached) && !cell.write.isRemoval)
        // The near value is gone, and whoever asked before the write is not asked again.
        case .failure(let error):
            #expect(
                error is SourceDown
                    && (cell.write.isRemoval || cell.bystander == .failureOfARunningLoad)
            )
        }
        try await expectStored(cell)
    }

    // MARK: Leases

    /// FV4: the value is still good, and the server has it.
    @Test func readersDoNotWaitForALoadAheadOfTheEndOfTheAge() async throws {
        try await recordOld(.seconds(90))
        let (loader, options) = (Loader(), LoadOptions(refreshAhead: 0.8))
        func read() async throws -> Loaded<String?> {
            try await load(options) { try await loader.load() }
        }
        #expect(try await read() == Loaded("old", .cached))
        await loader.waitForCall()
        // The near value outlives the lease; who has lost it asks the server.
        let reads = store.statistics.serverReads
        #expect(try await read() == Loaded("old", .cached))
        #expect(store.statistics.serverReads == reads)
        for _ in 0..<20 {
            store.near.forget(["a"])
            #expect(try await read() == Loaded("old", .cached))
        }
        #expect(loader.calls == 1)
        loader.answer(.success("new"))
        await until("no load runs any more") { store.loads.count == 0 }
        #expect(try await read() == Loaded("new", .cached))
    }

    /// FL1: it gives its lease back, and delays the others once.
    @Test func aLoaderThatHangsEndsWithItsTime() async throws {
        let backend = ScriptedBackend(clock: clock.steady, leaseDuration: 3000)
        let (store, other) = (
            try Self.store(on: backend, clock), try Self.store(on: backend, clock)
        )
        let (hanging, options) = (Loader(), LoadOptions(loadTimeout: .seconds(10)))
        let late = Task { try await load(options, in: store) { try await hanging.load() } }
        await hanging.waitForCall()
        let waiting = Task { try await load(options, in: other) { "loaded" } }
        let end = clock.now.advanced(byMilliseconds: 10_000)
        while clock.now < end {
            // One waits to renew the lease, one for the end of the loader's time, and one for the
            // lease. Whoever the clock has woken waits anew before it goes on.
            await until("all three wait") { clock.sleeperCount == 3 }
            clock.advance(by: .milliseconds(500))
        }
        #expect(await Self.code(late) == .loadTimedOut)
        #expect(try await waiting.value == Loaded("loaded", .loaded))
        #expect(backend.record("a")?.value == Data("loaded".utf8), "It had the lease.")
        #expect(other.statistics.loadsAfterLongestWait == 0)
        #expect(try await load(options, in: store) { "anew" } == Loaded("loaded", .cached))
    }

    /// FL3.
    @Test func aLoadBesideTheOneOfAnotherMachineIsCounted() async throws {
        _ = try await backend.entryOrLease(
            forKey: "a",
            token: LeaseToken("other"),
            ignoresEntry: false,
            atReply: {}
        )
        let loading = Task { try await load { "mine" } }
        // A loader may run for 30 seconds.
        await clock.waitForSleeper(until: clock.now.advanced(byMilliseconds: 31_000))
        clock.advance(by: .seconds(31))
        #expect(try await loading.value == Loaded("mine", .loaded))
        #expect(store.statistics.loadsAfterLongestWait == 1 && backend.record("a") == nil)
    }

    private static func code(_ task: Task<Loaded<String?>, any Error>) async -> VellumError.Code? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? VellumError)?.code
        }
    }

    /// The lease, 2 s, the time of a loader, and the wait for another's loader, in this order.
    @Test(
        arguments: [
            (nil, .seconds(30), true), (nil, nil, true), (nil, .seconds(3600), true),
            (30_000, .seconds(30), true),
            (29_999, .seconds(30), false), (1500, .seconds(1), false), (1, nil, true),
        ] as [(Int64?, Duration?, Bool)]
    )
    func limitsThatContradictEachOtherAreAnError(
        _ longestWait: Int64?,
        _ loadTimeout: Duration?,
        _ isPossible: Bool
    ) async throws {
        let backend = ScriptedBackend(clock: clock.steady, leaseDuration: 2000)
        let store = try Self.store(on: backend, clock, longestWait: longestWait)
        let loading = Task {
            try await load(LoadOptions(loadTimeout: loadTimeout), in: store) { "loaded" }
        }
        #expect(await Self.code(loading) == (isPossible ? nil : .contradiction))
        #expect(store.times.longestWait(for: 60_000) == longestWait ?? 61_000)
    }
}
