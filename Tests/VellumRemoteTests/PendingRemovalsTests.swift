import Testing
import VellumCore

@testable import VellumRemote

@Suite(.timeLimit(.minutes(1)))
struct PendingRemovalsTests {
    @Test func aKeyIsRemovedBeforeItIsRead() {
        var removals = PendingRemovals()
        #expect(removals.work(before: "a") == .nothing)
        #expect(removals.all == .nothing)
        removals.insert("a")
        #expect(removals.work(before: "a") == .keys(["a"]))
        #expect(removals.work(before: "b") == .nothing)
        #expect(removals.all == .keys(["a"]))
        removals.didRemove("a")
        #expect(removals.work(before: "a") == .nothing)
    }

    @Test func beyondTheLimitEverythingIsRemoved() {
        var removals = PendingRemovals()
        for number in 0..<PendingRemovals.mostKeys { removals.insert(EntryKey("\(number)")) }
        #expect(removals.work(before: "other") == .nothing)
        removals.insert("one more")
        #expect(removals.work(before: "other") == .everything)
        #expect(removals.all == .everything)
        // One key says nothing about the others.
        removals.didRemove("one more")
        #expect(removals.work(before: "one more") == .everything)
        removals.didRemoveEverything()
        #expect(removals.all == .nothing)
    }
}
