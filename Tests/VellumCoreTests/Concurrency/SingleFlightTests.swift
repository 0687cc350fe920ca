import Testing
import VellumTestSupport

@testable import VellumCore
@testable import VellumEngine

@Suite(.timeLimit(.minutes(60)))
struct SingleFlightTests {
    typealias Flights = SingleFlight<String>

    @Test func theFirstStartsAndTheOthersJoin() {
        var flights = Flights()
        #expect(flights.board("a", waiter: 1, isKept: false, newFlight: 100) == .start)
        #expect(flights.board("a", waiter: 2, isKept: false, newFlight: 101) == .join(100))
        #expect(flights.flight(of: "a") == 100)
        #expect(flights.land(100) == [1, 2])
        #expect(flights.count == 0)
    }

    @Test func anotherKeyIsAnotherFlight() {
        var flights = Flights()
        #expect(flights.board("a", waiter: 1, isKept: false, newFlight: 100) == .start)
        #expect(flights.board("b", waiter: 2, isKept: false, newFlight: 101) == .start)
        #expect(flights.land(101) == [2])
        #expect(flights.isUnderWay(100))
    }

    @Test func theLastWhoLeavesAbandonsTheFlightAndTheNextStartsAnother() {
        var flights = Flights()
        _ = flights.board("a", waiter: 1, isKept: false, newFlight: 100)
        _ = flights.board("a", waiter: 2, isKept: false, newFlight: 101)
        #expect(flights.leave(waiter: 1) == .left)
        #expect(flights.leave(waiter: 1) == .none)
        #expect(flights.leave(waiter: 2) == .abandoned(100))
        #expect(flights.board("a", waiter: 3, isKept: false, newFlight: 102) == .start)
        #expect(flights.land(100) == nil)
        #expect(flights.land(102) == [3])
    }

    @Test func aFlightThatOneWaiterKeepsGoesOnWithoutAny() {
        var flights = Flights()
        _ = flights.board("a", waiter: 1, isKept: false, newFlight: 100)
        _ = flights.board("a", waiter: 2, isKept: true, newFlight: 101)
        #expect(flights.leave(waiter: 2) == .left)
        #expect(flights.leave(waiter: 1) == .left)
        #expect(flights.board("a", waiter: 3, isKept: false, newFlight: 102) == .join(100))
        #expect(flights.land(100) == [3])
    }

    @Test func thereIsOneRefreshAtATimeAndItMayBeJoined() {
        var flights = Flights()
        #expect(flights.refresh("a", newFlight: 100) == true)
        #expect(flights.refresh("a", newFlight: 101) == false)
        #expect(flights.board("a", waiter: 1, isKept: false, newFlight: 102) == .join(100))
        #expect(flights.leave(waiter: 1) == .left)
        #expect(flights.land(100) == [])
        #expect(flights.refresh("a", newFlight: 103) == true)
    }

    /// Random steps against a plain list of who waits for what.
    @Test(arguments: UInt64(0)..<200)
    func randomStepsLeaveWhatAListWouldHold(_ seed: UInt64) {
        struct Waiter {
            var number: UInt64
            var flight: UInt64
        }
        struct Flight {
            var number: UInt64
            var key: String
            var isKept: Bool
        }
        var random = SeededGenerator(seed: seed)
        var flights = Flights()
        var (waiters, underWay): ([Waiter], [Flight]) = ([], [])
        for number in UInt64(1)...300 {
            let key = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            let present = underWay.first { $0.key == key }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let isKept = Int.random(in: 0..<8, using: &random) == 0
                let boarding = flights.board(key, waiter: number, isKept: isKept, newFlight: number + 1000)
                #expect(boarding == (present.map { .join($0.number) } ?? .start), "seed \(seed)")
                if present == nil { underWay.append(Flight(number: number + 1000, key: key, isKept: isKept)) }
                if isKept { underWay = underWay.map { Flight(number: $0.number, key: $0.key, isKept: $0.isKept || $0.key == key) } }
                waiters.append(Waiter(number: number, flight: present?.number ?? number + 1000))
            case 5:
                #expect(flights.refresh(key, newFlight: number + 1000) == (present == nil), "seed \(seed)")
                if present == nil { underWay.append(Flight(number: number + 1000, key: key, isKept: true)) }
            case 6..<8:
                guard let leaver = waiters.randomElement(using: &random) else { continue }
                waiters.removeAll { $0.number == leaver.number }
                let isLast = !waiters.contains { $0.flight == leaver.flight }
                let isKept = underWay.contains { $0.number == leaver.flight && $0.isKept }
                let departure = flights.leave(waiter: leaver.number)
                #expect(departure == (isLast && !isKept ? .abandoned(leaver.flight) : .left), "seed \(seed)")
                if isLast && !isKept { underWay.removeAll { $0.number == leaver.flight } }
            default:
                guard let landing = underWay.randomElement(using: &random) else { continue }
                #expect(flights.land(landing.number) == waiters.filter { $0.flight == landing.number }.map(\.number), "seed \(seed)")
                waiters.removeAll { $0.flight == landing.number }
                underWay.removeAll { $0.number == landing.number }
            }
            flights.checkInvariants()
            #expect(flights.count == underWay.count, "seed \(seed)")
        }
    }
}

