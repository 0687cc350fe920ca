import Foundation
import Shallows
import TestThreads
import Testing

// Storages of a user's own, as the document says to make them: "define these two methods". No type
// here says what it is isolated to, nor which keys and values it has.

/// A class, "responsible for the thread-safety". Unchecked because `values` is protected by `lock`.
private final class MyStorage: StorageProtocol, @unchecked Sendable {
    private let lock = NSLock()
    private var values: [String: Int] = [:]

    func retrieve(forKey key: String, completion: @escaping (Result<Int, Error>) -> ()) {
        guard let value = lock.withLock({ values[key] }) else {
            completion(.failure(Broken(reason: "not here")))
            return
        }
        completion(.success(value))
    }

    func set(_ value: Int, forKey key: String, completion: @escaping (Result<Void, Error>) -> ()) {
        lock.withLock { values[key] = value }
        completion(.success(()))
    }
}

/// The same with completions that may be called from another thread, which it does.
private final class QueuedStorage: StorageProtocol {
    private let queue = DispatchQueue(label: "queued")
    private let values = MemoryStorage<String, Int>()

    func retrieve(forKey key: String, completion: @escaping @Sendable (ShallowsResult<Int>) -> Void)
    {
        queue.async { self.values.retrieve(forKey: key, completion: completion) }
    }

    func set(
        _ value: Int,
        forKey key: String,
        completion: @escaping @Sendable (ShallowsResult<Void>) -> Void
    ) {
        queue.async { self.values.set(value, forKey: key, completion: completion) }
    }
}

/// A struct around storages of this module, with a name of its own.
private struct Wrapper: StorageProtocol {
    let storageName = "wrapper"
    let underlying: Storage<String, Int>

    func retrieve(forKey key: String, completion: @escaping @Sendable (Result<Int, Error>) -> ()) {
        underlying.retrieve(forKey: key, completion: completion)
    }

    func set(
        _ value: Int,
        forKey key: String,
        completion: @escaping @Sendable (Result<Void, Error>) -> ()
    ) {
        underlying.set(value, forKey: key, completion: completion)
    }
}

/// "You can also conform to a ReadOnlyStorageProtocol only."
private struct Squares: ReadOnlyStorageProtocol {
    func retrieve(forKey key: Int, completion: @escaping (Result<Int, Error>) -> ()) {
        completion(.success(key * key))
    }
}

private struct Recorder: WriteOnlyStorageProtocol {
    let answers = Answers<String>()

    func set(_ value: String, forKey key: Int, completion: @escaping (Result<Void, Error>) -> ()) {
        answers.give("\(key): \(value)")
        completion(.success(()))
    }
}

/// A storage of any values, of which a user says what they are.
private struct Constant<Element: Sendable>: ReadOnlyStorageProtocol {
    typealias Key = Void
    typealias Value = Element
    var element: Element

    func retrieve(forKey key: Void, completion: @escaping (Result<Element, Error>) -> ()) {
        completion(.success(element))
    }
}

