import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// What the transforms promise that no law says.
@Suite(.ownThreads)
struct TransformTests {
    enum City: String, Sendable { case kharkiv, lviv }

    @Test
    func keysAndValuesMayBeWhatStandsForThem() async throws {
        let memory = MemoryStorage<String, String>()
        let cities = memory.mapKeys(toRawRepresentableType: City.self).mapValues(
            toRawRepresentableType: City.self
        )
        try await cities.set(.lviv, forKey: .kharkiv)
        #expect(memory.storage == ["kharkiv": "lviv"])
        memory.storage = ["kharkiv": "atlantis"]
        await #expect(throws: City?.UnwrapError.self) {
            try await cities.retrieve(forKey: .kharkiv)
        }
    }

    @Test
    func aStorageOfOneKeyNeedsNone() async throws {
        let memory = MemoryStorage<String, Int>()
        let single = memory.singleKey("a")
        try await single.set(1)
        #expect(try await single.retrieve() == 1)
        #expect(try single.makeSyncStorage().retrieve() == 1)
        try single.makeSyncStorage().set(2)
        #expect(memory.storage == ["a": 2])
        let answers = Answers<Int>()
        single.update({ $0 += 1 }, completion: answers.take)
        single.retrieve(completion: answers.take)
        #expect(answers.all.compactMap { try? $0.get() } == [3, 3])
    }

    @Test
    func aValueThatIsNotValidIsAMissAndIsNotTaken() async throws {
        let (memory, back) = (
            MemoryStorage<String, Int>(storage: ["a": -1]),
            MemoryStorage<String, Int>(storage: ["a": 1])
        )
        for valid in [memory.validate { $0 > 0 }, memory.validate { value async in value > 0 }] {
            memory.storage = ["a": -1]
            #expect(try await valid.retrieveIfPresent(forKey: "a") == nil)
            await #expect(throws: ValueValidationError.self) {
                try await valid.retrieve(forKey: "a")
            }
            #expect(try await valid.combined(with: back).retrieve(forKey: "a") == 1)
            #expect(memory.storage == ["a": 1])
            await #expect(throws: ValueValidationError.self) {
                try await valid.set(-2, forKey: "a")
            }
            #expect(memory.storage == ["a": 1])
        }
    }

    @Test
    func aFallbackGetsTheErrorAsItWasThrown() async throws {
        let own = Scripted("own").answering(.retrieve, .failing(Outage(number: 3)), .normal)
        let errors = Locker<[String]>([])
        let storage = own.fallback { error in
            errors.locked.withLock { $0.append(String(describing: type(of: error))) }
            if error is Nothing { throw error }
            return 7
        }
        #expect(try await storage.retrieve(forKey: "a") == 7)
        #expect(try await storage.retrieveIfPresent(forKey: "a") == nil)
        #expect(errors.locked.withLock { $0 } == ["Outage", "Nothing"])
    }

    @Test
    func aDefaultIsMadeAnewEachTime() async throws {
        let count = Counter()
        let storage = MemoryStorage<String, Int>().defaulting(to: count.add())
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(try await storage.retrieve(forKey: "a") == 2)
    }

    @Test
    func callsOfASynchronizedStorageAndOfItsLayersFollowOneAnother() async throws {
        let (front, back) = (
            Scripted("front"), Scripted("back", ["a": 1]).answering(.retrieve, .held)
        )
        let storage = front.removable.combined(with: back).synchronizedCalls()
        let reading = storage.answers(forKey: "a")
        let (setting, clearing) = (storage.setting(2, forKey: "b"), storage.layers[1].removingAll())
        #expect(setting.isEmpty && clearing.isEmpty && front.asked == ["retrieve a"])
        back.release()
        for answer in [setting, clearing] { _ = await answer.first() }
        #expect(try await reading.first().get() == 1)
        #expect(back.asked == ["retrieve a", "set b 2", "removeAll"])
    }

    @Test
    func everyReporterIsCalled() {
        let (inner, outer) = (Reports(), Reports())
        let own = Scripted("own", ["a": 1]).answering(.retrieve, .twice)
        _ = own.reporting(inner.take).mapKeys { $0 }.reporting(outer.take).answers(forKey: "a")
        #expect(inner.events == [.answeredTwice] && outer.events == [.answeredTwice])
    }

    @Test
    func anEmptyStorageHasNothingAndTakesNothing() async throws {
        let empty = RemovableStorage<String, Int>.empty()
        #expect(try await empty.retrieveIfPresent(forKey: "a") == nil)
        await #expect(throws: EmptyCacheError.cacheIsAlwaysEmpty) {
            try await empty.retrieve(forKey: "a")
        }
        await #expect(throws: EmptyCacheError.cacheIsAlwaysEmpty) {
            try await empty.set(1, forKey: "a")
        }
        try await empty.remove(forKey: "a")
        try await empty.removeAll()
    }

    @Test
    func whatAKindCannotDoFailsInside() async throws {
        let readOnly = MemoryStorage<String, Int>(storage: ["a": 1]).asReadOnlyStorage()
        let doubled = readOnly.usingUnsupportedTransformation {
            $0.mapValues(transformIn: { $0 * 2 }, transformOut: { $0 / 2 })
        }
        #expect(try await doubled.retrieve(forKey: "a") == 2)
        #expect(
            !(MemoryStorage<String, Int>().asStorage() as Any is any RemovableStorageProtocol),
            "a storage that cannot remove says so"
        )
    }

    @Test
    func aStorageReadsFromOneAndWritesToAnother() async throws {
        let (read, write) = (Scripted("read", ["a": 1]), Scripted("write"))
        let storage = Storage(read: read.asReadOnlyStorage(), write: write.asWriteOnlyStorage())
        try await storage.set(2, forKey: "a")
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(
            write.contents == ["a": 2] && read.asked == ["retrieve a"]
                && storage.storageName == "read"
        )
    }

    /// Calls back when it goes: who holds a lock then would wait for himself (P17).
    private final class Goodbye: Sendable {
        let say: @Sendable () -> Void
        init(_ say: @escaping @Sendable () -> Void) { self.say = say }
        deinit { say() }
    }

    @Test
    func aValueMayAskItsStorageWhenItGoes() async throws {
        let memory = MemoryStorage<String, Goodbye>()
        let gone = Counter()
        func value() -> Goodbye {
            Goodbye {
                _ = memory.storage.count
                gone.add()
            }
        }
        for key in ["a", "a", "b", "c"] { try await memory.set(value(), forKey: key) }
        try await memory.remove(forKey: "a")
        memory.storage = ["d": value()]
        try await memory.removeAll()
        #expect(gone.value == 5 && memory.storage.isEmpty)
    }
}
