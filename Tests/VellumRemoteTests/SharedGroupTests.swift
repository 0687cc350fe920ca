import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumRemote

/// Groups of shared caches on a server in memory, which tells its clients of every change.
@Suite(.ownThreads)
struct SharedGroupTests {
    private struct SourceDown: Error {}

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
        trust: Int64 = 1_000_000_000,
        isCutOff: Bool = false
    ) throws -> SharedStore<String> {
        let trust = Trust(for: trust, clock: clock.steady)
        trust.begin(
            ServerTime(
                milliseconds: clock.now.rawValue,
                sent: clock.now.rawValue,
                received: clock.now.rawValue
            )
        )
        var times = SharedStore<String>.Times()
        (times.clock, times.outageMaxAge) = (clock.steady, 1_000_000)
        times.sleep = { try await clock.sleep($0) }
        times.pause = { _ in try await clock.sleep(1_000_000_000) }
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
        if isCutOff { return store }
        backend.push { [weak store] keys, areLeases in
            if areLeases { store?.didChangeLeases(keys ?? []) } else { store?.didChange(keys) }
        }
        backend.pushGroups { [weak store] in store?.didChange(groups: $0) }
        return store
    }

    private func set(
        _ value: String,
        _ key: EntryKey,
        _ groups: Set<String>,
        age: Int64? = nil
    ) async throws {
        try await store.set(
            value,
            forKey: key,
            under: age.map { Expiration(age: $0) } ?? .never,
            groups: EntryKey.groups(groups)
        )
    }

    private func load(
        _ key: EntryKey = "a",
        _ groups: Set<String> = ["g"],
        ifError: Duration = .zero,
        age: Int64 = 100_000,
        _ options: LoadOptions = LoadOptions(),
        in store: SharedStore<String>? = nil,
        _ loader: @escaping @Sendable (String?) async throws -> LoadResult<String>
    ) async throws -> Loaded<String?> {
        var request = try LoadRequest<String>(
            key: key,
            under: Expiration(age: age),
            staleness: Staleness(whileRevalidate: .zero, ifError: ifError),
            options: options,
            loader: .informed(loader)
        )
        (request.acceptsNil, request.groups) = (true, try EntryKey.groups(groups))
        return try await (store ?? self.store).load(request)
    }

    // MARK: What a removal removes

    @Test func aRemovalRemovesTheValuesOfItsGroupAlone() async throws {
        try await set("1", "a", ["g", "h"])
        try await set("2", "b", ["h"])
        try await set("3", "g", [])
        for store in [store, other] {
            #expect(
                try await store.values(forKeys: ["a", "b", "g"], asksServer: false) == [
                    "1", "2", "3",
                ]
            )
        }
        try await store.removeAll(group: "g")
        for asksServer in [false, true] {
            for store in [store, other] {
                #expect(
                    try await store.values(forKeys: ["a", "b", "g"], asksServer: asksServer) == [
                        nil, "2", "3",
                    ]
                )
                #expect(try await store.value(forKey: "a", asksServer: asksServer) == nil)
            }
        }
        // What is set afterwards is another value. The last write says in which groups it is.
        try await set("4", "a", ["g"])
        try await set("5", "b", [])
        try await other.removeAll(group: "h")
        #expect(try await store.values(forKeys: ["a", "b"], asksServer: true) == ["4", "5"])
    }

    /// Equal in normal form; empty; long; of the same name as a key.
    @Test(arguments: [("", ""), ("\u{E9}", "e\u{301}"), ("a", "a"), ("\0", "\0"), ("}", "}")])
    func equalNamesAreOneGroup(_ one: String, _ same: String) async throws {
        try await set("1", "a", [one, same])
        #expect(backend.record("a")?.groups.count == 1)
        for group in try EntryKey.groups([same]) { try await other.removeAll(group: group) }
        #expect(try await store.value(forKey: "a", asksServer: true) == nil)
    }

    @Test func anEntryMayBeInManyGroups() async throws {
        let names = Set((0..<200).map { "\($0)" })
        try await set("1", "a", names)
        #expect(try await other.value(forKey: "a", asksServer: true) == "1")
        #expect(try await other.value(forKey: "a", asksServer: false) == "1")
        try await other.removeAll(group: "137")
        #expect(try await store.value(forKey: "a", asksServer: true) == nil)
    }

    /// An epoch that the server evicts, or that somebody else writes, removes the group.
    @Test(arguments: [nil, 0, 7] as [UInt64?]) func anEpochThatIsLostRemovesTheGroup(
        _ epoch: UInt64?
    ) async throws {
        try await set("1", "a", ["g", "h"])
        #expect(try await store.value(forKey: "a", asksServer: false) == "1")
        backend.setEpoch(epoch, of: "g")
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
        #expect(try await store.value(forKey: "a", asksServer: true) == nil)
        try await set("2", "a", ["g", "h"])
        #expect(try await other.value(forKey: "a", asksServer: true) == "2")
    }

    @Test func anEntryOfARemovedGroupCountsAsAbsent() async throws {
        try await set("1", "a", ["g"])
        #expect(try await !store.setIfAbsent("2", forKey: "a", under: .never))
        try await store.removeAll(group: "g")
        #expect(try await store.setIfAbsent("2", forKey: "a", under: .never))
        #expect(try await !other.setIfAbsent("3", forKey: "a", under: .never))
        #expect(try await other.value(forKey: "a", asksServer: true) == "2")
        // Another has set it between the comparison and the call.
        try await set("4", "a", ["g"])
        try await store.removeAll(group: "g")
        backend.beforeEpoch { [backend, store] in
            backend.beforeEpoch(nil)
            do { try await store.set("5", forKey: "a", under: .never) } catch {
                Issue.record(error)
            }
        }
        #expect(try await !other.setIfAbsent("6", forKey: "a", under: .never))
        #expect(try await other.value(forKey: "a", asksServer: true) == "5")
    }

    // MARK: What it costs

    @Test func valuesWithoutGroupsCostNothingMore() async throws {
        try await store.set("1", forKey: "a", under: .never)
        for asksServer in [false, false, true] {
            _ = try await store.value(forKey: "a", asksServer: asksServer)
        }
        _ = try await load("b", []) { _ in .value("2") }
        _ = try await load("b", []) { _ in .value("2") }
        #expect(backend.calls == ["put", "entry", "entry", "entryOrLease", "fill", "entryOrLease"])
    }

    @Test func anEpochThatIsKnownIsNotAskedFor() async throws {
        for key in ["a", "b", "c"] as [EntryKey] { try await set("1", key, ["g", "h"]) }
        let before = backend.calls.count
        for _ in 0..<2 { #expect(try await store.value(forKey: "a", asksServer: false) == "1") }
        #expect(Array(backend.calls.dropFirst(before)) == ["entry", "epochs"])
        #expect(
            try await store.values(forKeys: ["a", "b", "c"], asksServer: true) == ["1", "1", "1"]
        )
        #expect(backend.calls.last == "entries")
    }

    @Test(arguments: [(1_000, 3_000), (1_000, 1_000), (5_000, 200_000)] as [(Int64, Int64)])
    func anEpochLastsAsLongAsTheValue(_ usual: Int64, _ loaded: Int64) async throws {
        _ = try await load(age: usual) { _ in .value("1", maxAge: .milliseconds(loaded)) }
        let lasts = try #require(backend.epochLifetime("g").flatMap { $0 })
        #expect(lasts == loaded + 60_000)
        try await set("1", "b", ["g"])
        #expect(backend.epochLifetime("g") == .some(nil))
    }

    // MARK: Races

    /// The removal comes between the entry and its epoch.
    @Test(arguments: [true, false]) func aRemovalDuringAReadIsNotForgotten(
        _ isOwn: Bool
    ) async throws {
        try await set("1", "a", ["g"])
        let remover = isOwn ? store : other
        backend.beforeEpoch { [backend] in
            backend.beforeEpoch(nil)
            do { try await remover.removeAll(group: "g") } catch { Issue.record(error) }
        }
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
    }

    /// The value is made while the removal runs, on a machine that hears nothing of it.
    @Test func whatIsLoadedDuringARemovalIsNotValid() async throws {
        let deaf = try Self.store(on: backend, clock, trust: 0, isCutOff: true)
        let loaded = try await load(in: deaf) { [store] _ in
            try await store.removeAll(group: "g")
            return .value("old")
        }
        #expect(loaded == Loaded("old", .loaded))
        #expect(backend.record("a") != nil)
        for store in [store, other, deaf] {
            #expect(try await store.value(forKey: "a", asksServer: true) == nil)
        }
        #expect(
            try await load(in: deaf) { previous in .value(previous ?? "new") }
                == Loaded("new", .loaded)
        )
        #expect(try await store.value(forKey: "a", asksServer: true) == "new")
    }

    /// So that another loader may run: who holds it hears of the removal.
    @Test func aLeaseEndsWithTheGroup() async throws {
        let loaded = try await load { [other, backend] _ in
            try await other.removeAll(group: "g")
            await until("the lease has ended") { backend.lease("a") == nil }
            return .value("old")
        }
        #expect(loaded == Loaded("old", .loaded))
        #expect(backend.record("a") == nil && store.statistics.declinedFills == 1)
        #expect(store.leases.withLock { $0.isEmpty })
    }

    /// As after a removal of its key: it is neither stale nor the one before.
    @Test(arguments: [true, false]) func anExpiredValueEndsWithItsGroup(_ isOwn: Bool) async throws
    {
        store.keepExpired(forMilliseconds: 1_000_000)
        try await set("old", "a", ["g"], age: 1000)
        #expect(try await store.value(forKey: "a", asksServer: true) == "old")
        clock.advance(by: .seconds(2))
        #expect(
            try await load(ifError: .seconds(500)) { _ in throw SourceDown() }
                == Loaded("old", .staleIfError)
        )
        try await (isOwn ? store : other).removeAll(group: "g")
        await #expect(throws: SourceDown.self) {
            try await load(ifError: .seconds(500)) { previous in
                #expect(previous == nil)
                throw SourceDown()
            }
        }
    }

    @Test(
        arguments: [
            (["g", "h"], "renewEntry"), (["g"], "fill"), (["g", "h", "i"], "fill"), ([], "fill"),
        ] as [(Set<String>, String)]
    )
    func anUnchangedValueIsInTheGroupsOfItsLoad(_ groups: Set<String>, _ call: String) async throws
    {
        store.keepExpired(forMilliseconds: 1_000_000)
        try await set("1", "a", ["g", "h"], age: 1000)
        clock.advance(by: .seconds(2))
        #expect(
            try await load("a", groups) { _ in .unchanged(maxAge: .seconds(100)) }
                == Loaded("1", .loaded)
        )
        #expect(backend.calls.last == call)
        #expect(Set(backend.record("a")?.groups.map(\.name.normalized) ?? []) == groups)
        #expect(try await other.value(forKey: "a", asksServer: true) == "1")
    }

    @Test func aRecordedAbsenceEndsWithItsGroup() async throws {
        let options = LoadOptions(negativeMaxAge: .seconds(1000))
        #expect(try await load("a", ["g"], options) { _ in .none() } == Loaded(nil, .loaded))
        #expect(
            try await load("a", ["g"], options, in: other) { _ in .value("1") }
                == Loaded(nil, .cached)
        )
        try await other.removeAll(group: "g")
        #expect(try await load("a", ["g"], options) { _ in .value("1") } == Loaded("1", .loaded))
    }

    @Test(arguments: [RemoteFailure.overloaded, .full, .unanswered("slow"), .unreachable("cut")])
    func withoutAnEpochNothingIsStored(_ failure: RemoteFailure) async throws {
        try await set("1", "a", ["g"])
        backend.failEpochs(failure)
        await #expect(throws: VellumError.self) {
            try await store.value(forKey: "a", asksServer: true)
        }
        await #expect(throws: VellumError.self) { try await set("2", "b", ["g"]) }
        for key in ["a", "c"] as [EntryKey] {
            #expect(try await load(key) { _ in .value("alone") } == Loaded("alone", .loaded))
            await until("the lease was given back") { backend.lease(key) == nil }
        }
        #expect(backend.record("b") == nil && backend.record("c") == nil)
        backend.failEpochs(nil)
        #expect(try await store.value(forKey: "a", asksServer: true) == "1")
    }

    // MARK: Without the server

    @Test func aRemovalThatCouldNotBeSentComesBeforeEveryRead() async throws {
        try await set("1", "a", ["g"])
        try await set("2", "b", [])
        for key in ["a", "b"] as [EntryKey] {
            _ = try await store.value(forKey: key, asksServer: false)
        }
        backend.fail(.unanswered("cut"))
        await #expect(throws: VellumError.self) { try await store.removeAll(group: "g") }
        #expect(
            try await store.value(forKey: "b", asksServer: false) == "2",
            "It is in memory, and in no group."
        )
        await #expect(throws: VellumError.self) {
            try await store.value(forKey: "a", asksServer: false)
        }
        await #expect(throws: VellumError.self) {
            try await store.value(forKey: "b", asksServer: true)
        }
        #expect(
            try await load(ifError: .seconds(500)) { previous in .value(previous ?? "alone") }
                == Loaded("alone", .loaded)
        )
        backend.fail(nil)
        #expect(try await store.value(forKey: "a", asksServer: false) == nil)
        #expect(try await other.value(forKey: "a", asksServer: true) == nil)
    }

    @Test func aSetSupersedesARemovalOfItsGroupThatCouldNotBeSent() async throws {
        try await set("1", "a", ["g"])
        backend.fail(.unreachable("cut"))
        await #expect(throws: VellumError.self) { try await store.removeAll(group: "g") }
        backend.fail(nil)
        try await set("2", "b", ["g"])
        #expect(try await store.values(forKeys: ["a", "b"], asksServer: true) == [nil, "2"])
    }

    @Test func whatWasLoadedInAnOutageEndsWithItsGroup() async throws {
        backend.fail(.unreachable("cut"))
        #expect(try await load { _ in .value("1") } == Loaded("1", .loaded))
        #expect(try await load { _ in .value("2") } == Loaded("1", .loadedInOutage))
        await #expect(throws: VellumError.self) { try await store.removeAll(group: "g") }
        #expect(try await load { _ in .value("3") } == Loaded("3", .loaded))
        // A removal while the loader runs.
        await #expect(throws: VellumError.self) { try await store.removeAll(group: "g") }
        _ = try await load { [store] _ in
            await #expect(throws: VellumError.self) { try await store.removeAll(group: "g") }
            return .value("4")
        }
        #expect(try await load { _ in .value("5") } == Loaded("5", .loaded))
    }

    /// No near hit is older than the trust.
    @Test func aProcessThatIsCutOffTrustsAGroupNoLonger() async throws {
        let deaf = try Self.store(on: backend, clock, trust: 1000, isCutOff: true)
        try await set("1", "a", ["g"])
        #expect(try await deaf.value(forKey: "a", asksServer: false) == "1")
        try await store.removeAll(group: "g")
        clock.advance(by: .milliseconds(999))
        #expect(try await deaf.value(forKey: "a", asksServer: false) == "1")
        clock.advance(by: .milliseconds(1))
        // What ends its being cut off.
        deaf.didChange(nil)
        #expect(try await deaf.value(forKey: "a", asksServer: false) == nil)
    }

    // MARK: A model

    /// Two processes, whose reads are those of a dictionary.
    @Test(arguments: 0..<40 as Range<UInt64>) func readsAreThoseOfAModel(
        _ seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var model: [EntryKey: (value: String, groups: Set<String>)] = [:]
        let (keys, names): ([EntryKey], [String]) = (["a", "b", "c", "g"], ["g", "h", "i"])
        for number in 0..<300 {
            let (store, key) = (random.element(of: [store, other]), random.element(of: keys))
            let (value, groups) = ("\(number)", Set(names.randomSome(&random)))
            switch Int.random(in: 0..<10, using: &random) {
            case 0...1:
                try await store.set(
                    value,
                    forKey: key,
                    under: .never,
                    groups: EntryKey.groups(groups)
                )
                model[key] = (value, groups)
            case 2:
                try await store.removeValue(forKey: key)
                model[key] = nil
            case 3...4:
                let group = random.element(of: names)
                let isLost = Int.random(in: 0..<4, using: &random) == 0
                if isLost {
                    backend.setEpoch(nil, of: EntryKey(group))
                } else {
                    try await store.removeAll(group: EntryKey(group))
                }
                model = model.filter { !$0.value.groups.contains(group) }
            case 5:
                let loaded = try await load(key, groups, age: 1 << 50, in: store) { _ in
                    .value(value)
                }
                #expect(loaded.value == model[key]?.value ?? value, "\(number)")
                if model[key] == nil { model[key] = (value, groups) }
            case 6:
                #expect(
                    try await store.setIfAbsent(value, forKey: key, under: .never)
                        == (model[key] == nil),
                    "\(number)"
                )
                if model[key] == nil { model[key] = (value, []) }
            case 7:
                #expect(
                    try await store.values(forKeys: keys, asksServer: false)
                        == keys.map { model[$0]?.value },
                    "\(number)"
                )
            default:
                let asksServer = Bool.random(using: &random)
                #expect(
                    try await store.value(forKey: key, asksServer: asksServer) == model[key]?.value,
                    "\(number)"
                )
            }
        }
    }
}
