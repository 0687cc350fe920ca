import Foundation
import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// P46: a loader that calls its own store.
@Suite(.ownThreads)
struct LoadingRecursionTests {
    let store: Store<String>
    let other: Store<String>

    init() throws {
        store = try LoadingSetup().store
        other = try LoadingSetup().store
    }

    private func isRecursive(_ body: () async throws -> String) async -> Bool {
        do {
            _ = try await body()
            return false
        } catch {
            return (error as? VellumError)?.code == .recursiveLoad
        }
    }

    @Test func aLoaderMayUseOtherKeys() async throws {
        let value = try await store.value(forKey: "a") { [store, other] in
            let b = try await store.value(forKey: "b") {
                try await other.value(forKey: "a") { "c" } + "b"
            }
            return b + "a"
        }
        #expect(value == "cba")
        #expect(try store.value(forKey: "b") == "cb")
    }

    @Test func aLoaderThatLoadsItsOwnKeyGetsAnError() async throws {
        #expect(
            await isRecursive {
                try await store.value(forKey: "a") { [store] in
                    try await store.value(forKey: "a") { "never" }
                }
            }
        )
        #expect(try await store.value(forKey: "a") { "well" } == "well")
    }

    @Test func recursionIsDetectedThroughOtherKeysStoresAndChildTasks() async throws {
        #expect(
            await isRecursive {
                try await store.value(forKey: "a") { [store, other] in
                    try await other.value(forKey: "a") {
                        async let child = store.value(forKey: "b") {
                            try await Task { try await store.value(forKey: "a") { "never" } }.value
                        }
                        return try await child
                    }
                }
            }
        )
    }

    @Test func aLoaderMayCatchTheRecursionError() async throws {
        let value = try await store.value(forKey: "a") { [store] in
            do {
                return try await store.value(forKey: "a") { "never" }
            } catch let error as VellumError where error.code == .recursiveLoad {
                return "recovered"
            }
        }
        #expect(value == "recovered")
    }

    @Test func loadersThatLoadEachOthersKeysDoNotDeadlock() async throws {
        let (inA, inB) = (Source(), Source())
        let store = store
        let a = Task {
            try await store.value(forKey: "a") {
                _ = try await inA.load()
                return try await store.value(forKey: "b") { "b for a" } + "a"
            }
        }
        let b = Task {
            try await store.value(forKey: "b") {
                _ = try await inB.load()
                return try await store.value(forKey: "a") { "a for b" } + "b"
            }
        }
        await inA.waitUntilCalled()
        await inB.waitUntilCalled()
        inA.answer("")
        inB.answer("")
        // The call that closes the cycle gets the error; the loader passes it on to the other.
        let (first, second) = (
            await isRecursive { try await a.value }, await isRecursive { try await b.value }
        )
        #expect(first && second)
        #expect(store.loads.count == 0)
    }

    /// A task that outlives the loader that started it no longer belongs to it.
    @Test func aTaskThatOutlivesItsLoaderMayLoadTheKey() async throws {
        let left = Locked<Task<String, any Error>?>(nil)
        let gate = Source()
        let store = store
        let options = LoadOptions(expiration: .after(.zero))
        _ = try await store.value(forKey: "a", options: options) {
            let task = Task {
                _ = try await gate.load()
                return try await store.value(forKey: "a") { "afterwards" }
            }
            left.withLock { $0 = task }
            return "expires immediately"
        }
        await gate.waitUntilCalled()
        gate.answer("")
        #expect(try await left.withLock { $0 }?.value == "afterwards")
    }

    /// A wait that has ended closes no cycle.
    @Test func aTaskThatOutlivesItsLoaderMayLoadTheKeyOfAFormerWaiter() async throws {
        let setup = try LoadingSetup()
        let (store, gate, slow) = (setup.store, Source(), Source())
        let left = Locked<Task<String, any Error>?>(nil)
        async let b = store.value(forKey: "b") {
            let a = try await store.value(forKey: "a") {
                let task = Task {
                    _ = try await gate.load()
                    return try await store.value(forKey: "b") { "never" }
                }
                left.withLock { $0 = task }
                return "a"
            }
            return try await a + slow.load()
        }
        await gate.waitUntilCalled()
        await slow.waitUntilCalled()
        gate.answer("")
        await setup.waitForWaiters(2)
        slow.answer("b")
        #expect(try await b == "ab")
        #expect(try await left.withLock { $0 }?.value == "ab")
    }

    @Test func aLoaderMayReadTheStaleValueOfItsOwnKey() async throws {
        let setup = try LoadingSetup()
        let (store, clock) = (setup.store, setup.clock)
        try store.record("old", forKey: "a", expiration: .after(.seconds(1)))
        clock.advance(by: .seconds(2))
        let value = try await store.value(forKey: "a") {
            try await store.value(forKey: "a", staleWhileRevalidate: .seconds(10)) { "never" }
                + " and new"
        }
        #expect(value == "old and new")
    }
}
