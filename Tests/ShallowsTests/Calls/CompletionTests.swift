import Shallows
import TestThreads
import Testing
import VellumCore

/// Every completion is called exactly once.
@Suite(.ownThreads)
struct CompletionTests {
    let own = Scripted("own", ["a": 1])
    let reports = Reports()

    @Test
    func aCompletionThatIsCalledTwiceCountsOnceAndIsReported() {
        own.always(.retrieve, .twice).always(.set, .twice).always(.remove, .twice).always(
            .removeAll,
            .twice
        )
        let storage = own.removable.reporting(reports.take)
        #expect(
            storage.answers(forKey: "a").count == 1 && storage.setting(1, forKey: "a").count == 1
        )
        #expect(storage.removing("a").count == 1 && storage.removingAll().count == 1)
        #expect(reports.events == [StorageReport.Event](repeating: .answeredTwice, count: 4))
        #expect(reports.all.allSatisfy { $0.layer == "own" })
    }

    @Test
    func aCompletionThatIsDroppedIsAnError() {
        own.always(.retrieve, .dropped).always(.set, .dropped).always(.remove, .dropped).always(
            .removeAll,
            .dropped
        )
        let storage = own.removable
        let errors = [
            storage.answers(forKey: "a").error, storage.setting(1, forKey: "a").error,
            storage.removing("a").error,
            storage.removingAll().error,
        ]
        for error in errors {
            #expect(
                (error as? ShallowsError)?.code == .unanswered
                    && (error as? ShallowsError)?.layer == "own"
            )
        }
    }

    @Test
    func aCompletionThatIsDroppedLaterIsAnError() async {
        let other = Scripted("other")
        let holder = Locker<(@Sendable (ShallowsResult<Int>) -> Void)?>(nil)
        let dropping = ReadOnlyStorage<String, Int>(storageName: "dropping") { _, completion in
            holder.locked.withLock { $0 = completion }
        }
        let answers = other.backed(by: dropping).answers(forKey: "a")
        #expect(answers.isEmpty)
        holder.locked.withLock { $0 = nil }
        #expect((answers.error as? ShallowsError)?.code == .unanswered)
    }

    @Test
    func aStorageThatNeverAnswersHoldsUpNoOtherKey() {
        let back = Scripted("back", ["a": 1, "b": 2]).answering(.retrieve, .never)
        let storage = MemoryStorage<String, Int>().combined(with: back)
        let never = storage.answers(forKey: "a")
        #expect(storage.answers(forKey: "b").value == 2 && never.isEmpty)
        #expect(storage.setting(3, forKey: "a").count == 1)
        #expect(storage.answers(forKey: "a").value == 3)
    }

    @Test
    func aCallerThatWaitsForAStorageThatNeverAnswersCanCancel() async {
        own.always(.retrieve, .never)
        let storage = MemoryStorage<String, Int>().combined(with: own)
        let task = Task { try await storage.retrieve(forKey: "a") }
        await until("the storage is asked") { own.asked.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func aWriteWhoseCompletionIsReleasedIsAnError() async throws {
        own.answering(.set, .dropped)
        let storage = MemoryStorage<String, Int>().combined(with: own)
        let error = await #expect(throws: ShallowsError.self) {
            try await storage.set(1, forKey: "a")
        }
        #expect(
            error?.code == .partiallySet && (error?.cause as? ShallowsError)?.code == .unanswered
        )
    }

    @Test
    func aSetThatNoOneWaitsForMayFail() {
        own.always(.set, .failing(Outage()))
        own.set(1, forKey: "a")
        #expect(own.asked == ["set a 1"])
    }

    @Test
    func aStorageIsHeldByTheCallsThatAreUnderWay() async {
        // P28, P29: releasing a storage does not release the calls that are under way.
        let back = Scripted("back", ["a": 1]).answering(.retrieve, .held)
        let reading: Answers<Int>
        do {
            let storage = MemoryStorage<String, Int>().combined(with: back).synchronizedCalls()
            reading = storage.answers(forKey: "a")
        }
        back.release()
        #expect(await (try? reading.first().get()) == 1)
        let memory = MemoryStorage<String, Int>()
        do { _ = queueStorage("queue", SerialQueue(), memory).setting(5, forKey: "a") }
        await until("the value is set") { memory.storage == ["a": 5] }
    }

    @Test
    func aValueThatIsNilIsThere() async throws {
        // P43: nothing, and a value that says nothing.
        let storage = MemoryStorage<String, Int?>().combined(with: MemoryStorage<String, Int?>())
        #expect(try await storage.retrieveIfPresent(forKey: "a") == .none)
        try await storage.set(nil, forKey: "a")
        #expect(try await storage.retrieveIfPresent(forKey: "a") == .some(nil))
        #expect(try storage.makeSyncStorage().retrieveIfPresent(forKey: "a") == .some(nil))
    }
}
