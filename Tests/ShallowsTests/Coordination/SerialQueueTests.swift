import Foundation
import TestThreads
import Testing
import VellumCore

@testable import Shallows

/// Work in the order in which it was asked for.
@Suite(.ownThreads)
struct SerialQueueTests {
    private let queue = SerialQueue()
    private let log = Locker<[Int]>([])

    private var logged: [Int] { log.locked.withLock { $0 } }

    @discardableResult
    private func ask(
        _ number: Int,
        _ call: Call = .completing,
        _ first: @escaping @Sendable () -> Void = {}
    ) -> Answers<Int> {
        let answers = Answers<Int>()
        let log = log
        queue.run(layer: "test", call) {
            first()
            log.locked.withLock { $0.append(number) }
            return .success(number)
        }.deliver { answers.take($0.withUnderlyingError()) }
        return answers
    }

    /// Work that blocks the queue until the semaphore is signalled.
    private func block() async -> DispatchSemaphore {
        let (entered, goOn) = (Counter(), DispatchSemaphore(value: 0))
        ask(-1) {
            entered.add()
            goOn.wait()
        }
        await until("the queue is blocked") { entered.value == 1 }
        return goOn
    }

    @Test
    func workIsDoneInTheOrderInWhichItWasAskedFor() async {
        let all = (0..<1_000).map { ask($0) }
        for answers in all { _ = await answers.first() }
        #expect(logged == Array(0..<1_000))
        await until("the queue is idle") { queue.isIdle }
    }

    /// As on the original's queue: code that was written for one does not expect its completions to
    /// run at once.
    @Test
    func completionsAreCalledInOrderAndOneAtATime() async {
        let (called, inside) = (Locker<[Int]>([]), Counter())
        let overlaps = Counter()
        let all = Answers<Int>()
        for number in 0..<500 {
            queue.run(layer: "test", .completing) { .success(number) }.deliver { outcome in
                if inside.add() != 1 { overlaps.add() }
                called.locked.withLock { $0.append(number) }
                inside.add(-1)
                all.take(outcome.withUnderlyingError())
            }
            if number.isMultiple(of: 50) { _ = queue.run(layer: "test", .waiting) { .success(()) } }
        }
        await until("every completion was called") { called.locked.withLock { $0.count } == 500 }
        #expect(called.locked.withLock { $0 } == Array(0..<500) && overlaps.value == 0)
    }

    /// A completion that waits for work of its own queue, which someone else has in hand.
    @Test
    func aQueueGoesOnWhileACompletionIsBlockedByIt() async {
        let done = Counter()
        let (queue, promise) = (queue, Promise<Void>())
        queue.run(layer: "test", .completing) { .success(1) }.deliver { _ in
            queue.run(layer: "test", .completing) { .success(2) }.deliver { _ in
                promise.fulfill(.success(()))
            }
            _ = promise.wait()
            done.add()
        }
        await until("the completion goes on") { done.value == 1 }
    }

    @Test
    func aCallThatBlocksIsDoneOnItsThreadAfterWhatWasEnqueuedBefore() async throws {
        let goOn = await block()
        for number in 0..<10 { ask(number) }
        let (log, queue) = (log, queue)
        let waiting = Task {
            try await onThread {
                let thread = ObjectIdentifier(Thread.current)
                let reply = queue.run(layer: "test", .waiting) {
                    log.locked.withLock { $0.append(10) }
                    return .success(ObjectIdentifier(Thread.current) == thread)
                }
                guard case .now(let outcome) = reply else { return false }
                return try outcome.get()
            }
        }
        goOn.signal()
        #expect(try await waiting.value)
        #expect(logged == [-1] + Array(0...10))
    }

    @Test
    func aCallThatBlocksNeedsNoThreadButItsOwn() {
        // Nothing was begun when it comes: it does it all.
        let answers = (0..<100).map { ask($0) }
        guard case .now = queue.run(layer: "test", .waiting, { .success(()) }) else {
            return #expect(Bool(false))
        }
        #expect(logged.count == 100)
        _ = answers
    }

    @Test
    func aCompletionMayAskAndWait() async {
        let inner = Answers<Int>()
        let queue = queue
        queue.run(layer: "test", .completing) { .success(1) }.deliver { _ in
            guard case .now(let outcome) = queue.run(layer: "test", .waiting, { .success(2) })
            else { return }
            inner.take(outcome.withUnderlyingError())
        }
        #expect(await (try? inner.first().get()) == 2)
    }

    @Test
    func aHundredThousandMayWaitInAQueue() async {
        let goOn = await block()
        let done = Counter()
        let count = LongRun.number(100_000, usually: 30_000)
        for _ in 0..<count {
            queue.run(layer: "test", .completing) { .success(()) }.deliver { _ in done.add() }
        }
        goOn.signal()
        await until("all work is done") { done.value == count }
        await until("the queue is idle") { queue.isIdle }
    }

    @Test
    func workOfACancelledCallIsNotDone() async {
        let goOn = await block()
        let cancellation = Cancellation()
        let cancelled = ask(1, Call(cancellation: cancellation))
        let last = ask(2)
        cancellation.cancel()
        goOn.signal()
        _ = await last.first()
        #expect(cancelled.error is CancellationError && logged == [-1, 2])
        #expect(ask(3, Call(cancellation: cancellation)).error is CancellationError)
    }

    @Test
    func queuesDoNotWaitForEachOther() async {
        // S6: each folder has a queue of its own.
        let goOn = await block()
        let other = Answers<Int>()
        SerialQueue().run(layer: "test", .completing) { .success(1) }.deliver {
            other.take($0.withUnderlyingError())
        }
        #expect(await (try? other.first().get()) == 1)
        goOn.signal()
    }

    @Test
    func workThatNobodyWaitsForIsDoneThoughTheQueueIsReleased() async {
        let done = Counter()
        do { _ = SerialQueue().run(layer: "test", .completing) { .success(done.add()) } }
        await until("the work is done") { done.value == 1 }
    }
}
