internal import Dispatch
internal import Foundation
public import Testing
internal import VellumCore

/// Runs each test of a suite on threads of its own, and reports one that hangs.
///
/// ```swift
/// @Suite(.ownThreads) struct LockTests {
/// ```
///
/// Without it a test runs on the threads of Swift's concurrency, of which there are as many as
/// processors. One that waits for a lock, a semaphore or a child process keeps such a thread from
/// the others, which may be those that it waits for. The child tasks of a test run on its threads,
/// too; a `Task { … }` does not, and must not block.
public struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
    /// How long a test may take. Only one that hangs reaches a limit: on a busy machine with one
    /// processor, the slowest test of a suite takes a twentieth of it.
    public enum Limit: Int, Sendable {
        /// In minutes.
        case suite = 10
        /// That of the suites which a variable of `CONTRIBUTING.md` makes longer.
        case longSuite = 600
    }

    let limit: Limit

    /// Each test of a suite, also of those inside it, has threads of its own.
    public var isRecursive: Bool { true }

    /// A machine that is short of memory makes every store give back what a test wants to find
    /// there.
    private static let ignoresMemoryPressure: Void = { MemoryPressure.isFollowed = false }()

    /// Runs a test, or a case of one with arguments.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        Self.ignoresMemoryPressure
        let end = DispatchTime.now() + .seconds(limit.rawValue * 60)
        // Not a part of the test: its own tasks may all be waiting.
        let watch = Task {
            try await Pause.until(end)
            Issue.record("The test has not ended after \(limit.rawValue) minutes.")
        }
        defer { watch.cancel() }
        try await withTaskExecutorPreference(ThreadPool.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// The trait of every suite.
    public static var ownThreads: Self { OwnThreads(limit: .suite) }

    /// The trait of a suite that takes longer.
    public static func ownThreads(_ limit: OwnThreads.Limit) -> Self { OwnThreads(limit: limit) }
}

/// Threads for the jobs of tests: one that is idle, or a new one.
final class ThreadPool: TaskExecutor, @unchecked Sendable {
    static let shared = ThreadPool()
    /// Tests have groups of thousands of tasks. So many that block at once would be a mistake.
    private static let mostThreads = 256

    // Unchecked because the jobs and the counts are protected by the condition.
    private let condition = NSCondition()
    private var jobs: [UnownedJob] = []
    private var next = 0
    private var threads = 0
    private var idle = 0

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.lock()
        defer { condition.unlock() }
        jobs.append(job)
        if idle >= jobs.count - next {
            condition.signal()
        } else if threads < Self.mostThreads {
            threads += 1
            Thread.detachNewThread { self.work() }
        }
    }

    private func work() {
        while true { nextJob().runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func nextJob() -> UnownedJob {
        condition.lock()
        defer { condition.unlock() }
        while next == jobs.count {
            idle += 1
            condition.wait()
            idle -= 1
        }
        let job = jobs[next]
        next += 1
        if next == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            next = 0
        }
        return job
    }
}
