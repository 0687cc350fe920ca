import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Random schedules of load, answer, cancel, record, remove, sweep and expire, against a model of a
/// few lines.
@Suite(.ownThreads)
struct LoadingModelTests {
    @Test(arguments: 0..<UInt64(LongRun.number(25, usually: 8)))
    func aRandomScheduleMatchesTheModel(_ seed: UInt64) async throws {
        var schedule = try Schedule(seed: seed)
        for _ in 0..<120 { try await schedule.step() }
        try await schedule.finish()
    }
}

/// Loaders that are answered by number.
private final class ManualSources: Sendable {
    private let open = Locked<[Int: CheckedContinuation<String?, any Error>]>([:])

    func load(_ number: Int) async throws -> String? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                open.withLock { $0[number] = continuation }
                if Task.isCancelled { answer(number, .failure(CancellationError())) }
            }
        } onCancel: {
            answer(number, .failure(CancellationError()))
        }
    }

    func isOpen(_ number: Int) -> Bool { open.withLock { $0[number] != nil } }

    func answer(_ number: Int, _ result: Result<String?, any Error>) {
        open.withLock { $0.removeValue(forKey: number) }?.resume(with: result)
    }
}

private struct Schedule {
    struct Held {
        var value: String
        var end: Int
    }

    struct Waiter {
        var task: Task<Loaded<String?>, any Error>
        var takesStaleIfError: Bool
    }

    struct RunningLoad {
        /// Its number in ``ManualSources``.
        var number: Int
        var waiters: [Waiter]
        var isKept: Bool
        var isOvertaken = false
    }

    let seed: UInt64
    let setup: LoadingSetup
    let sources = ManualSources()
    var random: SeededGenerator
    var now = 0
    var held: [EntryKey: Held] = [:]
    var loads: [EntryKey: RunningLoad] = [:]
    /// Loads that were overtaken before another of their key began: they go on beside it.
    var elders: [EntryKey: RunningLoad] = [:]
    var next = 0

