import Foundation
import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// Few threads and many who want one (P25). A call that waits never waits for what no thread is
/// left to do.
@Suite(.ownThreads)
struct ThreadConcurrencyTests {
    /// The threads of Swift's concurrency, and not those of the test: calls go on with few.
    private let few: any TaskExecutor = globalConcurrentExecutor

    /// Storages of this module: in memory, and in serial queues.
    private func ours() -> RemovableStorage<String, String> {
        let queues: [RemovableStorage<String, String>] = [queueStorage(), queueStorage()]
        let layers = MemoryStorage<String, String>().asRemovableStorage().combined(with: queues[0])
        let pairs = zip(layers, queues[1])
        return pairs.mapValues(transformIn: { $0.0 }, transformOut: { ($0, $0) })
            .synchronizedCalls()
    }

    @Test
    func aThousandTasksMayWaitForStoragesOfOurs() async throws {
        let storage = ours()
        try await storage.set("0", forKey: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask(executorPreference: few) {
                    let sync = storage.makeSyncStorage()
                    if number.isMultiple(of: 3) { try sync.set("\(number)", forKey: "a") }
                    _ = try sync.retrieve(forKey: "a")
                }
                if number.isMultiple(of: 5) {
                    group.addTask(executorPreference: few) {
                        _ = try await storage.retrieve(forKey: "a")
                    }
                }
                if number.isMultiple(of: 7) {
                    group.addTask(executorPreference: few) {
                        try await storage.setting("\(number)", forKey: "a").first().get()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test
    func everyThreadOfTheGlobalQueuesMayWaitForStoragesOfOurs() async throws {
        let storage = ours()
        try await storage.set("0", forKey: "a")
        let (done, failed) = (Counter(), Counter())
        for number in 0..<400 {
            // Those that wait hold every thread that there is; those that do not need one.
            DispatchQueue.global().async {
                do {
                    try storage.makeSyncStorage().set("\(number)", forKey: "a")
                    _ = try storage.makeSyncStorage().retrieve(forKey: "a")
                } catch { failed.add() }
                done.add()
            }
            storage.set("\(number)", forKey: "a") { _ in done.add() }
        }
        await until("every call has ended") { done.value == 800 }
        #expect(failed.value == 0)
    }

    @Test
    func missesThatWaitMayHoldEveryThread() async throws {
        // Each misses in memory, and the back is ours and asked by some who do not wait.
        let back = MemoryStorage<String, String>(storage: ["a": "1"])
        let front = MemoryStorage<String, String>()
        let storage = front.combined(with: queueStorage("queue", SerialQueue(), back).asStorage())
        let done = Counter()
        for _ in 0..<300 {
            storage.retrieve(forKey: "a") { _ in
                front.storage = [:]
                done.add()
            }
            DispatchQueue.global().async {
                _ = try? storage.makeSyncStorage().retrieve(forKey: "a")
                front.storage = [:]
                done.add()
            }
        }
        await until("every call has ended") { done.value == 600 }
    }

    @Test
    func tasksThatWouldWaitForALateStorageAreRefusedAndNotStuck() async throws {
        // Every thread of the pool comes for a storage whose answers need one of them.
        let own = TaskStorage()
        let storage = MemoryStorage<String, String>().combined(with: own).synchronizedCalls()
        let pairs = zip(storage, own)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask(executorPreference: few) {
                    do {
                        switch number % 4 {
                        case 0: try storage.makeSyncStorage().set("1", forKey: "a")
                        case 1: try pairs.makeSyncStorage().set(("1", "1"), forKey: "a")
                        case 2: _ = try storage.makeSyncStorage().retrieve(forKey: "b")
                        default: try await storage.set("2", forKey: "a")
                        }
                    } catch let error as ShallowsError {
                        #expect([.wouldBlock, .partiallySet].contains(error.code), "\(error)")
                    } catch is Absent {
                    } catch is ZippedResultError {}
                }
            }
            try await group.waitForAll()
        }
    }

    @Test
    func threadsOutsideOfTasksWaitForALateStorageWhileTasksAreRefused() async throws {
        let own = TaskStorage()
        try await own.set("1", forKey: "a")
        let storage = MemoryStorage<String, String>().backed(by: own)
        let done = Counter()
        for _ in 0..<20 {
            Thread.detachNewThread {
                _ = try? storage.makeSyncStorage().retrieve(forKey: "a")
                done.add()
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask(executorPreference: few) {
                    _ = try? storage.makeSyncStorage().retrieve(forKey: "a")
                }
            }
        }
        await until("every thread has its answer") { done.value == 20 }
        #expect(try await storage.retrieve(forKey: "a") == "1")
    }

    @Test
    func concurrentMissesWhileLoadsLandGetTheValue() async throws {
        for _ in 0..<50 {
            let back = Scripted("back", ["a": 1]).always(.retrieve, .late)
            let front = MemoryStorage<String, Int>()
            let storage = front.combined(with: back)
            await withTaskGroup { group in
                for _ in 0..<50 {
                    group.addTask { #expect((try? await storage.retrieve(forKey: "a")) == 1) }
                }
            }
            #expect(front.storage == ["a": 1])
        }
    }

    /// As above, with a back that answers when all have asked.
    @Test
    func concurrentMissesBeforeTheAnswerAreOneLoad() async throws {
        for _ in 0..<50 {
            let back = Scripted("back", ["a": 1]).answering(.retrieve, .held)
            let front = MemoryStorage<String, Int>()
            let storage = front.combined(with: back)
            let all = await withTaskGroup(of: Answers<Int>.self) { group in
                for _ in 0..<50 { group.addTask { storage.answers(forKey: "a") } }
                return await group.reduce(into: [Answers<Int>]()) { $0.append($1) }
            }
            #expect(back.asked == ["retrieve a"])
            back.release()
            for answers in all { #expect(await (try? answers.first().get()) == 1) }
            #expect(front.storage == ["a": 1])
        }
    }
}
