import Shallows
import TestThreads
import Testing

/// What the back has fills the front, unless something newer was set meanwhile (P18).
@Suite(.ownThreads)
struct FillTests {
    let front = Scripted("front")
    let back = Scripted("back", ["a": 1])
    let reports = Reports()
    var storage: RemovableStorage<String, Int> {
        front.removable.combined(with: back).reporting(reports.take)
    }

    @Test
    func aValueOfTheBackFillsTheFront() async throws {
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(front.contents == ["a": 1])
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(back.asked == ["retrieve a"])
    }

    @Test
    func aFillThatFailsChangesNothingAboutTheAnswerAndIsReported() async throws {
        front.answering(.set, .failing(Outage()))
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(front.contents.isEmpty && reports.events == [.fillFailed])
        #expect(
            reports.all.first?.layer == "front"
                && reports.all.first?.error?.cause as? Outage == Outage()
        )
    }

    @Test
    func aFillWhoseCompletionIsDroppedChangesNothingAboutTheAnswer() async throws {
        front.answering(.set, .dropped)
        #expect(try await storage.retrieve(forKey: "a") == 1)
        #expect(reports.events == [.fillFailed])
    }

    @Test
    func aFillNeverOverwritesWhatWasSetMeanwhile() {
        let storage = storage
        back.answering(.retrieve, .held)
        let reading = storage.answers(forKey: "a")
        let setting = storage.setting(2, forKey: "a")
        #expect(setting.count == 1, "a set does not wait for a retrieval")
        back.release()
        #expect(reading.value == 1, "who asked before the set may have the old value")
        #expect(front.contents == ["a": 2] && back.contents == ["a": 2])
    }

    @Test
    func aFillNeverBringsBackWhatWasRemovedMeanwhile() {
        let storage = storage
        back.answering(.retrieve, .held)
        let reading = storage.answers(forKey: "a")
        #expect(storage.removing("a").count == 1)
        back.release()
        #expect(reading.value == 1 && front.contents.isEmpty && back.contents.isEmpty)
    }

    @Test
    func aFillNeverBringsBackWhatRemovingAllRemovedMeanwhile() {
        let storage = storage
        back.answering(.retrieve, .held)
        _ = storage.answers(forKey: "a")
        #expect(storage.removingAll().count == 1)
        back.release()
        #expect(front.contents.isEmpty && back.contents.isEmpty)
    }

    @Test(arguments: [Scripted.Answer.delayed, .held])
    func aReadDuringASetDoesNotFill(_ answer: Scripted.Answer) {
        let storage = storage
        front.answering(.retrieve, .failing(Nothing()))  // The front has evicted it.
        back.answering(.set, answer)
        let setting = storage.setting(2, forKey: "a")
        #expect(setting.isEmpty && front.contents == ["a": 2])
        let reading = storage.answers(forKey: "a")
        #expect(
            reading.value != nil && front.contents == ["a": 2],
            "the old value is in the back as long as it takes"
        )
        back.release()
        #expect(setting.count == 1 && front.contents == ["a": 2] && back.contents == ["a": 2])
    }

    @Test
    func aReadAfterASetFillsAgain() async throws {
        let storage = storage
        try await storage.set(2, forKey: "a")
        front.contents = [:]
        #expect(try await storage.retrieve(forKey: "a") == 2)
        #expect(front.contents == ["a": 2])
    }

    @Test(arguments: [Scripted.Answer.held, .delayed])
    func aSetDuringAFillComesAfterIt(_ answer: Scripted.Answer) async {
        let storage = storage
        front.answering(.set, answer)
        let reading = storage.answers(forKey: "a")
        #expect(reading.isEmpty && front.held == ["set a 1"])
        let setting = storage.setting(2, forKey: "a")
        #expect(
            setting.isEmpty && front.asked == ["retrieve a", "set a 1"],
            "the fill is under way: nothing overtakes it"
        )
        front.release()
        #expect(reading.value == 1)
        _ = await setting.first()
        #expect(front.contents == ["a": 2] && back.contents == ["a": 2])
    }

    @Test(arguments: [false, true])
    func aRemovalDuringAFillComesAfterIt(_ removesAll: Bool) async {
        let storage = storage
        front.answering(.set, .delayed)
        _ = storage.answers(forKey: "a")
        let removing = removesAll ? storage.removingAll() : storage.removing("a")
        #expect(removing.isEmpty)
        front.release()
        _ = await removing.first()
        #expect(front.contents.isEmpty && back.contents.isEmpty)
    }

    @Test
    func aCallThatWaitsToSetDuringAFillComesAfterIt() async throws {
        let storage = storage
        front.answering(.set, .delayed)
        let reading = storage.answers(forKey: "a")
        async let setting: Void = onThread { try storage.makeSyncStorage().set(2, forKey: "a") }
        front.release()
        try await setting
        #expect(reading.value == 1 && front.contents == ["a": 2] && back.contents == ["a": 2])
    }

    @Test
    func aFillIsFinishedThoughItsReaderIsCancelled() async {
        let storage = storage
        front.answering(.set, .delayed)
        let task = Task { try await storage.retrieve(forKey: "a") }
        await until("the front is being filled") { front.held == ["set a 1"] }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let setting = storage.setting(2, forKey: "a")
        front.release()
        _ = await setting.first()
        #expect(front.contents == ["a": 2])
    }

    @Test
    func aFrontThatWritesThroughItsOwnCompositionWhileItIsFilledDoesNotWaitForItself() throws {
        let whole = Locker<RemovableStorage<String, Int>?>(nil)
        front.answering(
            .set,
            .after { _ = try? whole.locked.withLock { $0 }?.makeSyncStorage().set(5, forKey: "a") }
        )
        let storage = storage
        whole.locked.withLock { $0 = storage }
        #expect(try storage.makeSyncStorage().retrieve(forKey: "a") == 1)
        #expect(back.contents == ["a": 5])
    }

    @Test
    func pullingFillsAndSetsTheFrontAlone() async throws {
        let storage = front.backed(by: back)
        #expect(try await storage.retrieve(forKey: "a") == 1)
        try await storage.set(2, forKey: "a")
        #expect(front.contents == ["a": 2] && back.contents == ["a": 1])
    }

    @Test
    func pushingSetsBothAndFillsNothing() async throws {
        let storage = front.pushing(to: back)
        await #expect(throws: Nothing.self) { try await storage.retrieve(forKey: "a") }
        try await storage.set(2, forKey: "b")
        #expect(front.contents == ["b": 2] && back.contents == ["a": 1, "b": 2])
    }
}
