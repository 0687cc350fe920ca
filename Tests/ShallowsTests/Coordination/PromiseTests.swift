import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

/// An answer that comes later, once.
@Suite(.ownThreads)
struct PromiseTests {
    @Test
    func aPromiseIsFulfilledOnceAndCallsEveryObserver() {
        let (promise, seen) = (Promise<Int>(), Locker<[Int]>([]))
        let note: @Sendable (Outcome<Int>) -> Void = { outcome in
            seen.locked.withLock { $0.append((try? outcome.get()) ?? -1) }
        }
        for _ in 0..<3 { promise.observe(note) }
        #expect(promise.outcome == nil)
        #expect(promise.fulfill(.success(1)) && !promise.fulfill(.success(2)))
        promise.observe(note)
        #expect(seen.locked.withLock { $0 } == [1, 1, 1, 1])
    }

    @Test
    func anObserverMayObserveAndFulfill() {
        let (promise, other, seen) = (Promise<Int>(), Promise<Int>(), Counter())
        promise.observe { _ in
            promise.observe { _ in seen.add() }
            other.fulfill(.success(1))
        }
        other.observe { _ in seen.add() }
        promise.fulfill(.success(1))
        #expect(seen.value == 2)
    }

    @Test
    func aThreadMayWaitForAPromiseThatIsFulfilledBeforeOrAfter() async throws {
        let promise = Promise<Int>()
        let waiting = Task { try await onThread { try promise.wait().get() } }
        promise.fulfill(.success(1))
        #expect(try await waiting.value == 1)
        #expect(try promise.wait().get() == 1)
    }

    @Test
    func aReplyThatIsThereGoesOnSynchronouslyAndOneThatIsNotLater() {
        let promise = Promise<Int>()
        guard case .now(.success(2)) = Reply.success(1).then({ .now($0.map { $0 + 1 }) }) else {
            return #expect(Bool(false))
        }
        let answers = Answers<Int>()
        Reply.later(promise).then { .now($0.map { $0 + 1 }) }.then { .now($0.map { $0 * 10 }) }
            .deliver { answers.take($0.withUnderlyingError()) }
        #expect(answers.isEmpty)
        promise.fulfill(.success(1))
        #expect(answers.value == 20)
    }

    @Test
    func aCancellationCallsEachHandlerOnceAlsoOneThatIsAddedAfterIt() {
        let (cancellation, called) = (Cancellation(), Locker<[Int]>([]))
        let first = cancellation.onCancel { called.locked.withLock { $0.append(1) } }
        cancellation.onCancel { called.locked.withLock { $0.append(2) } }
        cancellation.removeHandler(first)
        #expect(!cancellation.isCancelled)
        cancellation.cancel()
        cancellation.cancel()
        cancellation.onCancel { called.locked.withLock { $0.append(3) } }
        #expect(cancellation.isCancelled && called.locked.withLock { $0 } == [2, 3])
    }

    @Test
    func whatContinuesAReplyIsPartOfTheWorkThatAskedForIt() {
        let (work, promise, seen) = (
            ReentrancyGuard.Work.load(1), Promise<Int>(), Locker<[Bool]>([])
        )
        let note: @Sendable () -> Void = {
            seen.locked.withLock { $0.append(ReentrancyGuard.isActive(work)) }
        }
        let reply = ReentrancyGuard(work).run {
            Reply.later(promise).then { outcome in
                note()
                return .now(outcome)
            }
        }
        reply.deliver { _ in note() }
        promise.fulfill(.success(1))
        #expect(seen.locked.withLock { $0 } == [true, false], "a completion is not part of it")
    }
}
