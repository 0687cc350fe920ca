import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// Many concurrent tasks on a few threads (P25).
@Suite(.ownThreads)
struct LoadingStampedeConcurrencyTests {
    let setup: LoadingSetup
    let counter = Counter()
    var store: Store<String> { setup.store }

    init() throws { setup = try LoadingSetup() }

    /// Fails without the lock of the loads.
    @Test func aThousandTasksRunOneLoaderForOneKey() async throws {
        let (store, counter, source) = (store, counter, Source())
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    try await store.value(forKey: "a") {
                        counter.increment()
                        return try await source.load()
                    }
                }
            }
            await setup.waitForWaiters(1000)
            await source.waitUntilCalled()
            source.answer("loaded")
            for try await value in group { #expect(value == "loaded") }
        }
        #expect(counter.value == 1)
        #expect(store.memory.isWatchingNothing)
        store.loads.checkInvariants()
    }

    /// Without waiting for all to be started: a late caller finds the loaded value.
    @Test func tasksThatStartAtDifferentTimesRunEachLoaderOnce() async throws {
        let (store, counter) = (store, counter)
        await withTaskGroup { group in
            for number in 0..<10_000 {
                group.addTask {
                    do {
                        let key = EntryKey("\(number % 50)")
                        let value = try await store.value(forKey: key) {
                            counter.increment()
                            // The source may answer later. Nothing depends on it.
                            await Task.yield()
                            return key.normalized
                        }
                        if value != key.normalized { Issue.record("Another key's value.") }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        #expect(counter.value == 50)
    }

    @Test func aThousandReadersStartOneRefresh() async throws {
        let (store, counter, source) = (store, counter, Source())
        try store.record("old", forKey: "a", expiration: .after(.seconds(1)))
        setup.clock.advance(by: .seconds(1))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    try await store.value(forKey: "a", staleWhileRevalidate: .seconds(60)) {
                        counter.increment()
                        return try await source.load()
                    }
                }
            }
            for try await value in group { #expect(value == "old") }
        }
        await source.waitUntilCalled()
        source.answer("new")
        await setup.waitUntilIdle()
        #expect(counter.value == 1)
        #expect(try store.value(forKey: "a") == "new")
    }

    @Test func cancellingHalfOfAThousandTasksDoesNotAffectTheOthers() async throws {
        let (store, source) = (store, Source())
        let tasks = (0..<1000).map { _ in
            Task { try await store.value(forKey: "a") { try await source.load() } }
        }
        await setup.waitForWaiters(1000)
        for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
        await setup.waitForWaiters(500)
        await source.waitUntilCalled()
        source.answer("loaded")
        for (number, task) in tasks.enumerated() {
            if number % 2 == 0 {
                await #expect(throws: CancellationError.self) { try await task.value }
            } else {
                #expect(try await task.value == "loaded")
            }
        }
        #expect(source.cancelled == 0)
    }

    /// After a change of the source and a removal of the entry, the old value is never read again.
    @Test(arguments: UInt64(0)..<2)
    func aRemovedValueStaysRemovedWhileManyTasksLoadIt(_ seed: UInt64) async throws {
        let (store, version) = (store, Counter())
        let keys: [EntryKey] = ["a", "b"]
        await withTaskGroup { group in
            for worker in 0..<6 {
                group.addTask {
                    var random = SeededGenerator(seed: seed * 100 + UInt64(worker))
                    for _ in 0..<100 {
                        let key = keys.randomElement(using: &random) ?? "a"
                        let task = Task {
                            try await store.value(forKey: key) {
                                let now = version.value
                                // The source may answer later. Nothing depends on it.
                                await Task.yield()
                                return "\(now)"
                            }
                        }
                        if Int.random(in: 0..<4, using: &random) == 0 { task.cancel() }
                        _ = await task.result
                    }
                }
            }
            group.addTask {
                for _ in 1...300 {
                    let round = version.increment()
                    do {
                        for key in keys { try store.remove(key) }
                        await pause()
                        for key in keys {
                            guard let found = try store.value(forKey: key), let old = Int(found),
                                old < round
                            else { continue }
                            Issue.record("Version \(old) came back after \(round), seed \(seed).")
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        await setup.waitUntilIdle()
        await until("no key is watched") { store.memory.isWatchingNothing }
        store.loads.checkInvariants()
        store.memory.checkInvariants()
    }

    /// Loaders that load one another's keys at random: every wait ends, with a value or a recursion
    /// error.
    @Test(arguments: UInt64(0)..<8)
    func loadersThatLoadOneAnothersKeysNeverDeadlock(_ seed: UInt64) async throws {
        let store = store
        await withTaskGroup { group in
            for worker in UInt64(0)..<50 {
                group.addTask {
                    _ = await Self.ask(store, SeededGenerator(seed: seed * 1000 + worker), depth: 6)
                }
            }
        }
        #expect(store.loads.count == 0 && store.loads.waiterCount == 0)
    }

    private static func ask(
        _ store: Store<String>,
        _ generator: SeededGenerator,
        depth: Int
    ) async -> Bool {
        var random = generator
        let key = EntryKey("\(Int.random(in: 0..<6, using: &random))")
        let rest = random
        do {
            // It expires immediately, so that every request is a load.
            _ = try await store.value(forKey: key, under: .after(.zero)) {
                // The source may answer later. Nothing depends on it.
                await Task.yield()
                if depth > 0, await !ask(store, rest, depth: depth - 1) { throw Outage() }
                return "loaded"
            }
            return true
        } catch {
            if !(error is Outage), (error as? VellumError)?.code != .recursiveLoad {
                Issue.record(error)
            }
            return false
        }
    }
}
