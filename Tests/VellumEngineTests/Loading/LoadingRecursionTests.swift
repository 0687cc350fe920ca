import Foundation
import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

/// P46: a loader that asks the store it loads for.
@Suite(.timeLimit(.minutes(60)))
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
            let b = try await store.value(forKey: "b") { try await other.value(forKey: "a") { "c" } + "b" }
            return b + "a"
        }
        #expect(value == "cba")
        #expect(try store.value(forKey: "b") == "cb")
    }

    @Test func aLoaderThatAsksForItsOwnKeyGetsAnErrorAndNoDeadlock() async throws {
        #expect(
            await isRecursive {
                try await store.value(forKey: "a") { [store] in try await store.value(forKey: "a") { "never" } }
            })
        #expect(try await store.value(forKey: "a") { "well" } == "well")
    }

    @Test func theErrorComesAlsoByWayOfOtherKeysStoresAndChildTasks() async throws {
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
            })
    }

    @Test func aLoaderThatCatchesTheErrorGoesOn() async throws {
        let value = try await store.value(forKey: "a") { [store] in
            do {
                return try await store.value(forKey: "a") { "never" }
            } catch let error as VellumError where error.code == .recursiveLoad {
                return "recovered"
            }
        }
        #expect(value == "recovered")
    }

    @Test func loadersThatAskForEachOthersKeysDoNotWaitForEver() async throws {
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
        await inA.wasAsked()
        await inB.wasAsked()
        inA.answer("")
        inB.answer("")
        // Whichever closes the circle is told; its error goes on to the other, by way of the loader.
        let (first, second) = (await isRecursive { try await a.value }, await isRecursive { try await b.value })
        #expect(first && second)
        #expect(store.loads.count == 0)
    }

    /// A task that outlives the loader it was started in is in no loader any more.
    @Test func whatALoaderLeavesBehindMayAskForItsKey() async throws {
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
            return "expires at once"
        }
        await gate.wasAsked()
        gate.answer("")
        #expect(try await left.withLock { $0 }?.value == "afterwards")
    }

    /// A wait that is over closes no circle.
    @Test func whatALoaderLeavesBehindMayAskForWhoWaitedForIt() async throws {
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
        await gate.wasAsked()
        await slow.wasAsked()
        gate.answer("")
        await setup.waiters(2)
        slow.answer("b")
        #expect(try await b == "ab")
        #expect(try await left.withLock { $0 }?.value == "ab")
    }

    @Test func aLoaderThatGetsTheOldValueOfItsOwnKeyDoesNotWait() async throws {
        let setup = try LoadingSetup()
        let (store, clock) = (setup.store, setup.clock)
        try store.record("old", forKey: "a", expiration: .after(.seconds(1)))
        clock.advance(by: .seconds(2))
        let value = try await store.value(forKey: "a") {
            try await store.value(forKey: "a", staleWhileRevalidate: .seconds(10)) { "never" } + " and new"
        }
        #expect(value == "old and new")
    }
}