    static let keys: [EntryKey] = ["a", "b", "c"]
    /// How long values are valid, and for how long after that they are still accepted, in seconds.
    static let (age, staleWindow) = (10, 15)

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        setup = try LoadingSetup()
    }

    private mutating func chance(_ part: Int) -> Bool {
        Int.random(in: 0..<part, using: &random) == 0
    }

    mutating func step() async throws {
        let key = Self.keys.randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7: try await ask(key)
        case 7..<11: try await answer(key)
        case 11..<13: try await cancel(key)
        case 13: try record(key)
        case 14: try remove(key)
        case 15 where chance(3): try removeAll()
        case 16: try sweep(key)
        case 17: setup.store.trimMemory(to: 0)
        default:
            let seconds = Int.random(in: 1..<8, using: &random)
            now += seconds
            setup.clock.advance(by: .seconds(seconds))
        }
        try compare()
    }

    mutating func finish() async throws {
        for key in Self.keys {
            while loads[key] != nil || elders[key] != nil { try await answer(key) }
        }
        try compare()
        setup.store.loads.checkInvariants()
        await until("no key is watched, seed \(seed)") { setup.store.memory.isWatchingNothing }
    }

    private func compare() throws {
        for key in Self.keys {
            let expected = held[key].flatMap { now < $0.end ? $0.value : nil }
            #expect(try setup.store.value(forKey: key) == expected, "seed \(seed), at \(now)")
        }
        #expect(setup.store.loads.count == count, "seed \(seed)")
    }

    private var count: Int { loads.count + elders.count }

    private var waiterCount: Int {
        (Array(loads.values) + Array(elders.values)).reduce(0) { $0 + $1.waiters.count }
    }

    /// A second load that was overtaken ends the first, whose waiters wait for the new one.
    private mutating func begin(_ key: EntryKey, _ number: Int, isKept: Bool) {
        var new = RunningLoad(number: number, waiters: [], isKept: isKept)
        if let overtaken = loads[key] {
            if let elder = elders.updateValue(overtaken, forKey: key), !elder.waiters.isEmpty {
                new.waiters = elder.waiters
                new.isKept = isKept || elder.isKept
            }
        }
        loads[key] = new
    }

    // MARK: Steps

    private mutating func ask(_ key: EntryKey) async throws {
        next += 1
        let (number, store, sources) = (next, setup.store, sources)
        let (takesStale, takesStaleIfError, isKept) = (chance(3), chance(3), chance(4))
        let options = LoadOptions(
            expiration: .after(.seconds(Self.age)),
            onLastWaiterCancelled: isKept ? .finish : .cancel,
            loadTimeout: nil
        )
        let task = Task {
            try await store.load(
                key,
                staleWhileRevalidate: .seconds(takesStale ? Self.staleWindow : 0),
                staleIfError: .seconds(takesStaleIfError ? Self.staleWindow : 0),
                options: options
            ) { try await sources.load(number) }
        }
        if let held = held[key], now < held.end {
            #expect(try await task.value == Loaded(held.value, .cached), "seed \(seed)")
        } else if takesStale, let held = held[key], now < held.end + Self.staleWindow {
            #expect(
                try await task.value == Loaded(held.value, .staleWhileRevalidate),
                "seed \(seed)"
            )
            guard loads[key]?.isOvertaken ?? true else { return }
            begin(key, number, isKept: true)
            await until("the loader of the refresh runs") { sources.isOpen(number) }
        } else {
            let isFirst = loads[key]?.isOvertaken ?? true
            if isFirst { begin(key, number, isKept: false) }
            loads[key]?.waiters.append(Waiter(task: task, takesStaleIfError: takesStaleIfError))
            if isKept { loads[key]?.isKept = true }
            let waiterCount = waiterCount
            await until("the caller waits, and the loader runs") {
                store.loads.waiterCount == waiterCount && (!isFirst || sources.isOpen(number))
            }
        }
    }

    private mutating func answer(_ key: EntryKey) async throws {
        let isElder = elders[key] != nil && (loads[key] == nil || chance(2))
        guard let load = isElder ? elders.removeValue(forKey: key) : loads.removeValue(forKey: key)
        else { return }
        let value = chance(4) ? nil : "loaded \(next)"
        if chance(4) {
            sources.answer(load.number, .failure(Outage()))
            await waitUntilIdle()
            for waiter in load.waiters { try await check(waiter, failed: key) }
            return
        }
        sources.answer(load.number, .success(value))
        for waiter in load.waiters {
            #expect(try await waiter.task.value == Loaded(value, .loaded), "seed \(seed)")
        }
        await waitUntilIdle()
        guard !load.isOvertaken else { return }
        held[key] = value.map { Held(value: $0, end: now + Self.age) }
    }

    private func check(_ waiter: Waiter, failed key: EntryKey) async throws {
        if waiter.takesStaleIfError, let held = held[key], now < held.end + Self.staleWindow {
            let source = now < held.end ? LoadSource.cached : .staleIfError
            #expect(try await waiter.task.value == Loaded(held.value, source), "seed \(seed)")
        } else {
            await #expect(throws: Outage.self, "seed \(seed)") { try await waiter.task.value }
        }
    }

    private mutating func cancel(_ key: EntryKey) async throws {
        guard var load = loads[key], !load.waiters.isEmpty else { return }
        let waiter = load.waiters.remove(at: .random(in: 0..<load.waiters.count, using: &random))
        waiter.task.cancel()
        await #expect(throws: CancellationError.self, "seed \(seed)") {
            try await waiter.task.value
        }
        loads[key] = load.waiters.isEmpty && !load.isKept ? nil : load
        if loads[key] == nil {
            await until("the loader is cancelled") { !sources.isOpen(load.number) }
        }
        await waitUntilIdle()
    }

    /// Waits until the running loads are those of the model.
    private func waitUntilIdle() async {
        await until("the loads of the model are running") { setup.store.loads.count == count }
    }

    private mutating func record(_ key: EntryKey) throws {
        next += 1
        try setup.store.record(
            "recorded \(next)",
            forKey: key,
            expiration: .after(.seconds(Self.age))
        )
        held[key] = Held(value: "recorded \(next)", end: now + Self.age)
        loads[key]?.isOvertaken = true
    }

    private mutating func remove(_ key: EntryKey) throws {
        try setup.store.remove(key)
        held[key] = nil
        loads[key]?.isOvertaken = true
    }

    private mutating func removeAll() throws {
        try setup.store.removeAll()
        held = [:]
        for key in loads.keys { loads[key]?.isOvertaken = true }
    }

    /// Removes an expired entry, which does not stop a load.
    private mutating func sweep(_ key: EntryKey) throws {
        guard let old = held[key], now >= old.end else { return }
        try ArchiveHarness(setup.disk, clock: setup.clock, isDelegate: false).write(key, .remove)
        setup.store.release(setup.store.memory.remove(key))
        held[key] = nil
    }
}
