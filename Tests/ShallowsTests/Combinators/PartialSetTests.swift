import Shallows
import Testing

/// A set that reaches one layer and not the next says which (S2, P47), and is undone by choice.
@Suite(.timeLimit(.minutes(1)))
struct PartialSetTests {
    let first = Scripted("first")
    let second = Scripted("second")
    let third = Scripted("third")
    let reports = Reports()

    /// Three layers in both nestings.
    private func nestings(undoing: Bool = false) -> [RemovableStorage<String, Int>] {
        let (a, b, c) = (first.removable, second.removable, third.removable)
        return [
            a.combined(with: b, undoingPartialSets: undoing).combined(with: c, undoingPartialSets: undoing),
            a.combined(with: b.combined(with: c, undoingPartialSets: undoing), undoingPartialSets: undoing),
        ].map { $0.reporting(reports.take) }
    }

    @Test(arguments: [(0, []), (1, ["first"]), (2, ["first", "second"])], [0, 1])
    func theErrorNamesExactlyTheLayersThatHaveTheValue(_ failure: (index: Int, succeeded: [String]), _ nesting: Int) {
        [first, second, third][failure.index].always(.set, .failing(Outage()))
        let setting = nestings()[nesting].setting(1, forKey: "a")
        let reached = [first, second, third].filter { $0.contents == ["a": 1] }.map(\.storageName)
        #expect(reached == failure.succeeded)
        if failure.succeeded.isEmpty {
            #expect(setting.error as? Outage == Outage())
        } else {
            let error = setting.error as? ShallowsError
            #expect(error?.code == .partiallySet && error?.succeededLayers == failure.succeeded && error?.cause as? Outage == Outage())
            #expect(error?.layer == ["first", "second", "third"][failure.index])
        }
        #expect(reports.events.isEmpty)
    }

    @Test
    func aFrontThatFailsStopsTheSet() async {
        first.always(.set, .failing(Outage()))
        await #expect(throws: Outage()) { try await first.combined(with: second).set(1, forKey: "a") }
        #expect(second.asked.isEmpty)
    }

