import Foundation
import Shallows
import TestThreads
import Testing

/// Names that the shipped code of Shallows has beyond its document.
@Suite(.ownThreads)
struct ShallowsNameTests {
    private enum Size: Int, Sendable {
        case small = 1
        case large = 2
    }

    @Test func keysAreMappedOnEveryKind() async throws {
        let memory = MemoryStorage<Int, String>(storage: [1: "one"])
        let storage: Storage<Size, String> = memory.mapKeys(toRawRepresentableType: Size.self)
        let texts: Storage<String, String> = memory.mapKeys(to: String.self) { text in
            try Int(text).unwrap()
        }
        let reading: ReadOnlyStorage<Size, String> = memory.asReadOnlyStorage().mapKeys {
            (size: Size) in size.rawValue
        }
        let writing: WriteOnlyStorage<Size, String> = memory.asWriteOnlyStorage().mapKeys {
            $0.rawValue
        }
        try await writing.set("two", forKey: .large)
        #expect(try await reading.retrieve(forKey: .large) == "two")
        #expect(try await storage.retrieve(forKey: .small) == "one")
        #expect(try await texts.retrieve(forKey: "2") == "two")
        await #expect(throws: Optional<Int>.UnwrapError.self) {
            try await texts.retrieve(forKey: "no number")
        }
    }

    @Test func valuesAreMappedOnEveryKind() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["a": 1])
        let sizes: Storage<String, Size> = memory.mapValues(toRawRepresentableType: Size.self)
        let reading: ReadOnlyStorage<String, Size> = memory.asReadOnlyStorage().mapValues(
            toRawRepresentableType: Size.self
        )
        let texts: ReadOnlyStorage<String, String> = memory.asReadOnlyStorage().mapValues(
            to: String.self
        ) { "\($0)" }
        let writing: WriteOnlyStorage<String, Size> = memory.asWriteOnlyStorage().mapValues(
            toRawRepresentableType: Size.self
        )
        try await writing.set(.large, forKey: "b")
        #expect(try await sizes.retrieve(forKey: "a") == .small)
        #expect(try await reading.retrieve(forKey: "b") == .large)
        #expect(try await texts.retrieve(forKey: "b") == "2")
        memory.storage["c"] = 3
        await #expect(throws: Optional<Size>.UnwrapError.self) {
            try await sizes.retrieve(forKey: "c")
        }
    }

    @Test func functionsThatWaitMapKeysAndValues() async throws {
        let memory = MemoryStorage<String, Int>()
        let storage: Storage<Int, String> = memory.asyncMapKeys { (number: Int) async in
            "\(number)"
        }
        .asyncMapValues(
            transformIn: { value async in "\(value)" },
            transformOut: { text async throws in try Int(text).unwrap() }
        )
        try await storage.set("7", forKey: 1)
        #expect(memory.storage == ["1": 7])
        #expect(try await storage.retrieve(forKey: 1) == "7")
        let reading: ReadOnlyStorage<String, String> = memory.asReadOnlyStorage().asyncMapValues {
            value async in "\(value)!"
        }
        #expect(try await reading.retrieve(forKey: "1") == "7!")
        let writing: WriteOnlyStorage<String, String> = memory.asWriteOnlyStorage().asyncMapValues {
            text async in text.count
        }
        try await writing.set("four", forKey: "length")
        #expect(memory.storage["length"] == 4)
    }

    @Test func invalidValuesAreNeitherTakenNorGiven() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["negative": -1])
        let valid = memory.validate { $0 >= 0 }
        await #expect(throws: ValueValidationError.self) {
            try await valid.retrieve(forKey: "negative")
        }
        await #expect(throws: ValueValidationError.self) {
            try await valid.set(-2, forKey: "other")
        }
        try await valid.set(2, forKey: "positive")
        #expect(memory.storage == ["negative": -1, "positive": 2])
        let asked = memory.asReadOnlyStorage().validate { value async in value < 2 }
        await #expect(throws: ValueValidationError.self) {
            try await asked.retrieve(forKey: "positive")
        }
    }

    @Test func theOneValueOfAVoidKeyNeedsNone() async throws {
        let memory = MemoryStorage<String, [Int]>()
        let single: Storage<Void, [Int]> = memory.singleKey("only")
        try await single.set([1])
        #expect(try await single.retrieve() == [1])
        #expect(try await memory.asReadOnlyStorage().singleKey("only").retrieve() == [1])
        try await memory.asWriteOnlyStorage().singleKey("only").set([2])
        #expect(try await single.retrieve() == [2])
        #expect(try await single.retrieve(forKey: ()) == [2])

        let answers = Answers<[Int]>()
        func callSite() {
            single.set([3])
            single.update { $0.append(4) }
            single.update({ $0.append(5) }, completion: { answers.give((try? $0.get()) ?? []) })
            single.retrieve { (result) in answers.give((try? result.get()) ?? []) }
            single.set([]) { _ in answers.give([]) }
        }
        callSite()
        #expect(await answers.first(3) == [[3, 4, 5], [3, 4, 5], []])
    }

    @Test func anUpdateGivesTheNewValue() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["visits": 1])
        #expect(try await memory.update(forKey: "visits") { $0 += 1 } == 2)
        await #expect(throws: MemoryStorageError.noValue) {
            try await memory.update(forKey: "nothing") { $0 += 1 }
        }
        let answers = Answers<Int>()
        func callSite() {
            memory.update(forKey: "visits", { $0 += 1 }) { (result) in
                answers.give((try? result.get()) ?? -1)
            }
            memory.update(
                forKey: "nothing",
                { $0 += 1 },
                completion: { (result) in answers.give((try? result.get()) ?? -1) }
            )
        }
        callSite()
        #expect(await answers.first(2) == [3, -1])
    }

    /// Two updates of a key that run at once both count.
    @Test func updatesOfAKeyAreOneAfterAnother() async {
        let memory = MemoryStorage<String, Int>(storage: ["visits": 0])
        await withTaskGroup { group in
            for _ in 0..<200 {
                group.addTask { _ = try? await memory.update(forKey: "visits") { $0 += 1 } }
            }
        }
        #expect(memory.storage == ["visits": 200])
    }

    @Test func anEmptyStorageIsEmptyOfEveryKind() async throws {
        await #expect(throws: EmptyCacheError.cacheIsAlwaysEmpty) {
            try await Storage<String, Int>.empty().retrieve(forKey: "a")
        }
        await #expect(throws: EmptyCacheError.cacheIsAlwaysEmpty) {
            try await ReadOnlyStorage<String, Int>.empty().retrieve(forKey: "a")
        }
        await #expect(throws: EmptyCacheError.cacheIsAlwaysEmpty) {
            try await WriteOnlyStorage<String, Int>.empty().set(1, forKey: "a")
        }
        let backed: Storage<String, Int> = Storage.empty().backed(
            by: MemoryStorage(storage: ["a": 1])
        )
        #expect(try await backed.retrieve(forKey: "a") == 1)
    }

    /// A transform of storages of both directions is applied to one that has only one.
    @Test func transformsOfBothDirectionsApplyToStoragesOfOne() async throws {
        func texts(_ storage: Storage<String, Int>) -> Storage<Int, String> {
            storage.mapKeys { "\($0)" }.mapValues(
                transformIn: { "\($0)" },
                transformOut: { try Int($0).unwrap() }
            )
        }
        let memory = MemoryStorage<String, Int>(storage: ["1": 7])
        let reading: ReadOnlyStorage<Int, String> = memory.asReadOnlyStorage()
            .usingUnsupportedTransformation(texts)
        #expect(try await reading.retrieve(forKey: 1) == "7")
        let writing: WriteOnlyStorage<Int, String> = memory.asWriteOnlyStorage()
            .usingUnsupportedTransformation(texts)
        try await writing.set("8", forKey: 2)
        #expect(memory.storage["2"] == 8)
    }

    /// "storageIsReadOnly": nor does such a transform set what may only be retrieved.
    @Test func aTransformOfBothDirectionsDoesNotReachWhatTheKindHasNot() async throws {
        let memory = MemoryStorage<String, Int>(storage: ["1": 7])
        let reading = memory.asReadOnlyStorage().usingUnsupportedTransformation { storage in
            storage.mapValues(
                transformIn: { value in
                    try storage.makeSyncStorage().set(value + 1, forKey: "1"); return value
                },
                transformOut: { $0 }
            )
        }
        await #expect(throws: UnsupportedTransformationStorageError.storageIsReadOnly) {
            try await reading.retrieve(forKey: "1")
        }
        #expect(memory.storage == ["1": 7])
        let writing = memory.asWriteOnlyStorage().usingUnsupportedTransformation { storage in
            storage.mapValues(
                transformIn: { $0 },
                transformOut: { value in
                    try storage.makeSyncStorage().retrieve(forKey: "1") + value
                }
            )
        }
        await #expect(throws: UnsupportedTransformationStorageError.storageIsWriteOnly) {
            try await writing.set(1, forKey: "1")
        }
        #expect(memory.storage == ["1": 7])
    }

    /// A storage that retrieves from one and sets to another.
    @Test func aStorageIsMadeOfTwoHalves() async throws {
        let (left, right) = (
            MemoryStorage<String, Int>(storage: ["1": 7]), MemoryStorage<String, Int>()
        )
        let halves = Storage(
            storageName: "halves",
            read: left.asReadOnlyStorage(),
            write: right.asWriteOnlyStorage()
        )
        try await halves.set(8, forKey: "1")
        #expect(try await halves.retrieve(forKey: "1") == 7)
        #expect(right.storage == ["1": 8])
        #expect(
            Storage(read: left.asReadOnlyStorage(), write: .empty()).storageName == left.storageName
        )
    }

    @Test func storagesAreNamedAndRenamed() {
        let (front, back) = (
            MemoryStorage<String, Int>().renaming(to: "front"),
            MemoryStorage<String, Int>().renaming(to: "back")
        )
        #expect(front.combined(with: back).storageName == "front<->back")
        #expect(front.backed(by: back).storageName == "front<-back")
        #expect(front.pushing(to: back).storageName == "front->back")
        #expect(front.asReadOnlyStorage().storageName == "front")
        #expect(front.asReadOnlyStorage().renaming(to: "read").storageName == "read")
    }

    /// A storage that is not safe on several threads is asked one thing at a time.
    @Test func synchronizedCallsAreOneAfterAnother() async throws {
        let (active, overlaps) = (MemoryStorage<Int, Int>(storage: [0: 0]), Tally())
        let storage = Storage<Int, Int>(
            storageName: "one at a time",
            retrieve: { key in
                if active.storage[0] != 0 { overlaps.add() }
                active.storage[0] = 1
                // Lets others overlap. A test that is unlucky can only miss that they do.
                await Task.yield()
                active.storage[0] = 0
                return key
            },
            set: { _, _ in }
        ).synchronizedCalls()
        try await withThrowingTaskGroup { group in
            for key in 0..<50 { group.addTask { _ = try await storage.retrieve(forKey: key) } }
            try await group.waitForAll()
        }
        #expect(overlaps.count == 0)
    }

    @Test func optionalsAreUnwrapped() throws {
        #expect(try Optional(1).unwrap() == 1)
        #expect(throws: Optional<Int>.UnwrapError.self) { try Optional<Int>.none.unwrap() }
        #expect(throws: Broken()) { try Optional<Int>.none.unwrap(orThrow: Broken()) }
        let result: ShallowsResult<Int> = .success(1)
        #expect(try result.get() == 1)
    }
}
