import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// Storages that answer synchronously are answered synchronously; others are waited for, and never
/// inside a task (S4, P25).
@Suite(.ownThreads)
struct SyncTests {
    /// Nothing that a late storage needs: its completion is called by hand.
    let late = Scripted("late").always(.retrieve, .held).always(.set, .held)

    private func expectRefusal(_ body: () throws -> some Any) {
        let error = #expect(throws: ShallowsError.self) { _ = try body() }
        #expect(error?.code == .wouldBlock && error?.message.contains("async") == true)
    }

    @Test
    func anImmediateStorageIsAnsweredInsideATask() throws {
        let storage = Scripted("own", ["a": 1]).combined(with: MemoryStorage<String, Int>())
            .makeSyncStorage()
        #expect(try storage.retrieve(forKey: "a") == 1)
        try storage.set(2, forKey: "b")
        #expect(try storage.retrieve(forKey: "b") == 2 && storage.storageName.hasSuffix("-sync"))
        #expect(try storage.retrieveIfPresent(forKey: "c") == nil)
        #expect(throws: Nothing.self) { try Scripted().makeSyncStorage().retrieve(forKey: "c") }
    }

    @Test
    func anImmediateStorageIsAskedAndAnswersOnTheCallersThread() throws {
        let threads = Locker<[ObjectIdentifier]>([])
        let note: @Sendable () -> Void = {
            threads.locked.withLock { $0.append(ObjectIdentifier(Thread.current)) }
        }
        let own = Scripted("own", ["a": 1]).always(.retrieve, .after(note)).always(
            .set,
            .after(note)
        )
        let storage = MemoryStorage<String, Int>().combined(with: own).synchronizedCalls()
            .mapValues(transformIn: { $0 }, transformOut: { $0 }).makeSyncStorage()
        try storage.set(1, forKey: "b")
        _ = try storage.retrieve(forKey: "a")
        #expect(
            threads.locked.withLock { $0 }
                == [ObjectIdentifier](repeating: ObjectIdentifier(Thread.current), count: 2)
        )
    }

    @Test
    func aLateStorageIsRefusedInsideATask() {
        let storage = late.makeSyncStorage()
        expectRefusal { try storage.retrieve(forKey: "a") }
        expectRefusal { try storage.set(1, forKey: "a") }
        expectRefusal { try TaskStorage().makeSyncStorage().retrieve(forKey: "a") }
        let validating = MemoryStorage<String, Int>(storage: ["a": 1]).validate { (_: Int) async in
            true
        }
        expectRefusal { try validating.makeSyncStorage().retrieve(forKey: "a") }
    }

    @Test
    func anAsynchronousFunctionIsNotAskedForACallThatIsRefused() throws {
        let asked = Counter()
        let storage = MemoryStorage<String, Int>(storage: ["a": 1])
        let validating = storage.validate { (_: Int) async in asked.add() > 0 }.makeSyncStorage()
        expectRefusal { try validating.retrieve(forKey: "a") }
        expectRefusal { try validating.set(2, forKey: "a") }
        #expect(asked.value == 0 && storage.storage == ["a": 1])
    }

    @Test
    func aLateStorageIsWaitedForOutsideOfTasks() async throws {
        let storage = late.makeSyncStorage()
        let retrieving = Task { try await onThread { try storage.retrieve(forKey: "a") } }
        let setting = Task { try await onThread { try storage.set(2, forKey: "b") } }
        await until("both calls are held") { late.held.count == 2 }
        while !late.held.isEmpty { late.release() }
        await #expect(throws: Nothing.self) { try await retrieving.value }
        try await setting.value
        #expect(late.contents == ["b": 2])
        let tasks = TaskStorage()
        try await onThread { try tasks.makeSyncStorage().set("x", forKey: "a") }
        #expect(try await onThread { try tasks.makeSyncStorage().retrieve(forKey: "a") } == "x")
    }

    @Test
    func aStorageThatIsLateSometimesIsRefusedThenOnly() throws {
        let storage = Scripted("own", ["a": 1]).answering(.retrieve, .normal, .held, .normal)
            .makeSyncStorage()
        #expect(try storage.retrieve(forKey: "a") == 1)
        expectRefusal { try storage.retrieve(forKey: "a") }
        #expect(try storage.retrieve(forKey: "a") == 1)
    }

    @Test
    func ourOwnThatAnswersLaterIsNotWaitedFor() throws {
        let storage = queueStorage("front", SerialQueue(), MemoryStorage<String, Int>())
            .combined(with: queueStorage("back", SerialQueue(), MemoryStorage(storage: ["a": 1])))
        let sync = storage.makeSyncStorage()
        #expect(try sync.retrieve(forKey: "a") == 1)
        try sync.set(2, forKey: "a")
        try sync.remove(forKey: "a")
        try sync.removeAll()
        #expect(try sync.retrieveIfPresent(forKey: "a") == nil)
    }

    // MARK: Refused wherever it would come to wait

    @Test
    func aRefusedCallDoesNotFailThoseThatMayWait() async throws {
        // While the back is being asked by the call that will be refused, another comes for the
        // same key.
        let (others, whole) = (Answers<Int>(), Locker<Storage<String, Int>?>(nil))
        let held = Locker<[@Sendable (ShallowsResult<Int>) -> Void]>([])
        let back = ReadOnlyStorage<String, Int>(storageName: "back") { key, completion in
            let isFirst = held.locked.withLock { held in
                held.append(completion)
                return held.count == 1
            }
            guard isFirst else { return }
            let joined = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                whole.locked.withLock { $0 }?.retrieve(forKey: key, completion: others.take)
                joined.signal()
            }
            joined.wait()
        }
        let storage = MemoryStorage<String, Int>().backed(by: back)
        whole.locked.withLock { $0 = storage }
        expectRefusal { try storage.makeSyncStorage().retrieve(forKey: "a") }
        #expect(others.isEmpty)
        for completion in held.locked.withLock({ $0 }) { completion(.success(1)) }
        #expect(try await others.first().get() == 1)
    }

    @Test
    func aCallThatMustNotBlockDoesNotJoinOneThatMay() async throws {
        let back = Scripted("back", ["a": 1])
        let storage = Scripted("front").combined(with: back)
        back.always(.retrieve, .held)
        let first = Task {
            try await onThread { try storage.makeSyncStorage().retrieve(forKey: "a") }
        }
        await until("the back is asked") { back.held.count == 1 }
        expectRefusal { try storage.makeSyncStorage().retrieve(forKey: "a") }
        back.release()
        #expect(try await first.value == 1)
    }

    @Test
    func callsThatMayWaitShareOneLoad() async throws {
        let back = Scripted("back", ["a": 1])
        let front = Scripted("front").always(.retrieve, .failing(Nothing()))
        let storage = front.combined(with: back)
        back.always(.retrieve, .held)
        let completing = storage.answers(forKey: "a")
        let waiting = Task {
            try await onThread { try storage.makeSyncStorage().retrieve(forKey: "a") }
        }
        let suspended = Task { try await storage.retrieve(forKey: "a") }
        await until("all have missed in the front") {
            front.asked.count { $0 == "retrieve a" } == 3
        }
        #expect(back.held.count == 1)
        // Whoever has not joined until now asks for himself, and is answered.
        back.always(.retrieve, .normal)
        back.release()
        #expect(completing.value == 1)
        #expect(try await waiting.value == 1)
        #expect(try await suspended.value == 1)
    }

    @Test
    func aCallThatWaitsForAKeyFailsWhenTheHolderMayBlock() async throws {
        let storage = Scripted("own", ["a": 1])
        let (entered, goOn) = (Counter(), DispatchSemaphore(value: 0))
        let holder = ReadOnlyStorage<String, Int>(storageName: "holder") { _, completion in
            entered.add()
            goOn.wait()
            storage.retrieve(forKey: "a", completion: completion)
        }
        storage.always(.retrieve, .held)
        let shared = holder.synchronizedCalls()
        let first = Answers<Int>()
        Thread.detachNewThread { shared.retrieve(forKey: "a", completion: first.take) }
        await until("the holder is asked") { entered.value == 1 }
        // In a task of the test: it blocks until the holder goes on.
        async let waiting = Result { try shared.makeSyncStorage().retrieve(forKey: "a") }
        goOn.signal()
        let outcome = await waiting
        let error = #expect(throws: ShallowsError.self) { try outcome.get() }
        #expect(error?.code == .wouldBlock)
        await until("the storage is asked") { !storage.held.isEmpty }
        storage.release()
        #expect(try await first.first().get() == 1)
    }

    @Test
    func aCallForAKeyWhoseHolderMayBlockFails() async throws {
        let storage = late.synchronizedCalls()
        let first = storage.setting(1, forKey: "a")
        expectRefusal { try storage.makeSyncStorage().set(2, forKey: "b") }
        let later = Task { try await storage.set(3, forKey: "c") }
        late.release()
        #expect(first.count == 1)
        await until("the last set is under way") { late.held == ["set c 3"] }
        late.release()
        try await later.value
        #expect(late.contents == ["a": 1, "c": 3])
    }

    @Test
    func aCallForAPairWhoseSideMayBlockFails() async {
        let pairs = zip(late.removable, Scripted("right").removable)
        let setting = pairs.setting((1, 2), forKey: "a")
        expectRefusal { try pairs.makeSyncStorage().set((3, 4), forKey: "a") }
        expectRefusal { try pairs.makeSyncStorage().retrieve(forKey: "a") }
        late.release()
        #expect(setting.count == 1)
    }

    @Test
    func aLineBehindALateLineIsLateToo() {
        // The outer mutex's holder waits for the inner mutex, whose holder waits for a
        // user-supplied storage.
        let inner = late.synchronizedCalls()
        let outer = inner.synchronizedCalls()
        let first = inner.setting(1, forKey: "a")
        let second = outer.setting(2, forKey: "a")
        expectRefusal { try outer.makeSyncStorage().set(3, forKey: "a") }
        late.release()
        #expect(first.count == 1 && second.isEmpty)
    }

    @Test
    func aSetThatWouldWaitForALateFillIsRefused() async {
        let back = MemoryStorage<String, Int>(storage: ["a": 1])
        let front = Scripted("front").answering(.set, .held)
        let storage = front.combined(with: back)
        let reading = storage.answers(forKey: "a")
        expectRefusal { try storage.makeSyncStorage().set(2, forKey: "a") }
        front.release()
        #expect(reading.value == 1)
        let sync = storage.makeSyncStorage()
        #expect(throws: Never.self) { try sync.set(3, forKey: "a") }
        #expect(front.contents == ["a": 3] && back.storage == ["a": 3])
        front.contents = [:]
        #expect(throws: Never.self) { try sync.retrieve(forKey: "a") }
        #expect(front.contents == ["a": 3], "a write that was refused leaves no trace in the gate")
    }

    @Test
    func aLoadThatComesToWaitForUserCodeIsNotWaitedForInATask() async {
        // The back is ours and answers later, and then asks a user-supplied storage.
        let back = queueStorage("queue", SerialQueue(), MemoryStorage<String, Int>()).asStorage()
            .combined(with: late)
        let storage = MemoryStorage<String, Int>().combined(with: back)
        let reading = storage.answers(forKey: "a")
        expectRefusal { try storage.makeSyncStorage().retrieve(forKey: "a") }
        await until("the storage is asked") { late.held.count == 1 }
        late.release()
        _ = await reading.first()
    }
}
