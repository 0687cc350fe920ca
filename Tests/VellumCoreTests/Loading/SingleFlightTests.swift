import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

@Suite(.ownThreads)
struct SingleFlightTests {
    typealias Loads = SingleFlight<String>

    @Test func theFirstWaiterStartsALoadAndTheOthersJoin() {
        var loads = Loads()
        #expect(loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100) == 100)
        #expect(loads.join("a", waiter: 2, keepsRunning: false, newLoad: 101) == 100)
        #expect(loads.load(of: "a") == 100)
        #expect(loads.finish(100) == [1, 2])
        #expect(loads.count == 0)
    }

    @Test func eachKeyHasItsOwnLoad() {
        var loads = Loads()
        #expect(loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100) == 100)
        #expect(loads.join("b", waiter: 2, keepsRunning: false, newLoad: 101) == 101)
        #expect(loads.finish(101) == [2])
        #expect(loads.isRunning(100))
    }

    @Test func theLastWaiterToLeaveAbandonsTheLoadAndTheNextCallerStartsAnother() {
        var loads = Loads()
        _ = loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100)
        _ = loads.join("a", waiter: 2, keepsRunning: false, newLoad: 101)
        #expect(loads.leave(waiter: 1) == nil)
        #expect(loads.leave(waiter: 1) == nil)
        #expect(loads.leave(waiter: 2) == 100)
        #expect(loads.join("a", waiter: 3, keepsRunning: false, newLoad: 102) == 102)
        #expect(loads.finish(100) == nil)
        #expect(loads.finish(102) == [3])
    }

    @Test func aLoadThatOneWaiterKeepsRunningContinuesWithoutWaiters() {
        var loads = Loads()
        _ = loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100)
        _ = loads.join("a", waiter: 2, keepsRunning: true, newLoad: 101)
        #expect(loads.leave(waiter: 2) == nil)
        #expect(loads.leave(waiter: 1) == nil)
        #expect(loads.join("a", waiter: 3, keepsRunning: false, newLoad: 102) == 100)
        #expect(loads.finish(100) == [3])
    }

    @Test func onlyOneRefreshRunsAtATimeAndCallersCanJoinIt() {
        var loads = Loads()
        #expect(loads.refresh("a", newLoad: 100) == true)
        #expect(loads.refresh("a", newLoad: 101) == false)
        #expect(loads.join("a", waiter: 1, keepsRunning: false, newLoad: 102) == 100)
        #expect(loads.leave(waiter: 1) == nil)
        #expect(loads.finish(100) == [])
        #expect(loads.refresh("a", newLoad: 103) == true)
    }

    /// Random steps, compared with a plain list of waiters and loads.
    @Test(arguments: 0..<UInt64(LongRun.number(200, usually: 40)))
    func randomStepsMatchAPlainList(_ seed: UInt64) {
        struct Waiter {
            var number: UInt64
            var load: UInt64
        }
        struct Load {
            var number: UInt64
            var key: String
            var keepsRunning: Bool
        }
        var random = SeededGenerator(seed: seed)
        var loads = Loads()
        var (waiters, running): ([Waiter], [Load]) = ([], [])
        for number in UInt64(1)...300 {
            let key = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            let present = running.first { $0.key == key }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let keepsRunning = Int.random(in: 0..<8, using: &random) == 0
                let joining = loads.join(
                    key,
                    waiter: number,
                    keepsRunning: keepsRunning,
                    newLoad: number + 1000
                )
                #expect(joining == present?.number ?? number + 1000, "seed \(seed)")
                if present == nil {
                    running.append(
                        Load(number: number + 1000, key: key, keepsRunning: keepsRunning)
                    )
                }
                for index in running.indices where keepsRunning && running[index].key == key {
                    running[index].keepsRunning = true
                }
                waiters.append(Waiter(number: number, load: present?.number ?? number + 1000))
            case 5:
                #expect(
                    loads.refresh(key, newLoad: number + 1000) == (present == nil),
                    "seed \(seed)"
                )
                if present == nil {
                    running.append(Load(number: number + 1000, key: key, keepsRunning: true))
                }
            case 6..<8:
                guard let leaver = waiters.randomElement(using: &random) else { continue }
                waiters.removeAll { $0.number == leaver.number }
                let isLast = !waiters.contains { $0.load == leaver.load }
                let keepsRunning = running.contains { $0.number == leaver.load && $0.keepsRunning }
                let departure = loads.leave(waiter: leaver.number)
                #expect(departure == (isLast && !keepsRunning ? leaver.load : nil), "seed \(seed)")
                if isLast && !keepsRunning { running.removeAll { $0.number == leaver.load } }
            default:
                guard let ending = running.randomElement(using: &random) else { continue }
                #expect(
                    loads.finish(ending.number)
                        == waiters.filter { $0.load == ending.number }.map(\.number),
                    "seed \(seed)"
                )
                waiters.removeAll { $0.load == ending.number }
                running.removeAll { $0.number == ending.number }
            }
            loads.checkInvariants()
            #expect(loads.count == running.count, "seed \(seed)")
        }
    }
}

@Suite(.ownThreads)
struct WaitGraphTests {
    @Test func aLoadThatWaitsForItselfIsDetected() {
        var graph = WaitGraph()
        #expect(graph.add(1, waitsFor: 1) == false)
        #expect(graph.isEmpty)
    }

    @Test func aCycleOfAnyLengthIsDetectedByItsLastEdge() {
        var graph = WaitGraph()
        for load in UInt64(1)..<10 { #expect(graph.add(load, waitsFor: load + 1) == true) }
        #expect(graph.add(10, waitsFor: 1) == false)
        #expect(graph.add(10, waitsFor: 11) == true)
    }

    @Test func twoPathsToOneLoadAreNotACycle() {
        var graph = WaitGraph()
        #expect(graph.add(1, waitsFor: 2) == true)
        #expect(graph.add(1, waitsFor: 3) == true)
        #expect(graph.add(2, waitsFor: 4) == true)
        #expect(graph.add(3, waitsFor: 4) == true)
    }

    @Test func aWaitEndsOnceItIsRemovedAsOftenAsItWasAdded() {
        var graph = WaitGraph()
        #expect(graph.add(1, waitsFor: 2) == true)
        #expect(graph.add(1, waitsFor: 2) == true)
        graph.remove(1, waitsFor: 2)
        #expect(graph.add(2, waitsFor: 1) == false)
        graph.remove(1, waitsFor: 2)
        #expect(graph.isEmpty)
        #expect(graph.add(2, waitsFor: 1) == true)
    }
}
