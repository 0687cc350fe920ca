import Testing

@testable import Shallows

/// One at a time, in the order in which they came.
@Suite(.timeLimit(.minutes(60)))
struct TurnsTests {
    private let turns = Turns()

    private func turn(_ key: String) -> Turn { Turn(of: turns, key) }

    /// A piece of work that ends when its promise is kept.
    private func begin(_ promise: Promise<Int>, key: String = "a", _ began: Counter, _ call: Call = .completing) -> Answers<Int> {
        let answers = Answers<Int>()
        let reply = turns.run(turn(key), layer: "test", call) { _ in
            began.add()
            return .later(promise)
        }
        reply.deliver { answers.take($0.surfaced()) }
        return answers
    }

    @Test
    func workForATurnThatNobodyHasIsDoneAtOnceAndHere() {
        let began = Counter()
        let reply = turns.run(turn("a"), layer: "test", .completing) { _ in .success(began.add()) }
        if case .now(.success(1)) = reply {} else { Issue.record("It was done later.") }
    }

    @Test
    func theSecondBeginsWhenTheFirstHasEnded() async {
        let (first, second, began) = (Promise<Int>(), Promise<Int>(), Counter())
        let firstAnswers = begin(first, began)
        let secondAnswers = begin(second, began)
        #expect(began.value == 1)
        first.keep(.success(1))
        await until { began.value == 2 }
        second.keep(.success(2))
        #expect(firstAnswers.value == 1)
        #expect(await (try? secondAnswers.first().get()) == 2)
    }

    @Test
    func otherKeysAndOtherOwnersDoNotWait() {
        let (promise, began) = (Promise<Int>(), Counter())
        let first = begin(promise, began)
        _ = begin(promise, key: "b", began)
        _ = Turns().run(turn("a"), layer: "test", .completing) { _ in .success(began.add()) }
        #expect(began.value == 3 && first.isEmpty)
        promise.keep(.success(0))
    }

    @Test
    func workThatFailsLeavesTheTurn() {
        let failure = ShallowsError(.failed, "No.", layer: "test")
        let failed: Reply<Int> = turns.run(turn("a"), layer: "test", .completing) { _ in .failure(failure) }
        guard case .now(.failure) = failed else { return #expect(Bool(false)) }
        let next: Reply<Int> = turns.run(turn("a"), layer: "test", .completing) { _ in .success(1) }
        guard case .now(.success) = next else { return #expect(Bool(false)) }
    }

    @Test
    func whoWaitsInLineGoesInOrder() async {
        let (first, order) = (Promise<Int>(), Locker<[Int]>([]))
        _ = begin(first, Counter())
        let done = Counter()
        for index in 0..<1_000 {
            let reply: Reply<Void> = turns.run(turn("a"), layer: "test", .completing) { _ in
                .success(order.locked.withLock { $0.append(index) })
            }
            reply.deliver { _ in done.add() }
        }
        first.keep(.success(0))
        await until { done.value == 1_000 }
        #expect(order.locked.withLock { $0 } == Array(0..<1_000))
    }

    @Test
    func twentyThousandMayWaitForOneTurn() async {
        let (first, done) = (Promise<Int>(), Counter())
        _ = begin(first, Counter())
        for index in 0..<20_000 {
            turns.run(turn("a"), layer: "test", .completing) { _ in .success(index) }.deliver { _ in done.add() }
        }
        first.keep(.success(0))
        await until { done.value == 20_000 }
    }

    @Test
    func whoCancelsInLineLeavesItAndIsNotBegun() async {
        let (first, began) = (Promise<Int>(), Counter())
        _ = begin(first, began)
        let cancellation = Cancellation()
        let cancelled = begin(Promise(), began, Call(cancellation: cancellation))
        let last = Promise<Int>()
        let lastAnswers = begin(last, began)
        cancellation.cancel()
        #expect(cancelled.error is CancellationError)
        first.keep(.success(0))
        last.keep(.success(3))
        #expect(await (try? lastAnswers.first().get()) == 3)
        #expect(began.value == 2)
    }

    @Test
    func whoIsCancelledBeforeHeComesIsNotBegun() async {
        let (first, began) = (Promise<Int>(), Counter())
        _ = begin(first, began)
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(begin(Promise(), began, Call(cancellation: cancellation)).error is CancellationError)
        first.keep(.success(0))
        #expect(began.value == 1)
    }

    @Test
    func theTurnIsFreeAgainAfterAll() async {
        let (first, began) = (Promise<Int>(), Counter())
        let cancellation = Cancellation()
        _ = begin(first, began)
        _ = begin(Promise(), began, Call(cancellation: cancellation))
        cancellation.cancel()
        first.keep(.success(0))
        let reply: Reply<Int> = turns.run(turn("a"), layer: "test", .completing) { _ in .success(7) }
        guard case .now(.success(7)) = reply else { return #expect(Bool(false)) }
    }

    // MARK: Which turns are the same

    struct Place: Sendable {
        var name: String
    }

    @Test
    func aTurnIsOfAStorageAndAKey() {
        let (one, other) = (MemoryStorage<String, Int>(), MemoryStorage<String, Int>())
        #expect(Turn(of: one, "a") == Turn(of: one, "a"))
        #expect(Turn(of: one, "a") != Turn(of: one, "b") && Turn(of: one, "a") != Turn(of: other, "a"))
        #expect(Turn(of: one, Place(name: "a")) == Turn(of: one, Place(name: "b")), "keys that cannot be compared are one")
        #expect(Turn(of: one, Double.nan) == Turn(of: one, Double.nan), "and so are those that are not equal to themselves")
        #expect(Turn(of: one, ()) == Turn(of: one, ()))
    }

    @Test
    func aMappedStorageHasTheTurnsOfTheOneBelow() {
        let memory = MemoryStorage<String, Int>()
        let mapped = memory.mapKeys { (number: Int) in String(number) }.mapValues(transformIn: { $0 }, transformOut: { $0 }).renaming(
            to: "x")
        #expect(mapped.verbs.turn(7) == Turn(of: memory, "7"))
        #expect(memory.singleKey("a").verbs.turn(()) == Turn(of: memory, "a"))
        #expect(memory.combined(with: Scripted()).verbs.turn("a") == Turn(of: memory, "a"))
    }
}
