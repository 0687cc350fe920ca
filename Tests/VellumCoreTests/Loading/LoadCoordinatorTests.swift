import TestThreads
import Testing
import VellumTestSupport

@testable import VellumCore

/// Detached loads of a ``SingleFlight``: at most two of a key run.
@Suite(.ownThreads)
struct DetachedLoadsTests {
    typealias Loads = SingleFlight<String>

    @Test func theElderOfTwoDetachedLoadsEndsWhenAnotherStarts() {
        var loads = Loads()
        #expect(loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100) == 100)
        loads.detach("a")
        #expect(loads.endElders(of: "a", startedBy: 100).isEmpty)
        #expect(loads.join("a", waiter: 2, keepsRunning: false, newLoad: 101) == 101)
        #expect(loads.endElders(of: "a", startedBy: 101).isEmpty)
        loads.detach("a")
        #expect(loads.join("a", waiter: 3, keepsRunning: false, newLoad: 102) == 102)
        let ended = loads.endElders(of: "a", startedBy: 102)
        #expect(ended.map(\.load) == [100] && ended.map(\.waiters) == [[1]])
        loads.checkInvariants()
        #expect(loads.finish(100) == nil)
        #expect(loads.finish(101) == [2])
        #expect(loads.finish(102) == [1, 3])
        #expect(loads.count == 0)
    }

    @Test func aDetachedLoadThatEndedLeavesRoomForAnother() {
        var loads = Loads()
        for load: UInt64 in 100..<110 {
            #expect(loads.join("a", waiter: load - 99, keepsRunning: false, newLoad: load) == load)
            #expect(loads.endElders(of: "a", startedBy: load).isEmpty)
            loads.detach("a")
            #expect(loads.finish(load) == [load - 99])
        }
    }

    @Test func aLoadOfAnotherKeyIsNoElder() {
        var loads = Loads()
        for (number, key) in ["a", "b", "c"].enumerated() {
            _ = loads.join(
                key,
                waiter: UInt64(number),
                keepsRunning: false,
                newLoad: UInt64(100 + number)
            )
            loads.detach(key)
        }
        #expect(loads.join("a", waiter: 9, keepsRunning: false, newLoad: 109) == 109)
        #expect(loads.endElders(of: "a", startedBy: 109).isEmpty && loads.count == 4)
    }

    /// Its waiters brought it, and wait for the newest.
    @Test(arguments: [false, true]) func whoKeepsAnElderRunningKeepsTheNewestRunning(
        _ keepsRunning: Bool
    ) {
        var loads = Loads()
        for load: UInt64 in 100...102 {
            _ = loads.join(
                "a",
                waiter: load,
                keepsRunning: keepsRunning && load == 100,
                newLoad: load
            )
            _ = loads.endElders(of: "a", startedBy: load)
            if load < 102 { loads.detach("a") }
        }
        #expect(loads.leave(waiter: 102) == nil)
        #expect(loads.leave(waiter: 100) == (keepsRunning ? nil : 102))
        loads.checkInvariants()
    }

    @Test func onlyTheLoadThatIsMeantIsDetached() {
        var loads = Loads()
        _ = loads.join("a", waiter: 1, keepsRunning: false, newLoad: 100)
        loads.detach("a", only: 99)
        #expect(loads.load(of: "a") == 100)
        loads.detach("a", only: 100)
        #expect(loads.load(of: "a") == nil && loads.isRunning(100))
    }

    /// Random steps: each waiter is answered once, by a load that began after it joined or that it
    /// joined.
    @Test(arguments: 0..<UInt64(LongRun.number(200, usually: 40)))
    func randomWritesLeaveAtMostTwoLoadsOfAKey(_ seed: UInt64) {
        var (random, loads) = (SeededGenerator(seed: seed), Loads())
        var (waiting, running): (Set<UInt64>, [String: Set<UInt64>]) = ([], [:])
        for number in UInt64(1)...300 {
            let key = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let load = loads.join(
                    key,
                    waiter: number,
                    keepsRunning: Bool.random(using: &random),
                    newLoad: number + 1000
                )
                waiting.insert(number)
                guard load == number + 1000 else { continue }
                running[key, default: []].insert(load)
                for elder in loads.endElders(of: key, startedBy: load) {
                    #expect(running[key]?.remove(elder.load) != nil)
                }
            case 4..<8: loads.detach(key)
            case 8:
                guard let waiter = waiting.randomElement(using: &random) else { continue }
                waiting.remove(waiter)
                guard let load = loads.leave(waiter: waiter) else { continue }
                for key in running.keys { running[key]?.remove(load) }
            default:
                guard let load = running[key]?.sorted().randomElement(using: &random) else {
                    continue
                }
                running[key]?.remove(load)
                for waiter in loads.finish(load) ?? [] {
                    #expect(waiting.remove(waiter) != nil, "seed \(seed)")
                }
            }
            loads.checkInvariants()
            #expect(
                running.values.allSatisfy { $0.count <= 2 }
                    && loads.count == running.values.reduce(0) { $0 + $1.count },
                "seed \(seed)"
            )
        }
        for load in running.values.joined() {
            for waiter in loads.finish(load) ?? [] {
                #expect(waiting.remove(waiter) != nil, "seed \(seed)")
            }
        }
        #expect(waiting.isEmpty, "seed \(seed)")
    }
}

/// A ``LoadCoordinator`` calls handlers, and knows loads by the versions of their keys.
@Suite(.ownThreads)
struct LoadHandlersTests {
    private let loads = LoadCoordinator<String, Int>()
    private let calls = Calls()

