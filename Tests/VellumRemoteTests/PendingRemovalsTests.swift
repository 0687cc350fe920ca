import TestThreads
import Testing
import VellumCore

@testable import VellumRemote

@Suite(.ownThreads)
struct PendingRemovalsTests {
    private let one = PendingRemovals.Lot.primary(0)

    /// Keys and groups whose names begin with a digit are on that primary; where the others are is
    /// not known.
    private static func places(_ all: [Int]) -> Places {
        Places(
            ofKey: { $0.normalized.first?.wholeNumberValue },
            ofGroup: { $0.normalized.first?.wholeNumberValue },
            all: { all }
        )
    }

    @Test func aRemovalConcernsItsKeyUntilItWasExecuted() {
        var removals = PendingRemovals()
        #expect(removals.lot(ofKey: "a", .one) == nil && removals.isEmpty)
        #expect(removals.begin(one, .one) == nil)
        removals.insert("a", of: .one)
        #expect(
            removals.lot(ofKey: "a", .one) == one && removals.lots(.one) == [one]
                && removals.lot(ofKey: "b", .one) == nil
        )
        #expect(removals.begin(one, .one) == .keys(["a"]))
        #expect(removals.lot(ofKey: "a", .one) == one && !removals.isEmpty)
        removals.end(one, failed: [], of: .one)
        #expect(removals.lot(ofKey: "a", .one) == nil && removals.isEmpty)
    }

    @Test func whatWaitsAndWhatIsSentIsCountedAndEverythingIsOne() {
        var removals = PendingRemovals()
        for key in ["a", "b", "b"] { removals.insert(EntryKey(key), of: .one) }
        #expect(removals.count == 2)
        _ = removals.begin(one, .one)
        removals.insert("c", of: .one)
        #expect(removals.count == 3)
        removals.end(one, failed: nil, of: .one)
        #expect(removals.count == 3)
        removals.insertEverything(of: .one)
        #expect(removals.count == 1)
    }

    /// Its values say that they are in it.
    @Test func aRemovalOfAGroupConcernsTheGroup() {
        var removals = PendingRemovals()
        removals.insert("a", of: .one)
        removals.insert("a", isGroup: true, of: .one)
        #expect(
            removals.lot(ofGroup: "a", .one) == one && removals.lot(ofKey: "b", .one) == nil
                && removals.lot(ofGroup: "b", .one) == nil
        )
        #expect(removals.begin(one, .one) == .keys(["a"], groups: ["a"]))
        removals.insert("b", isGroup: true, of: .one)
        removals.end(one, failed: nil, of: .one)
        #expect(removals.begin(one, .one) == .keys(["a"], groups: ["a", "b"]))
        removals.end(one, failed: [], of: .one)
        #expect(removals.isEmpty)
        for number in 0...PendingRemovals.mostKeys {
            removals.insert(EntryKey("\(number)"), isGroup: true, of: .one)
        }
        // They wait for it, though they are not named any more.
        for group in ["7", "other"] {
            #expect(removals.lot(ofGroup: EntryKey(group), .one) == .everything)
        }
        #expect(removals.begin(.everything, .one) == .everything([0]))
        removals.end(.everything, failed: [0], of: .one)
        #expect(removals.lot(ofGroup: "7", .one) == .everything)
        _ = removals.begin(.everything, .one)
        #expect(removals.lot(ofGroup: "7", .one) == .everything)
        removals.end(.everything, failed: [], of: .one)
        #expect(removals.lot(ofGroup: "7", .one) == nil && removals.isEmpty)
    }

    @Test func whatFailedWaitsAgainBesideWhatCameMeanwhile() {
        var removals = PendingRemovals()
        removals.insert("a", of: .one)
        #expect(removals.begin(one, .one) == .keys(["a"]))
        removals.insert("b", of: .one)
        removals.end(one, failed: nil, of: .one)
        #expect(removals.begin(one, .one) == .keys(["a", "b"]))
        removals.insert("a", of: .one)
        removals.end(one, failed: [], of: .one)
        #expect(removals.begin(one, .one) == .keys(["a"]))
    }

    @Test func beyondTheLimitEverythingIsRemoved() {
        var removals = PendingRemovals()
        for number in 0..<PendingRemovals.mostKeys {
            removals.insert(EntryKey("\(number)"), of: .one)
        }
        #expect(removals.lot(ofKey: "other", .one) == nil)
        removals.insert("one more", of: .one)
        #expect(removals.lot(ofKey: "other", .one) == .everything)
        #expect(removals.begin(.everything, .one) == .everything([0]))
        removals.insert("a", of: .one)
        removals.end(.everything, failed: [0], of: .one)
        #expect(removals.begin(.everything, .one) == .everything([0]))
        removals.end(.everything, failed: [], of: .one)
        #expect(
            removals.begin(.everything, .one) == nil && removals.begin(one, .one) == .keys(["a"])
        )
    }

    // MARK: Several primaries

    @Test func whatOnePrimaryHasDoesNotWaitForAnother() {
        let places = Self.places([1, 2])
        var removals = PendingRemovals()
        for key in ["1a", "2a", "2b"] { removals.insert(EntryKey(key), of: places) }
        removals.insert("1g", isGroup: true, of: places)
        #expect(removals.begin(.primary(1), places) == .keys(["1a"], groups: ["1g"]))
        #expect(removals.begin(.primary(2), places) == .keys(["2a", "2b"]))
        removals.end(.primary(2), failed: [], of: places)
        #expect(
            removals.lot(ofKey: "2a", places) == nil
                && removals.lot(ofKey: "1a", places) == .primary(1)
        )
        removals.end(.primary(1), failed: nil, of: places)
        #expect(removals.lots(places) == [.primary(1)])
    }

    @Test func everythingIsDoneOnEachPrimaryForItself() {
        let places = Self.places([1, 2])
        var removals = PendingRemovals()
        removals.insertEverything(of: places)
        #expect(removals.begin(.everything, places) == .everything([1, 2]))
        removals.end(.everything, failed: [2], of: places)
        #expect(
            removals.lot(ofKey: "1a", places) == nil
                && removals.lot(ofKey: "2a", places) == .everything
        )
        // Nobody knows where this one is.
        #expect(removals.lot(ofKey: "a", places) == .everything)
        removals.move(to: Self.places([1, 3]))
        #expect(removals.begin(.everything, places) == .everything([1, 3]))
    }

    /// A replica has taken the place of a primary, before the removal or while it was sent.
    @Test(arguments: [false, true]) func everythingEndsWithThePrimariesThatAreLeft(_ isSent: Bool) {
        let (before, after) = (Self.places([0, 1]), Self.places([1, 3]))
        var removals = PendingRemovals()
        removals.insertEverything(of: before)
        if isSent { _ = removals.begin(.everything, before) }
        removals.move(to: after)
        if isSent { removals.end(.everything, failed: [0], of: after) }
        #expect(removals.begin(.everything, after) == .everything([1, 3]))
        removals.end(.everything, failed: [], of: after)
        #expect(removals.isEmpty)
    }

    @Test func everythingBeforeAnyPrimaryIsKnownIsEverywhere() {
        var removals = PendingRemovals()
        removals.insertEverything(of: Self.places([]))
        #expect(removals.lot(ofKey: "1a", Self.places([1])) == .everything)
        #expect(
            removals.begin(.everything, Self.places([1]))
                == .everything([PendingRemovals.everywhere])
        )
    }

    /// It was sent to where the key was.
    @Test func aKeyThatMovesWaitsForWhatWasSent() {
        var removals = PendingRemovals()
        removals.insert("1a", of: Self.places([1]))
        _ = removals.begin(.primary(1), Self.places([1]))
        let moved = Places(ofKey: { _ in 2 }, ofGroup: { _ in 2 }, all: { [2] })
        #expect(removals.lot(ofKey: "1a", moved) == .primary(1))
        removals.end(.primary(1), failed: nil, of: moved)
        #expect(removals.lot(ofKey: "1a", moved) == .primary(2))
    }
}
