import Testing

@testable import Shallows

/// Retrievals of one key that are one.
@Suite(.timeLimit(.minutes(60)))
struct FlightsTests {
    private let flights = Flights<String, Int>()

    private func join(_ promise: Promise<Int>, key: String = "a", _ started: Counter, _ call: Call = .completing) -> Answers<Int> {
        let answers = Answers<Int>()
        flights.join(key, layer: "back", call) { _ in
            started.add()
            return .later(promise)
        }.deliver { answers.take($0.surfaced()) }
        return answers
    }

    @Test
    func oneIsUnderWayForEachKeyAndLeavesNothingBehind() {
        let (promise, started) = (Promise<Int>(), Counter())
        let answers = (0..<10).map { _ in join(promise, started) } + [join(promise, key: "b", started)]
        #expect(started.value == 2 && flights.count == 2)
        promise.keep(.success(1))
        #expect(answers.allSatisfy { $0.value == 1 } && flights.count == 0)
    }

    @Test
    func aRetrievalThatAnswersAtOnceIsNoFlightForLong() {
        let reply = flights.join("a", layer: "back", .completing) { _ in .success(1) }
        guard case .now(.success(1)) = reply else { return #expect(Bool(false)) }
        #expect(flights.count == 0)
    }

    @Test
    func noOneJoinsAFlightThatIsDetachedAndItTellsThoseWhoWait() {
        let (old, new, started) = (Promise<Int>(), Promise<Int>(), Counter())
        let early = join(old, started)
        flights.detach("a")
        let late = join(new, started)
        #expect(started.value == 2 && flights.count == 2)
        new.keep(.success(2))
        #expect(late.value == 2 && early.isEmpty)
        old.keep(.success(1))
        #expect(early.value == 1 && flights.count == 0)
    }

    @Test
    func anOldFlightThatLandsLeavesTheNewOne() {
        let (old, new, started) = (Promise<Int>(), Promise<Int>(), Counter())
        _ = join(old, started)
        flights.detachAll()
        let second = join(new, started)
        old.keep(.success(1))
        let third = join(new, started)
        #expect(started.value == 2)
        new.keep(.success(2))
        #expect(second.value == 2 && third.value == 2)
    }

    @Test
    func theLastWhoLeavesCancelsIt() {
        let (promise, started) = (Promise<Int>(), Counter())
        let calls = (0..<3).map { _ in Cancellation() }
        let whole = Locker<Call?>(nil)
        var answers: [Answers<Int>] = []
        for cancellation in calls {
            let own = Answers<Int>()
            flights.join("a", layer: "back", Call(cancellation: cancellation)) { call in
                whole.locked.withLock { $0 = call }
                return .later(promise)
            }.deliver { own.take($0.surfaced()) }
            answers.append(own)
        }
        calls[1].cancel()
        calls[0].cancel()
        #expect(answers[0].error is CancellationError && answers[1].error is CancellationError && answers[2].isEmpty)
        #expect(whole.locked.withLock { $0 }?.isCancelled == false && flights.count == 1)
        calls[2].cancel()
        #expect(whole.locked.withLock { $0 }?.isCancelled == true && flights.count == 0)
        #expect(join(Promise(), started).isEmpty && started.value == 1, "the next starts another")
        promise.keep(.success(1))
        #expect(answers[2].error is CancellationError)
    }

    @Test
    func whoIsCancelledWhileHeStartsLeavesOthersBehind() {
        let (promise, cancellation, started) = (Promise<Int>(), Cancellation(), Counter())
        let other = Answers<Int>()
        let own = Answers<Int>()
        let flights = flights
        flights.join("a", layer: "back", Call(cancellation: cancellation)) { _ in
            // Another comes, from code that is no part of this; then the first is cancelled.
            NamedWork.$current.withValue([]) {
                flights.join("a", layer: "back", .completing) { _ in .success(started.add()) }.deliver { other.take($0.surfaced()) }
            }
            cancellation.cancel()
            return .later(promise)
        }.deliver { own.take($0.surfaced()) }
        #expect(own.error is CancellationError && other.isEmpty && started.value == 0)
        promise.keep(.success(1))
        #expect(other.value == 1)
    }

    @Test
    func lateIsTheJoinerOfAFlightThatIsLate() {
        let (promise, first, second) = (Promise<Int>(), Counter(), Counter())
        let whole = Locker<Call?>(nil)
        _ = flights.join("a", layer: "back", Call.completing.whenLate { first.add() }) { call in
            whole.locked.withLock { $0 = call }
            return .later(promise)
        }
        #expect(first.value == 0)
        whole.locked.withLock { $0 }?.whenLate?()
        #expect(first.value > 0)
        _ = flights.join("a", layer: "back", Call.completing.whenLate { second.add() }) { _ in .later(promise) }
        #expect(second.value > 0)
    }
}
