import Foundation
import Shallows
import TestThreads
import Testing

/// A back may ask for what is being asked of it (P46): no one waits for himself.
@Suite(.ownThreads)
struct ReentrancyTests {
    let front = Scripted("front")
    let whole = Locker<Storage<String, Int>?>(nil)

    private func set(_ storage: Storage<String, Int>) -> Storage<String, Int> {
        whole.locked.withLock { $0 = storage }
        return storage
    }

    @Test
    func aBackThatAsksForItsOwnKeyWithACompletionAsksAnew() {
        let (back, inner, whole) = (Scripted("back", ["a": 1]), Answers<Int>(), whole)
        back.answering(
            .retrieve,
            .after { whole.locked.withLock { $0 }?.retrieve(forKey: "a", completion: inner.take) }
        )
        #expect(set(front.combined(with: back)).answers(forKey: "a").value == 1)
        #expect(inner.value == 1 && back.asked == ["retrieve a", "retrieve a"])
    }

    @Test
    func aBackThatAsksForItsOwnKeyAndWaitsAsksAnew() async throws {
        let (back, inner, whole) = (Scripted("back", ["a": 1]), Answers<Int>(), whole)
        back.answering(
            .retrieve,
            .after {
                inner.take(
                    Result {
                        try whole.locked.withLock { $0 }!.makeSyncStorage().retrieve(forKey: "a")
                    }
                )
            }
        )
        let storage = set(front.combined(with: back))
        #expect(try await onThread { try storage.makeSyncStorage().retrieve(forKey: "a") } == 1)
        #expect(inner.value == 1)
    }

    @Test
    func anAsyncBackThatAsksForItsOwnKeyAsksAnew() async throws {
        let (count, whole) = (Counter(), whole)
        let source = ReadOnlyStorage<String, Int>(storageName: "source") { key in
            guard count.add() < 3 else { return 7 }
            return try await whole.locked.withLock { $0 }!.retrieve(forKey: key) + 1
        }
        #expect(try await set(front.backed(by: source)).retrieve(forKey: "a") == 9)
    }

    @Test
    func aLayerThatIsAskedOnAnotherThreadIsRecognised() async throws {
        // The middle answers on a queue, so the last is asked on a thread that knows nothing of the
        // outer load.
        let (count, whole) = (Counter(), whole)
        let middle = Scripted("middle").always(.retrieve, .late)
        let source = ReadOnlyStorage<String, Int>(storageName: "source") { key in
            guard count.add() < 2 else { return 7 }
            return try await whole.locked.withLock { $0 }!.retrieve(forKey: key)
        }
        #expect(
            try await set(front.combined(with: middle.backed(by: source))).retrieve(forKey: "a")
                == 7
        )
    }

    @Test
    func aBackMaySetTheKeyThatIsBeingAskedFor() async throws {
        let whole = whole
        let source = ReadOnlyStorage<String, Int>(storageName: "source") { key in
            try await whole.locked.withLock { $0 }!.set(3, forKey: key)
            return 2
        }
        let storage = set(front.backed(by: source))
        #expect(try await storage.retrieve(forKey: "a") == 2)
        #expect(front.contents == ["a": 3], "what was set meanwhile is newer than the answer")
    }

    @Test
    func aCompletionMayAskForTheSameKeyAndWait() {
        let back = Scripted("back", ["a": 1]).answering(.retrieve, .held)
        let storage = front.combined(with: back)
        let inner = Answers<Int>()
        storage.retrieve(forKey: "a") { _ in
            front.contents = [:]
            inner.take(Result { try storage.makeSyncStorage().retrieve(forKey: "a") })
        }
        let other = storage.answers(forKey: "a")
        back.release()
        #expect(inner.value == 1 && other.value == 1)
    }

    @Test
    func aCompletionOfASetMaySetAndRemove() async throws {
        let back = Scripted("back").answering(.set, .held)
        let storage = front.removable.combined(with: back)
        let inner = Answers<Void>()
        storage.set(1, forKey: "a") { _ in
            inner.take(
                Result {
                    try storage.makeSyncStorage().set(2, forKey: "a")
                    try storage.makeSyncStorage().remove(forKey: "a")
                    try storage.makeSyncStorage().removeAll()
                    try storage.makeSyncStorage().set(3, forKey: "a")
                }
            )
        }
        back.release()
        _ = await inner.first()
        #expect(front.contents == ["a": 3] && back.contents == ["a": 3])
    }

    @Test
    func aSideOfAPairMayReadThePairWhileItIsSet() throws {
        let (left, right) = (Scripted("left", ["a": 1]), Scripted("right", ["a": 1]))
        let pairs = zip(left.removable, right.removable)
        let inner = Answers<Int>()
        left.answering(
            .set,
            .after { inner.take(Result { try pairs.makeSyncStorage().retrieve(forKey: "a").0 }) }
        )
        #expect(throws: Never.self) { try pairs.makeSyncStorage().set((2, 2), forKey: "a") }
        #expect(inner.value == 1)
    }

    /// The back of one key asks for the other, whose back asks for the first.
    @Test
    func loadsThatWouldWaitForEachOtherLoadWithoutJoining() async throws {
        let (count, whole) = (Counter(), whole)
        let source = ReadOnlyStorage<String, Int>(storageName: "source") { key in
            guard count.add() < 3 else { return 7 }
            return try await whole.locked.withLock { $0 }!.retrieve(forKey: key == "a" ? "b" : "a")
        }
        #expect(try await set(front.backed(by: source)).retrieve(forKey: "a") == 7)
        #expect(count.value == 3)
    }

    @Test
    func aFrontMayRemoveEverythingWhileItIsFilled() throws {
        let (back, storage) = (
            Scripted("back", ["a": 1]), Locker<RemovableStorage<String, Int>?>(nil)
        )
        let front = front
        front.answering(
            .set,
            .after { _ = try? storage.locked.withLock { $0 }?.makeSyncStorage().removeAll() }
        )
        let composed = front.removable.combined(with: back)
        storage.locked.withLock { $0 = composed }
        #expect(try composed.makeSyncStorage().retrieve(forKey: "a") == 1)
        #expect(back.contents.isEmpty)
    }
}
