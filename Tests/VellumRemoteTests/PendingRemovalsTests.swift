import Testing
import VellumCore

@testable import VellumRemote

@Suite(.timeLimit(.minutes(1)))
struct PendingRemovalsTests {
    @Test func aRemovalConcernsItsKeyUntilItWasExecuted() {
        var removals = PendingRemovals()
        #expect(!removals.concern("a") && !removals.concern(nil))
        #expect(removals.begin() == nil)
        removals.insert("a")
        #expect(removals.concern("a") && removals.concern(nil) && !removals.concern("b"))
        #expect(removals.begin() == .keys(["a"]))
        #expect(removals.concern("a") && removals.concern(nil))
        removals.end(succeeded: true)
        #expect(!removals.concern("a") && !removals.concern(nil))
    }

    @Test func whatWaitsAndWhatIsSentIsCountedAndEverythingIsOne() {
        var removals = PendingRemovals()
        for key in ["a", "b", "b"] { removals.insert(EntryKey(key)) }
        #expect(removals.count == 2)
        _ = removals.begin()
        removals.insert("c")
        #expect(removals.count == 3)
        removals.end(succeeded: false)
        #expect(removals.count == 3)
        removals.insertEverything()
        #expect(removals.count == 1)
    }

    /// Nobody knows which keys are in it.
    @Test func aRemovalOfAGroupConcernsEveryKey() {
        var removals = PendingRemovals()
        removals.insert("a")
        removals.insert("a", isGroup: true)
        #expect(removals.concern("a") && removals.concern("b") && removals.concern(nil))
        #expect(removals.begin() == .keys(["a"], groups: ["a"]))
        removals.insert("b", isGroup: true)
        removals.end(succeeded: false)
        #expect(removals.begin() == .keys(["a"], groups: ["a", "b"]))
        removals.end(succeeded: true)
        #expect(!removals.concern("a") && !removals.concern(nil))
        for number in 0...PendingRemovals.mostKeys { removals.insert(EntryKey("\(number)"), isGroup: true) }
        #expect(removals.begin() == .everything)
    }

    @Test func whatFailedWaitsAgainBesideWhatCameMeanwhile() {
        var removals = PendingRemovals()
        removals.insert("a")
        #expect(removals.begin() == .keys(["a"]))
        removals.insert("b")
        removals.end(succeeded: false)
        #expect(removals.begin() == .keys(["a", "b"]))
        removals.insert("a")
        removals.end(succeeded: true)
        #expect(removals.begin() == .keys(["a"]))
    }

    @Test func beyondTheLimitEverythingIsRemoved() {
        var removals = PendingRemovals()
        for number in 0..<PendingRemovals.mostKeys { removals.insert(EntryKey("\(number)")) }
        #expect(!removals.concern("other"))
        removals.insert("one more")
        #expect(removals.concern("other"))
        #expect(removals.begin() == .everything)
        removals.insert("a")
        removals.end(succeeded: false)
        #expect(removals.begin() == .everything)
        removals.end(succeeded: true)
        #expect(removals.begin() == nil)
    }
}
