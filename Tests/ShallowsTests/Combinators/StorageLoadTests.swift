import Shallows
import TestThreads
import Testing
import VellumCore
import VellumEngine

/// Concurrent misses of one key ask the back once (S5), and no one waits for himself (P46).
@Suite(.ownThreads)
struct StorageLoadTests {
    let front = Scripted("front")
    let back = Scripted("back", ["a": 1, "b": 2])
    var storage: RemovableStorage<String, Int> { front.removable.combined(with: back) }

    @Test
    func concurrentMissesOfOneKeyAskTheBackOnce() {
        let storage = storage
        back.answering(.retrieve, .held)
        let answers = (0..<100).map { _ in storage.answers(forKey: "a") }
        let other = storage.answers(forKey: "b")
        #expect(other.value == 2, "another key does not wait")
        #expect(back.asked == ["retrieve a", "retrieve b"])
        back.release()
        for answer in answers { #expect(answer.value == 1) }
        #expect(front.asked.filter { $0.hasPrefix("set a") }.count == 1)
    }

    /// One who missed the front before another had filled it, and comes to the back after that.
    @Test
    func aLateCallerFindsWhatAnotherLoadHasBrought() {
        let storage = storage
        front.answering(.retrieve, .held)
        let late = storage.answers(forKey: "a")
        #expect(storage.answers(forKey: "a").value == 1)
        front.release()
        #expect(late.value == 1)
        #expect(back.asked == ["retrieve a"])
    }

    @Test
    func anErrorOfTheBackIsEveryones() {
        let storage = storage
        back.answering(.retrieve, .delayed)
        let answers = (0..<10).map { _ in storage.answers(forKey: "a") }
        back.release(failing: Outage())
        for answer in answers { #expect(answer.error as? Outage == Outage()) }
        #expect(storage.answers(forKey: "a").value == 1, "it is not remembered")
    }

    @Test
    func missesOfASingleKeyAskTheBackOnce() {
        let single = front.singleKey("a").combined(with: back.singleKey("a"))
        back.answering(.retrieve, .held)
        let answers = (0..<10).map { _ in single.answers(forKey: ()) }
        #expect(back.asked == ["retrieve a"])
        back.release()
        for answer in answers { #expect(answer.value == 1) }
    }

    struct Uncomparable: Sendable {
        var name: String
    }

    @Test
    func keysThatCannotBeComparedAreAskedForEach() {
        let storage = front.mapKeys { (key: Uncomparable) in key.name }.combined(
            with: back.mapKeys { $0.name }
        )
        back.answering(.retrieve, .held, .held)
        let answers = (0..<2).map { _ in storage.answers(forKey: Uncomparable(name: "a")) }
        #expect(back.held.count == 2)
        back.release()
        back.release()
        for answer in answers { #expect(answer.value == 1) }
    }

    @Test
    func aKeyThatIsNotEqualToItselfIsAskedForEach() {
        let storage = front.mapKeys { (_: Double) in "a" }.combined(with: back.mapKeys { _ in "a" })
        back.answering(.retrieve, .held, .held)
        _ = (0..<2).map { _ in storage.answers(forKey: .nan) }
        #expect(back.held.count == 2)
    }

    // MARK: Writes meanwhile

    @Test
    func aRetrievalAfterASetDoesNotGetTheOldValue() {
        let storage = storage
        back.answering(.retrieve, .held)
        let early = storage.answers(forKey: "a")
        #expect(storage.setting(2, forKey: "a").count == 1)
        front.contents = [:]  // Evicted at once: only the back can say.
        let late = storage.answers(forKey: "a")
        #expect(late.value == 2)
        back.release()
        #expect(early.value == 1 && front.contents == ["a": 2])
    }

    @Test(arguments: [false, true])
    func aRetrievalAfterARemovalDoesNotGetTheOldValue(_ removesAll: Bool) {
        let storage = storage
        back.answering(.retrieve, .held)
        let early = storage.answers(forKey: "a")
        #expect((removesAll ? storage.removingAll() : storage.removing("a")).count == 1)
        let late = storage.answers(forKey: "a")
        #expect(late.error is Nothing)
        back.release()
        #expect(early.value == 1 && front.contents.isEmpty)
    }

    @Test
    func aRetrievalAfterASetDoesNotJoinOneDuringIt() {
        let storage = storage
        front.always(.retrieve, .failing(Nothing()))
        back.answering(.set, .delayed).answering(.retrieve, .held)
        let setting = storage.setting(2, forKey: "a")
        // Reads the old value, which the back still has, and is held with it.
        let during = storage.answers(forKey: "a")
        #expect(back.held == ["set a 2", "retrieve a"])
        back.release()
        #expect(setting.count == 1 && during.isEmpty)
        #expect(storage.answers(forKey: "a").value == 2)
        back.release()
        #expect(during.value == 1 && front.contents == ["a": 2])
    }

    // MARK: Cancellation

    @Test
    func aCallerThatCancelsLeavesTheOthersWaiting() async throws {
        let storage = storage
        back.answering(.retrieve, .held)
        let tasks = (0..<3).map { _ in Task { try await storage.retrieve(forKey: "a") } }
        await until("all have missed in the front, and the back is asked") {
            front.asked.count == 3 && back.held.count == 1
        }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        back.release()
        #expect(try await tasks[1].value == 1)
        #expect(try await tasks[2].value == 1)
    }

    @Test
    func theBackIsCancelledWhenTheLastWaiterLeaves() async throws {
        let (started, cancelled) = (Counter(), Counter())
        let source = ReadOnlyStorage<String, Int>(storageName: "source") { _ in
            started.add()
            // Of its own: the cancellation of a load would end the stream for the next.
            for await _ in AsyncStream<Void>.makeStream().stream {}
            if Task.isCancelled { cancelled.add() }
            try Task.checkCancellation()
            return 9
        }
        let storage = front.backed(by: source)
        let tasks = (0..<2).map { _ in Task { try await storage.retrieve(forKey: "a") } }
        await until("both have missed in the front, and the source is asked") {
            started.value == 1 && front.asked.count == 2
        }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        await until("what was started is cancelled") { cancelled.value == started.value }
    }

    @Test
    func aCallWithACompletionKeepsTheLoad() async throws {
        let storage = storage
        back.answering(.retrieve, .held)
        let kept = storage.answers(forKey: "a")
        let task = Task { try await storage.retrieve(forKey: "a") }
        await until("both have asked the front") { front.asked.count == 2 }
        task.cancel()
        _ = try? await task.value
        #expect(kept.isEmpty)
        back.release()
        #expect(kept.value == 1)
    }

    @Test
    func afterAllHaveLeftTheNextAsksAnew() async throws {
        let storage = storage
        back.answering(.retrieve, .held)
        let task = Task { try await storage.retrieve(forKey: "a") }
        await until("the back is asked") { back.held.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(storage.answers(forKey: "a").value == 1)
        back.release()
        #expect(front.contents == ["a": 1])
    }
}
