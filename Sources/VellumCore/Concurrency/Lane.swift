internal import Dispatch
internal import Foundation
internal import Synchronization

/// Threads that may block, apart from those that run tasks: work begins in the order in which it
/// comes, so much of it at a time (decision 86).
///
/// ```swift
/// let count = try await Lane.reads.run { try store.count() }
/// ```
///
/// Work that is awaited stays a part of its task: it has its task-local values and its priority,
/// and learns of its cancellation. A lane has no thread while there is nothing to do.
package final class Lane: TaskExecutor {
    /// For what reads and takes little time, of all files.
    package static let reads = Lane(width: readWidth)
    /// For queries, and for what may wait for other writers or run the caller's code, of all files:
    /// it takes no thread from short reads.
    package static let visits = Lane(width: 8 - readWidth)

    private static var readWidth: Int {
        max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
    }
    private static let mark = DispatchSpecificKey<Mark>()
    /// How many threads of a lane may wait for others at a time, beside those that work.
    private static let mostLent = 64

    private struct State: Sendable {
        var jobs = FIFOQueue<Job>()
        /// Queues of one thread each. Such a queue always gets one; concurrent queues share a
        /// limited number.
        var idle: [DispatchQueue] = []
        var working = 0
        var lent = 0
        var longestWait = Duration.zero
    }

    private struct Job: Sendable {
        var run: @Sendable () -> Void
        var came: ContinuousClock.Instant
    }

    /// What a thread knows of its lane.
    private struct Mark {
        // Kept by the work that runs.
        unowned let lane: Lane
    }

    private let state = Locked(State())
    private let width: Int

    /// - Parameter width: How much work runs at a time. With one, it never overlaps.
    package init(width: Int = 1) { self.width = width }

    /// Starts work without waiting for it.
    package func start(_ work: @escaping @Sendable () -> Void) {
        let job = Job(run: work, came: .now)
        addThread { $0.jobs.append(job) }
    }

    /// Runs work without blocking the caller's thread. The work may wait for a thread.
    ///
    /// Concurrent, because the caller's actor would go on with the thread of the lane otherwise.
    @concurrent
    package func run<Value>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(self) { New(value: try work()) }.value
    }

    // Unchecked because the value is protected by being new: only the thread that made it, and then
    // the caller, have it.
    private struct New<Value>: @unchecked Sendable {
        var value: Value
    }

    /// Runs the work of a task.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// What waits now, and has waited.
    package var waiting: WaitingCalls {
        state.withLock { state in
            WaitingCalls(
                count: state.jobs.count,
                longestWait: state.longestWait,
                threads: state.working + state.lent
            )
        }
    }

    /// What waits for the lanes of all files.
    package static var allWaiting: WaitingCalls {
        let reads = reads.waiting
        let visits = visits.waiting
        return WaitingCalls(
            count: reads.count + visits.count,
            longestWait: max(reads.longestWait, visits.longestWait),
            threads: reads.threads + visits.threads
        )
    }

    // MARK: Threads

    private func addThread(_ change: (inout State) -> Void) {
        let thread = state.withLock { state -> DispatchQueue? in
            change(&state)
            guard state.working < width, !state.jobs.isEmpty else { return nil }
            state.working += 1
            return state.idle.popLast() ?? DispatchQueue(label: "vellum.lane")
        }
        thread?.async { self.work(on: thread) }
    }

    private func work(on thread: DispatchQueue?) {
        thread?.setSpecific(key: Self.mark, value: Mark(lane: self))
        while let job = state.withLock({ nextJob(for: thread, &$0) }) {
            job.run()
        }
    }

    /// - Returns: `nil` if nothing is left, or others have taken the thread's place.
    private func nextJob(for thread: DispatchQueue?, _ state: inout State) -> Job? {
        guard state.working <= width, let job = state.jobs.popFirst() else {
            state.working -= 1
            if let thread { state.idle.append(thread) }
            return nil
        }
        state.longestWait = max(state.longestWait, .now - job.came)
        return job
    }

    /// Whether the current thread is one of a lane, also while it runs a task.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Waits for what other threads do, which may need a thread of the same lane: one takes the
    /// place of the caller's.
    package static func waiting<Result>(_ wait: () -> Result) -> Result {
        guard let lane = DispatchQueue.getSpecific(key: mark)?.lane,
            lane.width > 1,
            lane.lend()
        else { return wait() }
        defer {
            lane.state.withLock { state in
                state.lent -= 1
                state.working += 1
            }
        }
        return wait()
    }

    private func lend() -> Bool {
        let isLent = state.withLock { state in
            guard state.lent < Self.mostLent else { return false }
            state.lent += 1
            state.working -= 1
            return true
        }
        if isLent { addThread { _ in } }
        return isLent
    }
}

// Calls that are awaited.

extension Lane {
    /// A read that ends when its task is cancelled.
    private final class Read: Sendable {
        let isOver = Atomic(false)
    }

    /// Also in tasks that code of the user starts in a read, which may outlive it.
    @TaskLocal private static var current: Read?

    /// Whether the task that waits for a read on this thread was cancelled; `nil` where nobody
    /// waits, or the call does not end before its time.
    package static var cancellation: (() -> Bool)? {
        guard let current, !current.isOver.load(ordering: .relaxed) else { return nil }
        return { Task.isCancelled }
    }

    /// Runs a short read of the caller's task, which ends early when the task is cancelled.
    ///
    /// - Throws: The error of `work`, or `CancellationError`.
    package static func read<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await reads.read(work)
    }

    /// Runs a read that may take long, as ``read(_:)``.
    package static func query<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await visits.read(work)
    }

    private func read<Value>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await run {
                try Task.checkCancellation()
                let read = Read()
                defer { read.isOver.store(true, ordering: .relaxed) }
                return try Self.$current.withValue(read, operation: work)
            }
        } catch let error as VellumError where error.code == .cancelled {
            throw CancellationError()
        }
    }

    /// Runs what the caller's task has to do with a file: to its end, once it has begun.
    ///
    /// - Throws: The error of `work`, or `CancellationError` if the task was cancelled before its
    ///   turn.
    package static func visit<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await visits.run {
            try Task.checkCancellation()
            return try work()
        }
    }
}