    @Test(arguments: [1, 2], [0, 1])
    func byChoiceEveryLayerIsGivenBackWhatItHad(_ failing: Int, _ nesting: Int) {
        for storage in [first, second, third] { storage.contents = ["a": 1] }
        [first, second, third][failing].always(.set, .failing(Outage()))
        let setting = nestings(undoing: true)[nesting].setting(2, forKey: "a")
        for storage in [first, second, third] { #expect(storage.contents == ["a": 1]) }
        let error = setting.error as? ShallowsError
        #expect(error?.code == .partiallySet && error?.succeededLayers == [] && error?.cause as? Outage == Outage())
        #expect(!reports.events.isEmpty && reports.events.allSatisfy { $0 == .undone })
    }

    /// One that was asked and is only not waited for may do it all the same: then the front is right.
    @Test
    func aSetOfWhichALateBackWasNotAskedIsUndone() {
        first.contents = ["a": 1]
        let back = second.removable.validate { (_: Int) async in true }
        let storage = first.removable.combined(with: back, undoingPartialSets: true).makeSyncStorage()
        let error = #expect(throws: ShallowsError.self) { try storage.set(2, forKey: "a") }
        #expect(error?.code == .partiallySet && error?.succeededLayers == [])
        #expect((error?.cause as? ShallowsError)?.code == .wouldBlock)
        #expect(first.contents == ["a": 1] && second.contents.isEmpty)
    }

    @Test(arguments: [0, 1])
    func aLayerThatHadNothingHasNothingAgain(_ nesting: Int) {
        third.always(.set, .failing(Outage()))
        let setting = nestings(undoing: true)[nesting].setting(2, forKey: "a")
        #expect((setting.error as? ShallowsError)?.succeededLayers == [])
        for storage in [first, second, third] { #expect(storage.contents.isEmpty) }
    }

    @Test
    func anUndoThatFailsIsReportedAndTheLayerNamed() {
        first.answering(.set, .normal, .failing(Outage(number: 2)))
        first.contents = ["a": 1]
        second.always(.set, .failing(Outage(number: 1)))
        let setting = first.removable.combined(with: second, undoingPartialSets: true).reporting(reports.take).setting(2, forKey: "a")
        let error = setting.error as? ShallowsError
        #expect(error?.succeededLayers == ["first"] && error?.cause as? Outage == Outage(number: 1))
        #expect(first.contents == ["a": 2] && reports.events == [.undoFailed])
    }

    @Test
    func anUndoThatFailsHalfwayNamesTheLayersThatStillHaveTheValue() {
        // The third takes nothing; then the first is given back what it had, and the second does not take it.
        for storage in [first, second, third] { storage.contents = ["a": 1] }
        second.answering(.set, .normal, .failing(Outage()))
        third.always(.set, .failing(Outage()))
        let storage = first.removable.combined(with: second).combined(with: third, undoingPartialSets: true)
        let error = storage.setting(2, forKey: "a").error as? ShallowsError
        #expect(error?.succeededLayers == ["second"])
        #expect(first.contents == ["a": 1] && second.contents == ["a": 2])
    }

    @Test
    func aFrontThatTookItInPartIsUndone() {
        for storage in [first, second, third] { storage.contents = ["a": 1] }
        second.answering(.set, .failing(Outage()))
        let storage = first.removable.combined(with: second).combined(with: third, undoingPartialSets: true)
        let error = storage.setting(2, forKey: "a").error as? ShallowsError
        #expect(error?.succeededLayers == [] && error?.code == .partiallySet)
        for storage in [first, second, third] { #expect(storage.contents == ["a": 1]) }
    }

    @Test
    func beforeItSetsItAsksAndAFailureStopsIt() {
        first.answering(.retrieve, .failing(ShallowsError(.inputOutput, "The disk failed.", layer: "first")))
        let setting = first.removable.combined(with: second, undoingPartialSets: true).setting(1, forKey: "a")
        #expect((setting.error as? ShallowsError)?.code == .inputOutput)
        #expect(first.contents.isEmpty && second.asked.isEmpty)
    }

    @Test
    func keysThatAreMadeLaterAreUndoneToo() async {
        second.always(.set, .failing(Outage()))
        first.contents = ["a": 1]
        let keyed = first.removable.asyncMapKeys(to: String.self) { $0 }
        let storage = keyed.combined(with: second.removable.asyncMapKeys(to: String.self) { $0 }, undoingPartialSets: true)
        await #expect(throws: ShallowsError.self) { try await storage.set(2, forKey: "a") }
        #expect(first.contents == ["a": 1])
    }

    // MARK: Others meanwhile

    @Test
    func noSetIsUndoneOverTheNext() async {
        let storage = first.removable.combined(with: second, undoingPartialSets: true)
        first.contents = ["a": 1]
        second.answering(.set, .delayed, .normal)
        let failing = storage.setting(2, forKey: "a")
        let next = storage.setting(3, forKey: "a")
        #expect(next.isEmpty, "it waits for the first")
        second.release(failing: Outage())
        _ = await next.first()
        #expect((failing.error as? ShallowsError)?.succeededLayers == [])
        #expect(first.contents == ["a": 3] && second.contents == ["a": 3])
    }

    @Test(arguments: [false, true])
    func whatWasRemovedMeanwhileDoesNotComeBackWithTheUndo(_ removesAll: Bool) async {
        let storage = first.removable.combined(with: second, undoingPartialSets: true)
        first.contents = ["a": 1]
        second.answering(.set, .delayed)
        let setting = storage.setting(2, forKey: "a")
        let removing = removesAll ? storage.removingAll() : storage.removing("a")
        second.release(failing: Outage())
        _ = await setting.first()
        _ = await removing.first()
        #expect(first.contents.isEmpty && second.contents.isEmpty)
    }

    @Test
    func removingAllDuringAnUndoComesAfterIt() async {
        let storage = first.removable.combined(with: second, undoingPartialSets: true)
        first.contents = ["a": 1]
        first.answering(.set, .normal, .delayed)
        second.answering(.set, .failing(Outage()))
        let setting = storage.setting(2, forKey: "a")
        #expect(first.held == ["set a 1"])
        let removing = storage.removingAll()
        #expect(removing.isEmpty)
        first.release()
        _ = await removing.first()
        #expect(setting.count == 1 && first.contents.isEmpty)
    }

    @Test
    func aCancelledSetIsUndoneAllTheSame() async {
        let storage = first.removable.combined(with: second, undoingPartialSets: true)
        first.contents = ["a": 1]
        first.answering(.set, .normal, .delayed)
        second.answering(.set, .delayed)
        let task = Task { try await storage.set(2, forKey: "a") }
        await until { second.held.count == 1 }
        task.cancel()
        second.release(failing: CancellationError())
        await until { first.held.count == 1 }
        first.release()
        await #expect(throws: ShallowsError.self) { try await task.value }
        #expect(first.contents == ["a": 1])
    }
}

/// Which layers an error names, whatever they are made of.
@Suite(.timeLimit(.minutes(1)))
struct ReachTests {
    let first = Scripted("first")
    let second = Scripted("second")
    let failing = Scripted("failing").always(.set, .failing(Outage()))

    private func reached<Access: WritableAccess>(_ storage: AnyStorage<Access, String, Int>) -> [String]? {
        (storage.setting(1, forKey: "a").error as? ShallowsError)?.succeededLayers
    }

    @Test
    func aStorageThatPushesNamesWhomItPushesTo() {
        let pushing = first.pushing(to: second)
        #expect(reached(pushing.combined(with: failing)) == ["first", "second"])
        #expect(reached(pushing.mapKeys { $0 }.renaming(to: "other").pushing(to: failing.asWriteOnlyStorage())) == ["first", "second"])
        #expect(reached(first.asWriteOnlyStorage().pushing(to: second).pushing(to: failing)) == ["first", "second"])
    }

    @Test
    func aStorageThatPullsDoesNotNameWhomItPullsFrom() {
        #expect(reached(first.backed(by: second).combined(with: failing)) == ["first"])
        #expect(second.contents.isEmpty)
    }

    @Test
    func aPairNamesItsSides() {
        let pair = zip(first.removable, second.removable).mapValues(transformIn: { $0.0 }, transformOut: { ($0, $0) })
        #expect(reached(pair.combined(with: failing)) == ["first", "second"])
        let halved = zip(first.removable, failing.removable).mapValues(transformIn: { $0.0 }, transformOut: { ($0, $0) })
        #expect(reached(second.removable.combined(with: halved)) == ["second", "first"])
    }

    @Test
    func aRenamedLayerIsNamedByItsNewName() {
        #expect(reached(first.renaming(to: "memory").combined(with: failing)) == ["memory"])
    }

    @Test
    func aPairInFrontThatTookItInPartIsUndone() {
        let once = Scripted("once", ["a": 7]).answering(.set, .failing(Outage()))
        first.contents = ["a": 7]
        let pair = zip(first.removable, once.removable).mapValues(transformIn: { $0.0 }, transformOut: { ($0, $0) })
        let reports = Reports()
        let setting = pair.combined(with: second, undoingPartialSets: true).reporting(reports.take).setting(1, forKey: "a")
        #expect(setting.error is ZippedResultError && reports.events == [.undone])
        #expect(first.contents == ["a": 7] && once.contents == ["a": 7] && second.asked.isEmpty)
    }

    @Test
    func twoLayersOfOneNameAreCountedTwice() {
        let (one, other) = (Scripted("twin", ["a": 7]), Scripted("twin", ["a": 7]))
        other.answering(.set, .normal, .failing(Outage()))
        let storage = one.removable.combined(with: other).combined(with: failing, undoingPartialSets: true)
        #expect(reached(storage) == ["twin"])
        #expect(one.contents == ["a": 7] && other.contents == ["a": 1])
    }
}
