import TestThreads
import Testing

@testable import Shallows

/// Sets of one key reach both layers in one order.
@Suite(.ownThreads)
struct SetOrderTests {
    @Test
    func concurrentSetsOfOneKeyLeaveBothLayersTheSame() async {
        let (front, back) = (Scripted("front"), Scripted("back"))
        back.answering(.set, .delayed, .delayed, .delayed)
        let storage = front.combined(with: back)
        let answers = (1...3).map { storage.setting($0, forKey: "a") }
        let other = storage.setting(9, forKey: "b")
        for _ in 0..<3 {
            await until("the back is being set") { !back.held.isEmpty }
            back.release()
        }
        for answer in answers { _ = await answer.first() }
        #expect(other.error == nil)
        #expect(front.contents == back.contents && front.contents["a"] == 3)
    }

    @Test
    func aSetOfAnotherKeyFromInsideASetWaitsForNothing() {
        let back = Scripted("back")
        let front = Scripted("front")
        let storage = front.combined(with: back)
        front.answering(
            .set,
            .after {
                for number in 0..<200 { storage.set(number, forKey: "\(number)") }
            }
        )
        #expect(storage.setting(1, forKey: "a").error == nil)
        #expect(front.contents.count == 201 && front.contents == back.contents)
    }

    /// A storage of the user's may take any time: a task must not be blocked for it, even if a
    /// thread that waits got there first.
    @Test
    func aSyncSetInATaskFailsWhileAThreadSetsTheKey() async throws {
        let back = Scripted("back").answering(.set, .held)
        let sync = MemoryStorage<String, Int>().asStorage().combined(with: back.asStorage())
            .makeSyncStorage()
        async let onThread: Void = onThread { try sync.set(1, forKey: "a") }
        await until("the back is being set") { !back.held.isEmpty }
        #expect(throws: ShallowsError.self) { try sync.set(2, forKey: "a") }
        back.release()
        try await onThread
        #expect(back.contents["a"] == 1)
    }

    @Test
    func aSetWaitsForNoOtherKey() async throws {
        let back = Scripted("back").answering(.set, .held)
        let storage = MemoryStorage<String, Int>().asStorage().combined(with: back.asStorage())
        let sync = storage.makeSyncStorage()
        async let onThread: Void = onThread { try sync.set(1, forKey: "a") }
        await until("the back is being set") { !back.held.isEmpty }
        // Some of them share what keeps the sets of one key in order.
        for number in 0..<500 { try await storage.set(number, forKey: "\(number)") }
        back.release()
        try await onThread
        #expect(back.contents.count == 501)
    }

    @Test
    func anUpdateInsideAnUpdateOfTheSameKeyIsRefusedRatherThanHung() throws {
        let memory = MemoryStorage<String, Int>(storage: ["a": 1])
        let sync = memory.makeSyncStorage()
        let inner = Locker<(any Error)?>(nil)
        try sync.update(forKey: "a") { value in
            value += 1
            do { _ = try sync.update(forKey: "a") { $0 += 10 } } catch {
                inner.locked.withLock { $0 = error }
            }
        }
        #expect((inner.locked.withLock { $0 } as? ShallowsError)?.code == .recursiveCall)
        #expect(memory.storage["a"] == 2)
    }

    /// What a cancelled call, or one that was refused, did not find is not nothing.
    @Test
    func aDefaultDoesNotStandInForACallThatWasCancelled() async {
        let memory = MemoryStorage<String, [Int]>()
        let gate = AsyncStream.makeStream(of: Void.self)
        let back = Storage<String, [Int]>(
            storageName: "slow",
            retrieve: { _ in
                for await _ in gate.stream {}
                try Task.checkCancellation()
                return [1, 2, 3]
            },
            set: { _, _ in }
        )
        let cache = memory.combined(with: back)
        let task = Task { try await cache.defaulting(to: []).update(forKey: "k") { $0.append(10) } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(memory.storage.isEmpty)
    }

    @Test
    func aFrontThatTakesNoValueKeepsNoneFromTheLayerBehindIt() {
        let (first, second) = (
            Scripted("first").always(.set, .failing(Outage())), Scripted("second")
        )
        let storage = first.combined(with: second).combined(with: Scripted("third", ["a": 1]))
        #expect(storage.answers(forKey: "a").value == 1)
        #expect(second.contents == ["a": 1])
    }

    @Test
    func reportingHearsOfASetThatNoOneWaitedFor() {
        let reports = Reports()
        let storage = Scripted().always(.set, .failing(Outage())).reporting(reports.take)
        storage.set(1, forKey: "a")
        #expect(reports.events == [.setFailed])
    }

    @Test(arguments: [Double.nan, -Double.infinity, 0.0])
    func limitsHoldWhateverTheKeys(odd: Double) throws {
        let storage = try LRUStorage<Double, Int>(maxCount: 10)
        let sync = storage.makeSyncStorage()
        for number in 0..<100 {
            try sync.set(number, forKey: odd)
            try sync.set(number, forKey: Double(number))
        }
        #expect(storage.totals.entries == 10)
        storage.trim(toCount: 0)
        #expect(storage.totals.entries == 0)
    }

    @Test
    func costsThatAreTooLargeToBeAddedAreNot() throws {
        let storage = try LRUStorage<String, Int>(maxBytes: DataSize(bytes: .max)) { $0 }
            .makeSyncStorage()
        try storage.set(.max, forKey: "a")
        try storage.set(.max, forKey: "b")
        #expect(try storage.retrieve(forKey: "b") == .max)
        #expect(try storage.retrieveIfPresent(forKey: "a") == nil)
    }
}
