import TestThreads
import Testing
import VellumCore

@testable import Shallows

/// Work under a key: one piece at a time, first come, first served.
@Suite(.ownThreads)
struct KeyedMutexTests {
    private let mutex = KeyedMutex()

    private func lockKey(_ key: String) -> LockKey { LockKey(of: mutex, key) }

    /// A piece of work that ends when its promise is kept.
    private func begin(
        _ promise: Promise<Int>,
        key: String = "a",
        _ began: Counter,
        _ call: Call = .completing
    ) -> Answers<Int> {
        let answers = Answers<Int>()
        let reply = mutex.run(lockKey(key), layer: "test", call) { _ in
            began.add()
            return .later(promise)
        }
        reply.deliver { answers.take($0.withUnderlyingError()) }
        return answers
    }

    @Test
    func workForAKeyThatNobodyHoldsIsDoneSynchronously() {
        let began = Counter()
        let reply = mutex.run(lockKey("a"), layer: "test", .completing) { _ in
            .success(began.add())
        }
        if case .now(.success(1)) = reply {} else { Issue.record("It was done later.") }
    }

    @Test
    func theSecondBeginsWhenTheFirstHasEnded() async {
        let (first, second, began) = (Promise<Int>(), Promise<Int>(), Counter())
        let firstAnswers = begin(first, began)
        let secondAnswers = begin(second, began)
        #expect(began.value == 1)
        first.fulfill(.success(1))
        await until("the second has begun") { began.value == 2 }
        second.fulfill(.success(2))
        #expect(firstAnswers.value == 1)
        #expect(await (try? secondAnswers.first().get()) == 2)
    }

    @Test
    func otherKeysAndOtherOwnersDoNotWait() {
        let (promise, began) = (Promise<Int>(), Counter())
        let first = begin(promise, began)
        _ = begin(promise, key: "b", began)
        _ = KeyedMutex().run(lockKey("a"), layer: "test", .completing) { _ in
            .success(began.add())
        }
        #expect(began.value == 3 && first.isEmpty)
        promise.fulfill(.success(0))
    }

    @Test
    func workThatFailsUnlocksTheKey() {
        let failure = ShallowsError(.failed, "No.", layer: "test")
        let failed: Reply<Int> = mutex.run(lockKey("a"), layer: "test", .completing) { _ in
            .failure(failure)
        }
        guard case .now(.failure) = failed else { return #expect(Bool(false)) }
        let next: Reply<Int> = mutex.run(lockKey("a"), layer: "test", .completing) { _ in
            .success(1)
        }
        guard case .now(.success) = next else { return #expect(Bool(false)) }
    }

    @Test
    func waitersGoInOrder() async {
        let (first, order) = (Promise<Int>(), Locker<[Int]>([]))
        _ = begin(first, Counter())
        let done = Counter()
        for index in 0..<1_000 {
            let reply: Reply<Void> = mutex.run(lockKey("a"), layer: "test", .completing) { _ in
                .success(order.locked.withLock { $0.append(index) })
            }
            reply.deliver { _ in done.add() }
        }
        first.fulfill(.success(0))
        await until("all waiters have ended") { done.value == 1_000 }
        #expect(order.locked.withLock { $0 } == Array(0..<1_000))
    }

    @Test
    func twentyThousandMayWaitForOneKey() async {
        let (first, done) = (Promise<Int>(), Counter())
        _ = begin(first, Counter())
        let count = LongRun.number(20_000, usually: 8000)
        for index in 0..<count {
            mutex.run(lockKey("a"), layer: "test", .completing) { _ in .success(index) }.deliver {
                _ in done.add()
            }
        }
        first.fulfill(.success(0))
        await until("all waiters have ended") { done.value == count }
    }

    @Test
    func aWaiterThatCancelsLeavesAndItsWorkIsNotBegun() async {
        let (first, began) = (Promise<Int>(), Counter())
        _ = begin(first, began)
        let cancellation = Cancellation()
        let cancelled = begin(Promise(), began, Call(cancellation: cancellation))
        let last = Promise<Int>()
        let lastAnswers = begin(last, began)
        cancellation.cancel()
        #expect(cancelled.error is CancellationError)
        first.fulfill(.success(0))
        last.fulfill(.success(3))
        #expect(await (try? lastAnswers.first().get()) == 3)
        #expect(began.value == 2)
    }

    @Test
    func workOfACallThatWasCancelledBeforeIsNotBegun() async {
        let (first, began) = (Promise<Int>(), Counter())
        _ = begin(first, began)
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(
            begin(Promise(), began, Call(cancellation: cancellation)).error is CancellationError
        )
        first.fulfill(.success(0))
        #expect(began.value == 1)
    }

    @Test
    func theKeyIsFreeAgainAfterAll() async {
        let (first, began) = (Promise<Int>(), Counter())
        let cancellation = Cancellation()
        _ = begin(first, began)
        _ = begin(Promise(), began, Call(cancellation: cancellation))
        cancellation.cancel()
        first.fulfill(.success(0))
        let reply: Reply<Int> = mutex.run(lockKey("a"), layer: "test", .completing) { _ in
            .success(7)
        }
        guard case .now(.success(7)) = reply else { return #expect(Bool(false)) }
    }

    // MARK: Which mutex are the same

    struct Place: Sendable {
        var name: String
    }

    @Test
    func aLockKeyIsOfAStorageAndAKey() {
        let (one, other) = (MemoryStorage<String, Int>(), MemoryStorage<String, Int>())
        #expect(LockKey(of: one, "a") == LockKey(of: one, "a"))
        #expect(
            LockKey(of: one, "a") != LockKey(of: one, "b")
                && LockKey(of: one, "a") != LockKey(of: other, "a")
        )
        #expect(
            LockKey(of: one, Place(name: "a")) == LockKey(of: one, Place(name: "b")),
            "keys that cannot be compared are one"
        )
        #expect(
            LockKey(of: one, Double.nan) == LockKey(of: one, Double.nan),
            "and so are those that are not equal to themselves"
        )
        #expect(LockKey(of: one, ()) == LockKey(of: one, ()))
    }

    @Test
    func aMappedStorageHasTheLockKeysOfTheOneBelow() {
        let memory = MemoryStorage<String, Int>()
        let mapped = memory.mapKeys { (number: Int) in String(number) }.mapValues(
            transformIn: { $0 },
            transformOut: { $0 }
        ).renaming(
            to: "x"
        )
        #expect(mapped.operations.lockKey(7) == LockKey(of: memory, "7"))
        #expect(memory.singleKey("a").operations.lockKey(()) == LockKey(of: memory, "a"))
        #expect(
            memory.combined(with: Scripted()).operations.lockKey("a") == LockKey(of: memory, "a")
        )
    }
}
