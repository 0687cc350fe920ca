import Dispatch
import TestThreads
import Testing
import VellumCore

/// Work runs on a thread of the lane, whoever asks.
@Suite(.ownThreads)
struct LaneTests {
    private func expectToLeaveAndReturn() async throws {
        #expect(!Lane.isCurrent)
        #expect(try await Lane.visits.run { Lane.isCurrent })
        #expect(!Lane.isCurrent)
    }

    @Test func workOfATaskRunsInThePool() async throws { try await expectToLeaveAndReturn() }

    @Test @MainActor func workOfTheMainActorRunsInThePool() async throws {
        #expect(try await Lane.visits.run { Lane.isCurrent })
        #expect(!Lane.isCurrent)
        MainActor.assertIsolated()
    }

    private actor Caller {
        func call() async throws -> Bool { try await Lane.visits.run { Lane.isCurrent } }
    }

    /// An actor may go on with the thread, which may block all the same.
    @Test func workOfAnActorRunsInThePool() async throws { #expect(try await Caller().call()) }

    private struct Refusal: Error {}

    @Test func theErrorOfTheWorkIsThrown() async {
        await #expect(throws: Refusal.self) { try await Lane.visits.run { throw Refusal() } }
    }

    // MARK: Width

    /// What runs at a time in a lane, and in which order it began.
    private final class Runs: Sendable {
        let gate = DispatchSemaphore(value: 0)
        private let state = Locked((running: 0, most: 0, order: [Int]()))
        var running: Int { state.withLock { $0.running } }
        var most: Int { state.withLock { $0.most } }
        var order: [Int] { state.withLock { $0.order } }

        func run(_ number: Int) {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
                state.order.append(number)
            }
            gate.wait()
            state.withLock { $0.running -= 1 }
        }
    }

    /// So much work runs at a time, in the order in which it came.
    @Test(arguments: [1, 2, 4])
    func aLaneHasAsManyThreadsAsItIsWide(width: Int) async throws {
        let (lane, runs) = (Lane(width: width), Runs())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await lane.run { runs.run(number) } }
                // One after another, so that their order is known.
                await until("the work has a thread, or waits") {
                    let waiting = lane.waiting
                    return waiting.threads == min(number + 1, width)
                        && waiting.count == max(0, number + 1 - width)
                }
            }
            // What has a thread may not have begun.
            await until("so much work runs as the lane is wide") { runs.running == width }
            #expect(lane.waiting.threads == width)
            #expect(lane.waiting.count == 20 - width)
            for _ in 0..<20 { runs.gate.signal() }
            try await group.waitForAll()
        }
        #expect(runs.most == width)
        if width == 1 { #expect(runs.order == Array(0..<20)) }
        await until("the threads are idle") { lane.waiting.threads == 0 }
        #expect(lane.waiting.count == 0)
        #expect(lane.waiting.longestWait > .zero)
    }

    /// Work that waits for other work of the same lane gives it its place, however many do.
    @Test func workThatWaitsForTheSameLaneEnds() async throws {
        let lane = Lane(width: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await lane.run {
                        let inner = DispatchSemaphore(value: 0)
                        lane.start { inner.signal() }
                        Lane.waiting { inner.wait() }
                    }
                }
            }
            try await group.waitForAll()
        }
        await until("the threads are idle") { lane.waiting.threads == 0 }
        #expect(lane.waiting.count == 0)
    }

    /// What waits for the same has never all threads, however much there is of it, also if others
    /// wait for something else.
    @Test func whatWaitsForTheSameLeavesThreadsToOthers() async throws {
        let lane = Lane(width: 2)
        let gate = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let share = Lane.Share(of: lane)
                for _ in 0..<100 {
                    group.addTask { try await share.run { Lane.waiting { gate.wait() } } }
                }
                // As the last share, and without one.
                try await Lane.Share(of: lane).run {}
                try await lane.run {}
            }
            #expect(lane.waiting.threads <= 64 + 2)
            for _ in 0..<400 { gate.signal() }
            try await group.waitForAll()
        }
        await until("the threads are idle") { lane.waiting.threads == 0 }
        #expect(lane.waiting.count == 0)
    }

    @Test func aLaneIsReleasedWithItsWork() async throws {
        weak var released: Lane?
        do {
            let lane = Lane()
            released = lane
            try await lane.run {}
        }
        await until("the lane is released") { released == nil }
    }

    @Test func workOfATaskThatWasCancelledDoesNotBegin() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await FileLanes().read { Issue.record("It has begun.") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aReadLearnsThatItsTaskWasCancelled() async throws {
        let task = Task {
            try await FileLanes().read {
                let cancellation = Lane.cancellation
                #expect(cancellation?() == false)
                withUnsafeCurrentTask { $0?.cancel() }
                #expect(cancellation?() == true)
            }
        }
        _ = try await task.value
        let isAbsent = try await FileLanes().visit { Lane.cancellation == nil }
        #expect(isAbsent)
    }
}
