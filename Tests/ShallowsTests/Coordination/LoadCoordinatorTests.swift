import Dispatch
import TestThreads
import Testing
import VellumCore

@testable import Shallows

/// Retrievals of one key from the back of a composition are one load.
@Suite(.ownThreads)
struct LoadCoordinatorTests {
    private let loads = LoadCoordinator<LoadKey, Outcome<Int>>()

    private func join(
        _ promise: Promise<Int>,
        key: String = "a",
        _ started: Counter,
        _ call: Call = .completing
    ) -> Answers<Int> {
        let answers = Answers<Int>()
        loads.run(key, AnyKey(key), layer: "back", call) { _ in
            started.add()
            return .later(promise)
        }.deliver { answers.take($0.withUnderlyingError()) }
        return answers
    }

    @Test
    func oneLoadRunsForEachKeyAndLeavesNothingBehind() {
        let (promise, started) = (Promise<Int>(), Counter())
        let answers =
            (0..<10).map { _ in join(promise, started) } + [join(promise, key: "b", started)]
        #expect(started.value == 2 && loads.count == 2)
        promise.fulfill(.success(1))
        #expect(answers.allSatisfy { $0.value == 1 } && loads.count == 0)
    }

    @Test
    func aRetrievalThatAnswersSynchronouslyEndsItsLoad() {
        let reply = loads.run("a", AnyKey("a"), layer: "back", .completing) { _ in .success(1) }
        guard case .now(.success(1)) = reply else { return #expect(Bool(false)) }
        #expect(loads.count == 0)
    }

    @Test
    func nobodyJoinsALoadThatIsDetachedAndItsWaitersAreCalled() {
        let (old, new, started) = (Promise<Int>(), Promise<Int>(), Counter())
        let early = join(old, started)
        loads.detach("a")
        let late = join(new, started)
        #expect(started.value == 2 && loads.count == 2)
        new.fulfill(.success(2))
        #expect(late.value == 2 && early.isEmpty)
        old.fulfill(.success(1))
        #expect(early.value == 1 && loads.count == 0)
    }

    @Test
    func anOldLoadThatEndsLeavesTheNewOne() {
        let (old, new, started) = (Promise<Int>(), Promise<Int>(), Counter())
        _ = join(old, started)
        loads.detachAll()
        let second = join(new, started)
        old.fulfill(.success(1))
        let third = join(new, started)
        #expect(started.value == 2)
        new.fulfill(.success(2))
        #expect(second.value == 2 && third.value == 2)
    }

    @Test
    func theLastWaiterThatLeavesCancelsTheLoad() {
        let (promise, started) = (Promise<Int>(), Counter())
        let calls = (0..<3).map { _ in Cancellation() }
        let whole = Locker<Call?>(nil)
        var answers: [Answers<Int>] = []
        for cancellation in calls {
            let own = Answers<Int>()
            loads.run("a", AnyKey("a"), layer: "back", Call(cancellation: cancellation)) { call in
                whole.locked.withLock { $0 = call }
                return .later(promise)
            }.deliver { own.take($0.withUnderlyingError()) }
            answers.append(own)
        }
        calls[1].cancel()
        calls[0].cancel()
        #expect(
            answers[0].error is CancellationError && answers[1].error is CancellationError
                && answers[2].isEmpty
        )
        #expect(whole.locked.withLock { $0 }?.isCancelled == false && loads.count == 1)
        calls[2].cancel()
        #expect(whole.locked.withLock { $0 }?.isCancelled == true && loads.count == 0)
        #expect(join(Promise(), started).isEmpty && started.value == 1, "the next starts another")
        promise.fulfill(.success(1))
        #expect(answers[2].error is CancellationError)
    }

    @Test
    func aStarterThatIsCancelledLeavesOthersWaiting() {
        let (promise, cancellation, started) = (Promise<Int>(), Cancellation(), Counter())
        let other = Answers<Int>()
        let own = Answers<Int>()
        let loads = loads
        loads.run("a", AnyKey("a"), layer: "back", Call(cancellation: cancellation)) { _ in
            // Another comes, from code that is no part of this; then the first is cancelled.
            let done = DispatchSemaphore(value: 0)
            DispatchQueue(label: "another").async {
                loads.run("a", AnyKey("a"), layer: "back", .completing) { _ in
                    .success(started.add())
                }
                .deliver { other.take($0.withUnderlyingError()) }
                done.signal()
            }
            done.wait()
            cancellation.cancel()
            return .later(promise)
        }.deliver { own.take($0.withUnderlyingError()) }
        #expect(own.error is CancellationError && other.isEmpty && started.value == 0)
        promise.fulfill(.success(1))
        #expect(other.value == 1)
    }

    @Test
    func callersThatJoinALoadThatMayBlockAreNotified() {
        let (promise, first, second) = (Promise<Int>(), Counter(), Counter())
        let whole = Locker<Call?>(nil)
        _ = loads.run(
            "a",
            AnyKey("a"),
            layer: "back",
            Call.completing.alsoNotifying { first.add() }
        ) { call in
            whole.locked.withLock { $0 = call }
            return .later(promise)
        }
        #expect(first.value == 0)
        whole.locked.withLock { $0 }?.onMayBlock?()
        #expect(first.value > 0)
        _ = loads.run(
            "a",
            AnyKey("a"),
            layer: "back",
            Call.completing.alsoNotifying { second.add() }
        ) { _ in .later(promise) }
        #expect(second.value > 0)
    }
}