    /// What was called, in order.
    private final class Calls: Sendable {
        private let names = Locked<[String]>([])

        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    private func join(_ name: String, of key: String = "a", version: UInt64? = nil) throws -> UInt64
    {
        let waiter = LoadCoordinator<String, Int>.Waiter { [calls] ending in
            if case .finished(let value, _) = ending {
                calls.add("\(name) has \(value)")
            } else {
                calls.add("\(name) left")
            }
        }
        guard case .started(let load) = loads.join(key, version: version, waiter) else {
            throw CancellationError()
        }
        return load
    }

    private func handlers(_ name: String) -> LoadCoordinator<String, Int>.Handlers {
        .init(
            onLate: { [calls] in calls.add("\(name) is late") },
            cancel: { [calls] in calls.add("\(name) is cancelled") },
            onEnd: { [calls] in calls.add("\(name) ends") }
        )
    }

    @Test func aLoadThatIsFinishedEndsAndIsNotCancelled() throws {
        let load = try join("w")
        loads.setHandlers(handlers("l"), of: load)
        #expect(loads.finish(load, 1) == true)
        #expect(calls.all == ["l ends", "w has 1"])
    }

    @Test func aLoadThatItsLastWaiterLeavesIsCancelledAndEnds() {
        let waiter = LoadCoordinator<String, Int>.Waiter { [calls] _ in calls.add("w left") }
        guard case .started(let load) = loads.join("a", waiter) else { return #expect(Bool(false)) }
        loads.setHandlers(handlers("l"), of: load)
        loads.leave(waiter.number)
        #expect(calls.all == ["l is cancelled", "l ends", "w left"])
        #expect(loads.finish(load, 1) == nil && loads.isIdle)
    }

    @Test func whoSetsHandlersOfALoadThatHasEndedIsToldSo() throws {
        let load = try join("w")
        loads.finish(load, 1)
        loads.setHandlers(handlers("l"), of: load)
        #expect(calls.all == ["w has 1", "l is cancelled", "l ends"])
    }

    @Test func theElderIsCancelledBeforeTheNewestRuns() throws {
        for name in ["1", "2", "3"] {
            let load = try join(name)
            calls.add("\(name) runs")
            loads.setHandlers(handlers("load \(name)"), of: load)
            if name == "3" { loads.finish(load, 3) } else { loads.detach(["a"]) }
        }
        #expect(
            calls.all == [
                "1 runs", "2 runs", "load 1 is cancelled", "load 1 ends", "3 runs", "load 3 ends",
                "1 has 3", "3 has 3",
            ]
        )
        #expect(loads.count == 1)
        loads.checkInvariants()
    }

    /// The version is that of the caller that starts the load.
    @Test func aLoadIsDetachedIfItsVersionWasOvertaken() throws {
        let first = try join("1", version: 7)
        var asked: [UInt64] = []
        loads.detach("a") { version in
            asked.append(version)
            return false
        }
        loads.detach("b") { _ in true }
        #expect(asked == [7])
        guard case .waits = loads.join("a", version: 8, .init { _ in }) else {
            return #expect(Bool(false))
        }
        loads.detach("a") { $0 == 7 }
        let second = try join("2", version: 8)
        #expect(first != second && loads.count == 2)
        loads.checkInvariants()
        for load in [first, second] { loads.finish(load, 0) }
        #expect(loads.isIdle && loads.waiterCount == 0)
    }

    @Test func aLoadWithoutAVersionIsNotOvertaken() throws {
        _ = try join("1")
        loads.detach("a") { _ in true }
        guard case .waits = loads.join("a", .init { _ in }) else { return #expect(Bool(false)) }
    }

    @Test func lateLoadsAreToldAndCancelledOneByOne() async throws {
        let clock = ManualClock()
        let begin = clock.timer.now()
        for (name, seconds) in [("a", 3), ("b", 1), ("c", 2)] {
            let load = try join("waiter of \(name)", of: name)
            let handlers = handlers(name)
            loads.setHandlers(
                .init(
                    onLate: { [loads] in
                        handlers.onLate()
                        loads.finish(load, 0, cancels: true)
                    },
                    cancel: handlers.cancel,
                    onEnd: handlers.onEnd
                ),
                of: load
            )
            loads.limit(load, until: begin + Int64(seconds) * 1000, by: clock.timer)
        }
        var expected: [String] = []
        for (seconds, name) in [(1, "b"), (2, "c"), (3, "a")] {
            await clock.waitForSleeper(until: WallInstant(rawValue: begin + Int64(seconds) * 1000))
            clock.advance(by: .seconds(1))
            expected += [
                "\(name) is late", "\(name) is cancelled", "\(name) ends",
                "waiter of \(name) has 0",
            ]
            await until("the late load has ended") { calls.all.count >= expected.count }
            #expect(calls.all == expected)
        }
        #expect(loads.isIdle)
    }

    @Test func aLoadWhoseLimitIsLiftedIsNotLate() async throws {
        let clock = ManualClock()
        let begin = clock.timer.now()
        let load = try join("w")
        loads.setHandlers(handlers("l"), of: load)
        loads.limit(load, until: begin + 1000, by: clock.timer)
        await clock.waitForSleeper(until: WallInstant(rawValue: begin + 1000))
        loads.limit(load, until: .max, by: clock.timer)
        let other = try join("other", of: "b")
        loads.limit(other, until: begin + 1000, by: clock.timer)
        loads.setHandlers(handlers("o"), of: other)
        clock.advance(by: .seconds(1))
        await until("the other load is late") { !calls.all.isEmpty }
        #expect(!calls.all.contains("l is late") && loads.isRunning(load))
    }
}
