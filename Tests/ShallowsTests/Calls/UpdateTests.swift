import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// Updates exclude each other.
@Suite(.ownThreads)
struct UpdateTests {
    @Test
    func anUpdateGivesTheNewValueAndSetsIt() async throws {
        let storage = MemoryStorage<String, Int>(storage: ["a": 1])
        #expect(try await storage.update(forKey: "a") { $0 += 1 } == 2)
        #expect(storage.updating("a") { $0 += 1 }.value == 3)
        #expect(storage.storage == ["a": 3])
    }

    @Test
    func whatIsNotThereIsNotUpdatedUnlessThereIsADefault() async throws {
        let storage = MemoryStorage<String, Int>()
        await #expect(throws: MemoryStorageError.noValue) {
            try await storage.update(forKey: "a") { $0 += 1 }
        }
        #expect(try await storage.defaulting(to: 10).update(forKey: "a") { $0 += 1 } == 11)
    }

    @Test
    func aSetThatFailsFailsTheUpdate() {
        let storage = Scripted("own", ["a": 1]).always(.set, .failing(Outage()))
        #expect(storage.updating("a") { $0 += 1 }.error as? Outage == Outage())
        #expect(storage.contents == ["a": 1])
    }

    /// Storages that are one and the same, made anew for each call, under keys that are compared,
    /// cannot be, or come later.
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case own, async, closures, mapped, uncomparable, asyncKeys, single, combined, queue, zipped
        var testDescription: String { rawValue }

        struct Key: Sendable {
            var name: String
        }

        typealias Update = @Sendable () async throws -> Void

        var storage: (update: Update, value: @Sendable () async throws -> Int) {
            let increment: @Sendable (inout Int) -> Void = { $0 += 1 }
            func of<Key: Sendable>(
                _ make: @escaping @Sendable () -> Storage<Key, Int>,
                _ key: Key
            ) -> (Update, @Sendable () async throws -> Int) {
                (
                    { try await make().update(forKey: key, increment) },
                    { try await make().retrieve(forKey: key) }
                )
            }
            let scripted = Scripted("own", ["a": 0]).always(.retrieve, .late).always(.set, .late)
            switch self {
            case .own: return of({ scripted.asStorage() }, "a")
            case .async:
                let numbers = AsyncNumbers()
                return (
                    { try await numbers.update(forKey: "a", increment) },
                    { try await numbers.retrieve(forKey: "a") }
                )
            case .closures:
                let storage = Storage<String, Int>(
                    storageName: "closures",
                    retrieve: { scripted.retrieve(forKey: $0, completion: $1) },
                    set: { scripted.set($0, forKey: $1, completion: $2) }
                )
                return of({ storage.defaulting(to: 0) }, "a")
            case .mapped:
                return of(
                    {
                        scripted.mapKeys { (_: Int) in "a" }.mapValues(
                            transformIn: { -$0 },
                            transformOut: { -$0 }
                        ).defaulting(to: 0)
                    },
                    1
                )
            case .uncomparable:
                let keyed = scripted.mapKeys { (key: Key) in key.name }
                return of({ keyed }, Key(name: "a"))
            case .asyncKeys:
                let keyed = scripted.asyncMapKeys { (key: Int) async in key > 0 ? "a" : "b" }
                return of({ keyed }, 1)
            case .single: return of({ scripted.singleKey("a") }, ())
            case .combined:
                let storage = MemoryStorage<String, Int>().combined(with: scripted)
                return of({ storage }, "a")
            case .queue:
                let storage = queueStorage("queue", SerialQueue(), MemoryStorage(storage: ["a": 0]))
                    .asStorage()
                return of({ storage }, "a")
            case .zipped:
                let pairs = zip(scripted, Scripted("right", ["a": 0]))
                return (
                    { try await pairs.update(forKey: "a") { $0 = ($0.0 + 1, $0.1 + 1) } },
                    {
                        let pair = try await pairs.retrieve(forKey: "a")
                        #expect(abs(pair.0) == abs(pair.1))
                        return pair.0
                    }
                )
            }
        }
    }

    @Test(arguments: Way.allCases)
    func noUpdateIsLost(_ way: Way) async throws {
        let (storage, count) = (way.storage, LongRun.number(200, usually: 60))
        try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await storage.update() } }
            try await group.waitForAll()
        }
        #expect(try await abs(storage.value()) == count)
    }

    @Test
    func tenThousandUpdatesOfOneKeyAllCount() async throws {
        let storage = Scripted("own", ["a": 0]).always(.retrieve, .late)
        let done = Counter()
        let count = LongRun.number(10_000, usually: 2_500)
        for _ in 0..<count {
            storage.update(forKey: "a", { $0 += 1 }, completion: { _ in done.add() })
        }
        await until("all updates have ended") { done.value == count }
        #expect(storage.contents == ["a": count])
    }

    @Test
    func thirtyThousandUpdatesMayWaitForOne() async throws {
        let storage = MemoryStorage<String, Int>(storage: ["a": 0])
        let first = Scripted("first", ["a": 0]).answering(.retrieve, .held)
        // Both have one lock key: that of the storage that is read.
        let held = Storage(
            storageName: "held",
            read: first.asReadOnlyStorage(),
            write: storage.asWriteOnlyStorage()
        )
        let done = Counter()
        let count = LongRun.number(30_000, usually: 8000)
        for _ in 0..<count {
            held.update(forKey: "a", { $0 += 1 }, completion: { _ in done.add() })
        }
        #expect(first.asked.count == 1)
        first.release()
        await until("all updates have ended") { done.value == count }
        #expect(
            storage.storage == ["a": 1],
            "each reads what the first has, and that does not change"
        )
    }

    @Test
    func updatesOfDifferentKeysDoNotWaitForEachOther() {
        let storage = Scripted("own", ["a": 1, "b": 1]).answering(.retrieve, .held)
        let held = storage.updating("a") { $0 += 1 }
        #expect(storage.updating("b") { $0 += 1 }.value == 2 && held.isEmpty)
        storage.release()
        #expect(held.value == 2)
    }

    @Test
    func updatesOfDifferentStoragesDoNotWaitForEachOther() {
        func closures(_ storage: Scripted) -> Storage<String, Int> {
            Storage(
                storageName: "closures",
                retrieve: { storage.retrieve(forKey: $0, completion: $1) },
                set: { storage.set($0, forKey: $1, completion: $2) }
            )
        }
        let (one, other) = (
            Scripted("one", ["a": 1]).answering(.retrieve, .never), Scripted("other", ["a": 1])
        )
        let never = closures(one).updating("a") { $0 += 1 }
        #expect(closures(other).updating("a") { $0 += 1 }.value == 2 && never.isEmpty)
    }

    @Test
    func aStorageMayBeUpdatedByAnotherThatIsBeingUpdated() {
        // As a storage of closures that counts in another one what is set to it.
        let inner = Scripted("inner", ["a": 0])
        let counts = Storage<String, Int>(
            storageName: "counts",
            retrieve: { inner.retrieve(forKey: $0, completion: $1) },
            set: { inner.set($0, forKey: $1, completion: $2) }
        )
        let counting = Storage<String, Int>(
            storageName: "counting",
            retrieve: { counts.retrieve(forKey: $0, completion: $1) },
            set: { _, key, completion in
                counts.update(forKey: key, { $0 += 1 }, completion: { completion($0.map { _ in }) })
            }
        )
        #expect(counting.updating("a") { $0 += 5 }.count == 1)
        #expect(inner.contents == ["a": 1])
    }

    @Test
    func aCompletionOfAnUpdateMayUpdateTheSameKey() async {
        let storage = MemoryStorage<String, Int>(storage: ["a": 0])
        let inner = Answers<Int>()
        storage.update(
            forKey: "a",
            { $0 += 1 },
            completion: { _ in storage.update(forKey: "a", { $0 += 1 }, completion: inner.take) }
        )
        #expect(await (try? inner.first().get()) == 2)
        let sync = storage.makeSyncStorage()
        storage.update(
            forKey: "a",
            { $0 += 1 },
            completion: { _ in inner.take(Result { try sync.update(forKey: "a") { $0 += 1 } }) }
        )
        #expect(storage.storage == ["a": 4])
    }

    @Test
    func anUpdateThatIsAskedForDuringAnotherComesAfterIt() async {
        let storage = MemoryStorage<String, Int>(storage: ["a": 0])
        let inner = Answers<Int>()
        let outer = storage.updating("a") { value in
            storage.update(forKey: "a", { $0 += 1 }, completion: inner.take)
            value += 10
        }
        #expect(outer.value == 10)
        _ = await inner.first()
        #expect(storage.storage == ["a": 11])
    }

    @Test
    func anUpdateThatIsCancelledInLineIsNotMade() async throws {
        let storage = Scripted("own", ["a": 1]).answering(.retrieve, .held)
        let first = storage.updating("a") { $0 += 1 }
        let task = Task { try await storage.update(forKey: "a") { $0 += 100 } }
        let last = Task { try await storage.update(forKey: "a") { $0 += 10 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(first.isEmpty, "it is cancelled while it waits")
        storage.release()
        #expect(try await last.value == 12 || storage.contents == ["a": 12])
    }

    @Test
    func anUpdateThatNoOneWaitsForMayFail() {
        let storage = Scripted("own").always(.retrieve, .failing(Outage()))
        storage.update(forKey: "a", { $0 += 1 })
        #expect(storage.asked == ["retrieve a"])
    }
}

/// Answers later; no test depends on how much later.
private final class AsyncNumbers: AsyncStorageProtocol {
    typealias Key = String
    typealias Value = Int
    private let numbers = Locked<[String: Int]>([:])

    func retrieve(forKey key: String) async throws -> Int {
        await Task.yield()
        return numbers.withLock { $0[key] ?? 0 }
    }

    func set(_ value: Int, forKey key: String) async throws {
        await Task.yield()
        numbers.withLock { $0[key] = value }
    }
}