/// "Making your own storage"
@Suite(.ownThreads)
struct ShallowsOwnStorageTests {
    @Test func aStorageOfTwoMethodsIsAStorage() async throws {
        let storage = MyStorage().asStorage()
        let typed: Storage<String, Int> = storage
        try await typed.set(1, forKey: "one")
        #expect(try await typed.retrieve(forKey: "one") == 1)
        await #expect(throws: Broken(reason: "not here")) {
            try await typed.retrieve(forKey: "two")
        }
    }

    @Test func aStorageThatAnswersLaterIsAStorage() async throws {
        let storage = QueuedStorage()
        try await storage.set(1, forKey: "one")
        #expect(try await storage.retrieve(forKey: "one") == 1)
        #expect(try await storage.update(forKey: "one") { $0 += 1 } == 2)
    }

    @Test func itIsCalledWithCompletionsToo() async {
        let answers = Answers<Int>()
        func callSite() {
            let storage = QueuedStorage()
            storage.set(1, forKey: "one")
            storage.retrieve(forKey: "one") { result in answers.give((try? result.get()) ?? -1) }
        }
        callSite()
        #expect(await answers.first == 1)
    }

    /// Every transform and composition follows.
    @Test func itIsMappedAndComposed() async throws {
        let own = MyStorage()
        let texts = own.mapValues(
            transformIn: { String($0) },
            transformOut: { try Int($0).unwrap() }
        ).mapKeys { (key: Int) in "\(key)" }
        try await texts.set("7", forKey: 1)
        #expect(try await own.retrieve(forKey: "1") == 7)

        let memory = MemoryStorage<String, Int>()
        let combined = memory.combined(with: own)
        #expect(try await combined.retrieve(forKey: "1") == 7)
        #expect(memory.storage == ["1": 7])
        let inFront = own.combined(with: memory)
        memory.storage["2"] = 2
        #expect(try await inFront.retrieve(forKey: "2") == 2)
        #expect(try await own.retrieve(forKey: "2") == 2)

        let zipped = zip(own, memory)
        #expect(try await zipped.retrieve(forKey: "1") == (7, 7))
        #expect(try await own.singleKey("2").retrieve() == 2)
        #expect(try await own.defaulting(to: 0).retrieve(forKey: "3") == 0)
        #expect(try own.makeSyncStorage().retrieve(forKey: "1") == 7)
    }

    @Test func itIsNamedForItsTypeOrAsItSays() {
        #expect(MyStorage().storageName == "MyStorage")
        let wrapper = Wrapper(underlying: MyStorage().asStorage())
        #expect(wrapper.asStorage().storageName == "wrapper")
        #expect(wrapper.combined(with: MyStorage()).storageName == "wrapper<->MyStorage")
    }

    @Test func itsCompletionsMayBePassedOn() async throws {
        let wrapper = Wrapper(underlying: MemoryStorage().asStorage())
        try await wrapper.set(1, forKey: "one")
        #expect(try await wrapper.retrieve(forKey: "one") == 1)
        await #expect(throws: MemoryStorageError.noValue) {
            try await wrapper.retrieve(forKey: "two")
        }
    }

    /// "That way, you only need to define a retrieve(forKey:completion:) method."
    @Test func aReadOnlyStorageIsOneMethod() async throws {
        let squares: ReadOnlyStorage<Int, Int> = Squares().asReadOnlyStorage()
        #expect(try await squares.retrieve(forKey: 3) == 9)
        #expect(try await Squares().mapValues { "\($0)" }.retrieve(forKey: 4) == "16")
        let memory = MemoryStorage<Int, Int>()
        #expect(try await memory.backed(by: Squares()).retrieve(forKey: 5) == 25)
        #expect(memory.storage == [5: 25])
        #expect(try Squares().makeSyncStorage().retrieve(forKey: 6) == 36)
        #expect(try await Constant(element: "constant").retrieve() == "constant")
    }

    @Test func aWriteOnlyStorageIsOneMethod() async throws {
        let recorder = Recorder()
        let typed: WriteOnlyStorage<Int, String> = recorder.asWriteOnlyStorage()
        try await typed.set("one", forKey: 1)
        try await recorder.mapValues { (number: Int) in "\(number)" }.set(2, forKey: 2)
        try await MemoryStorage<Int, String>().pushing(to: recorder).set("three", forKey: 3)
        #expect(await recorder.answers.first(3) == ["1: one", "2: 2", "3: three"])
    }

    /// Without a type: of closures, with completions and without.
    @Test func storagesAreMadeOfClosures() async throws {
        let memory = MemoryStorage<String, Int>()
        let completing = Storage<String, Int>(
            storageName: "closures",
            retrieve: { key, completion in memory.retrieve(forKey: key, completion: completion) },
            set: { value, key, completion in
                memory.set(value, forKey: key, completion: completion)
            }
        )
        let asynchronous = Storage<String, Int>(
            storageName: "functions",
            retrieve: { key in try await memory.retrieve(forKey: key) },
            set: { value, key in try await memory.set(value, forKey: key) }
        )
        try await completing.set(1, forKey: "one")
        #expect(try await asynchronous.retrieve(forKey: "one") == 1)
        try await asynchronous.set(2, forKey: "two")
        #expect(try await completing.retrieve(forKey: "two") == 2)
        #expect(completing.storageName == "closures")

        let halves = Storage(
            read: Squares().asReadOnlyStorage(),
            write: MemoryStorage<Int, Int>().asWriteOnlyStorage()
        )
        try await halves.set(0, forKey: 3)
        #expect(try await halves.retrieve(forKey: 3) == 9)
        #expect(halves.storageName == "Squares")

        let reading = ReadOnlyStorage<Int, Int>(
            storageName: "reading",
            retrieve: { key, completion in completion(.success(-key)) }
        )
        let writing = WriteOnlyStorage<Int, Int>(
            storageName: "writing",
            set: { _, _, completion in completion(.failure(Broken())) }
        )
        #expect(try await reading.retrieve(forKey: 1) == -1)
        await #expect(throws: Broken()) { try await writing.set(1, forKey: 1) }
    }
}
