import Foundation
import Shallows
import TestThreads
import Testing

/// "Synchronous storage": every test here is a synchronous function, but for the one of tasks.
@Suite(.ownThreads)
struct ShallowsSyncTests {
    @Test func everyKindHasASynchronousForm() throws {
        let memory = MemoryStorage<String, Int>()
        let storage: SyncStorage<String, Int> = memory.makeSyncStorage()
        let reading: ReadOnlySyncStorage<String, Int> = memory.asReadOnlyStorage().makeSyncStorage()
        let writing: WriteOnlySyncStorage<String, Int> = memory.asWriteOnlyStorage()
            .makeSyncStorage()
        try storage.set(1, forKey: "one")
        try writing.set(2, forKey: "two")
        #expect(try storage.retrieve(forKey: "two") == 2)
        #expect(try reading.retrieve(forKey: "one") == 1)
        #expect(throws: MemoryStorageError.noValue) { try reading.retrieve(forKey: "three") }
        #expect(storage.storageName.hasSuffix("-sync"))
    }

    @Test func theOneValueOfAVoidKeyNeedsNone() throws {
        let single = MemoryStorage<String, Int>().singleKey("only")
        let storage = single.makeSyncStorage()
        try storage.set(1)
        #expect(try storage.retrieve() == 1)
        #expect(try single.asReadOnlyStorage().makeSyncStorage().retrieve() == 1)
        try single.asWriteOnlyStorage().makeSyncStorage().set(2)
        #expect(try storage.retrieve() == 2)
    }

    @Test func compositionsAreSynchronousToo() throws {
        let (front, back) = (
            MemoryStorage<String, Int>(), MemoryStorage<String, Int>(storage: ["a": 1])
        )
        let storage = front.combined(with: back).defaulting(to: 0).makeSyncStorage()
        #expect(try storage.retrieve(forKey: "a") == 1)
        #expect(front.storage == ["a": 1])
        #expect(try storage.retrieve(forKey: "b") == 0)
        try storage.set(2, forKey: "b")
        #expect(back.storage == ["a": 1, "b": 2])
    }

    @Test func theyAreMadeOfFunctions() throws {
        let memory = MemoryStorage<String, Int>()
        let storage = SyncStorage<String, Int>(
            storageName: "functions",
            retrieve: { key in try memory.storage[key].unwrap() },
            set: { value, key in memory.storage[key] = value }
        )
        try storage.set(1, forKey: "one")
        #expect(try storage.retrieve(forKey: "one") == 1)
        #expect(
            try ReadOnlySyncStorage<Int, Int>(storageName: "reading", retrieve: { $0 * 2 })
                .retrieve(forKey: 2) == 4
        )
        #expect(throws: Broken()) {
            try WriteOnlySyncStorage<Int, Int>(
                storageName: "writing",
                set: { _, _ in throw Broken() }
            ).set(1, forKey: 1)
        }
    }

    /// A storage of a user's own that answers later is not waited for inside a task, where that
    /// could stop every other.
    @Test func aTaskIsNotBlocked() async throws {
        let isRefused = DispatchSemaphore(value: 0)
        let later = ReadOnlyStorage<String, Int>(
            storageName: "later",
            retrieve: { _, completion in
                Thread.detachNewThread {
                    isRefused.wait()
                    isRefused.signal()
                    completion(.success(1))
                }
            }
        )
        let storage = later.makeSyncStorage()
        let error = #expect(throws: ShallowsError.self) { try storage.retrieve(forKey: "a") }
        #expect(error?.code == .wouldBlock)
        isRefused.signal()
        let answers = Answers<Int>()
        func callSite() {
            DispatchQueue.global().async {
                answers.give((try? storage.retrieve(forKey: "a")) ?? -1)
            }
        }
        callSite()
        #expect(await answers.first == 1)
    }
}
