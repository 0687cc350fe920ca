import Shallows
import TestThreads
import Testing

/// A type with one property is a storage of its own.
@Suite(.ownThreads)
struct ForwardingStorageTests {
    private final class Numbers: ForwardingStorageProtocol, RemovableStorageProtocol {
        typealias Key = String
        typealias Value = Int

        let storageName = "numbers"
        let memory = MemoryStorage<String, Int>()
        var underlyingStorage: RemovableStorage<String, Int> { memory.asRemovableStorage() }
    }

    private struct Texts: ForwardingStorageProtocol {
        typealias Key = Int
        typealias Value = String

        let memory = MemoryStorage<Int, String>()
        var underlyingStorage: Storage<Int, String> { memory.asStorage() }
    }

    @Test func everyCallReachesTheUnderlyingStorage() async throws {
        let numbers = Numbers()
        try await numbers.set(1, forKey: "one")
        #expect(try await numbers.retrieve(forKey: "one") == 1)
        try await numbers.update(forKey: "one") { $0 += 1 }
        #expect(numbers.memory.storage == ["one": 2])
        try await numbers.remove(forKey: "one")
        try await numbers.set(3, forKey: "three")
        try await numbers.removeAll()
        #expect(numbers.memory.storage.isEmpty)
    }

    @Test func everyKindIsMadeOfIt() async throws {
        let numbers = Numbers()
        try await numbers.asWriteOnlyStorage().set(1, forKey: "one")
        #expect(try await numbers.asReadOnlyStorage().retrieve(forKey: "one") == 1)
        #expect(
            try await numbers.asStorage().mapValues(
                transformIn: { "\($0)" },
                transformOut: { Int($0) ?? 0 }
            ).retrieve(forKey: "one") == "1"
        )
        try await numbers.asRemovableStorage().remove(forKey: "one")
        #expect(numbers.memory.storage.isEmpty)
    }

    @Test func aStorageThatCannotRemoveForwardsTheRest() async throws {
        let texts = Texts()
        try await texts.set("one", forKey: 1)
        #expect(try texts.makeSyncStorage().retrieve(forKey: 1) == "one")
    }

    @Test func completionsAreCalledOnce() async {
        let texts = Texts()
        await confirmation(expectedCount: 2) { called in
            texts.set("one", forKey: 1) { _ in called() }
            texts.retrieve(forKey: 1) { result in
                if case .success("one") = result { called() }
            }
        }
    }
}