@Suite(.timeLimit(.minutes(60)))
struct WaitGraphTests {
    @Test func aLoadThatWaitsForItselfIsFound() {
        var graph = WaitGraph()
        #expect(graph.add(1, waitsFor: 1) == false)
        #expect(graph.isEmpty)
    }

    @Test func aCircleOfAnyLengthIsFoundByWhoeverWouldCloseIt() {
        var graph = WaitGraph()
        for load in UInt64(1)..<10 { #expect(graph.add(load, waitsFor: load + 1) == true) }
        #expect(graph.add(10, waitsFor: 1) == false)
        #expect(graph.add(10, waitsFor: 11) == true)
    }

    @Test func twoWaysToOneLoadAreNoCircle() {
        var graph = WaitGraph()
        #expect(graph.add(1, waitsFor: 2) == true)
        #expect(graph.add(1, waitsFor: 3) == true)
        #expect(graph.add(2, waitsFor: 4) == true)
        #expect(graph.add(3, waitsFor: 4) == true)
    }

    @Test func aWaitEndsWhenItWasEndedAsOftenAsItBegan() {
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

@Suite(.timeLimit(.minutes(60)))
struct RememberedAnswersTests {
    private let now = WallInstant(rawValue: 1_767_225_600_000)

    private func item(for milliseconds: Int64, version: UInt64 = 1) -> NegativeCache.Item {
        .init(answer: .nothing, since: now, until: now.advanced(byMilliseconds: milliseconds), version: version)
    }

    @Test func anAnswerHoldsForItsTimeAndNotBeforeIt() {
        let item = item(for: 10)
        #expect(item.isValid(at: now) && item.isValid(at: now.advanced(byMilliseconds: 9)))
        #expect(!item.isValid(at: now.advanced(byMilliseconds: 10)) && !item.isValid(at: now.advanced(byMilliseconds: -1)))
    }

    @Test func whatIsReplacedIsHandedBackOnce() {
        var answers = NegativeCache()
        #expect(answers.insert(item(for: 10), forKey: "a") == [])
        #expect(answers.insert(item(for: 10, version: 2), forKey: "a") == ["a"])
        #expect(answers.remove("a", version: 1) == false)
        #expect(answers.remove("a", version: 2) == true)
        #expect(answers.count == 0)
    }

    @Test func thereIsRoomForSoManyAndTheDeadLeaveFirst() {
        var answers = NegativeCache()
        var gone = 0
        for number in 0..<NegativeCache.mostKeys {
            let isDead = number % 2 == 0
            gone += answers.insert(item(for: isDead ? 0 : 10), forKey: EntryKey("\(number)")).count
        }
        #expect(gone == 0)
        #expect(answers.insert(item(for: 10), forKey: "another").count == NegativeCache.mostKeys / 2)
        #expect(answers.item("1") != nil && answers.item("2") == nil && answers.item("another") != nil)
        for number in 0..<2000 { gone += answers.insert(item(for: 10), forKey: EntryKey("more \(number)")).count }
        #expect(answers.count <= NegativeCache.mostKeys)
        #expect(answers.count + gone == 2000 + NegativeCache.mostKeys / 2 + 1)
    }
}

@Suite(.timeLimit(.minutes(60)))
struct WatchedKeysTests {
    @Test func aWriteOfAWatchedKeyIsSeenAndNoOther() {
        var keys = WatchedKeys()
        let version = keys.watch("a")
        keys.didWrite("b")
        #expect(keys.isUnchanged("a", since: version))
        keys.didWrite("a")
        #expect(!keys.isUnchanged("a", since: version))
        #expect(keys.isUnchanged("a", since: keys.watch("a")))
    }

    @Test func everyKeyIsWrittenWhenAllAre() {
        var keys = WatchedKeys()
        let (a, b) = (keys.watch("a"), keys.watch("b"))
        keys.didWriteAll()
        #expect(!keys.isUnchanged("a", since: a) && !keys.isUnchanged("b", since: b))
    }

    @Test func aKeyIsWatchedUntilTheLastStopsAndAnOldVersionNeverComesBack() {
        var keys = WatchedKeys()
        let version = keys.watch("a")
        #expect(keys.watch("a") == version)
        keys.unwatch("a")
        #expect(keys.isUnchanged("a", since: version))
        keys.unwatch("a")
        #expect(keys.isEmpty)
        _ = keys.watch("a")
        #expect(!keys.isUnchanged("a", since: version))
    }
}
