internal import Dispatch
internal import Foundation
internal import Synchronization

/// Threads that may block, apart from those that run tasks: work begins in the order in which it
/// comes, so much of it at a time (decision 86).
///
/// ```swift
/// let count = try await file.lanes.reads.run { try store.count() }
/// ```
///
/// Work that is awaited stays a part of its task: it has its task-local values and its priority,
/// and learns of its cancellation. A lane has no thread while there is nothing to do.
package final class Lane: Sendable {
    /// For what reads and takes little time, of all files.
    package static let reads = Lane(width: readWidth)
    /// For queries, and for what may wait for other writers or run the caller's code, of all files:
    /// it takes no thread from short reads.
    package static let visits = Lane(width: 8 - readWidth)

    private static var readWidth: Int {
        max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))
    }
    private static let place = DispatchSpecificKey<Place>()
    /// How many threads of a lane may wait for others at a time, beside those that work.
    private static let mostLent = 64

    private struct State: Sendable {
        var jobs = FIFOQueue<Job>()
        /// Those of shares that may go on. They came before the others.
        var released = FIFOQueue<Job>()
        /// How many jobs wait in their shares.
        var held = 0
        /// Threads without work.
        var idle: [Worker] = []
        var working = 0
        var lent = 0
        var longestWait = Duration.zero

        var hasJobs: Bool { !released.isEmpty || !jobs.isEmpty }

        /// The next job that may begin.
        mutating func nextJob() -> Job? {
            if let job = released.popFirst() { return job }
            while let job = jobs.popFirst() {
                guard let share = job.share else { return job }
                if share.held.isEmpty, mayBegin(share) {
                    share.running += 1
                    return job
                }
                share.held.append(job)
                held += 1
            }
            return nil
        }

        /// Whether another job of the share may begin. Each may wait for others: those of a share
        /// have at most as many threads as are left, so that no share has all (Choudhury and Hahne,
        /// Dynamic Queue Length Thresholds, 1998).
        private func mayBegin(_ share: Share) -> Bool {
            share.running < max(1, mostLent - lent)
        }

        /// Lets jobs of a share go on of which one has ended, or waits no more.
        mutating func release(_ share: Share) {
            while mayBegin(share), let job = share.held.popFirst() {
                held -= 1
                share.running += 1
                released.append(job)
            }
        }
    }

    fileprivate struct Job: Sendable {
        var run: @Sendable () -> Void
        var came: ContinuousClock.Instant
        var share: Share?
    }

    /// What one file has of a lane: work that waits for the same, so that it has never all threads.
    ///
    /// Unchecked because the lane guards what changes.
    package final class Share: TaskExecutor, @unchecked Sendable {
        fileprivate let lane: Lane
        fileprivate var running = 0
        fileprivate var held = FIFOQueue<Job>()

        package init(of lane: Lane) { self.lane = lane }

        /// Starts work without waiting for it.
        package func start(_ work: @escaping @Sendable () -> Void) { lane.start(work, of: self) }

        /// Runs work as ``Lane/run(_:)``.
        @concurrent
        package func run<Value>(
            _ work: @escaping @Sendable () throws -> Value
        ) async throws -> Value {
            try await withTaskExecutorPreference(self) { New(value: try work()) }.value
        }

        /// Runs the work of a task.
        package func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// A thread of a lane, on a queue of its own. Such a queue always gets one; concurrent queues
    /// share a limited number.
    private struct Worker: Sendable {
        let queue = DispatchQueue(label: "vellum.lane")
        let place: Place

        init(of lane: Lane) {
            place = Place(of: lane)
            queue.setSpecific(key: Lane.place, value: place)
        }
    }

    /// What a thread knows of its lane.
    ///
    /// Unchecked because only the thread uses what changes.
    private final class Place: @unchecked Sendable {
        // Kept by the work that runs.
        unowned let lane: Lane
        /// That of the work that runs.
        var share: Share?
        var isLent = false

        init(of lane: Lane) { self.lane = lane }
    }

    private let state = Locked(State())
    private let width: Int

    /// - Parameter width: How much work runs at a time. With one, it never overlaps.
    package init(width: Int = 1) { self.width = width }

    /// Starts work without waiting for it.
    package func start(_ work: @escaping @Sendable () -> Void) { start(work, of: nil) }

    private func start(_ work: @escaping @Sendable () -> Void, of share: Share?) {
        let job = Job(run: work, came: .now, share: share)
        addThread { $0.jobs.append(job) }
    }

    /// Runs work without blocking the caller's thread. The work may wait for a thread.
    ///
    /// Concurrent, because the caller's actor would go on with the thread of the lane otherwise.
    @concurrent
    package func run<Value>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Share(of: self).run(work)
    }

    // Unchecked because the value is protected by being new: only the thread that made it, and then
    // the caller, have it.
    private struct New<Value>: @unchecked Sendable {
        var value: Value
    }

    /// What waits now, and has waited.
    package var waiting: WaitingCalls {
        state.withLock { state in
            WaitingCalls(
                count: state.jobs.count + state.released.count + state.held,
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
        let worker = state.withLock { state -> Worker? in
            change(&state)
            guard state.working < width, state.hasJobs else { return nil }
            state.working += 1
            return state.idle.popLast() ?? Worker(of: self)
        }
        guard let worker else { return }
        worker.queue.async { self.work(on: worker) }
    }

    private func work(on worker: Worker) {
        while let job = state.withLock({ nextJob(for: worker, &$0) }) {
            job.run()
            CallStart.forget()
        }
    }

    /// - Returns: `nil` if nothing is left, or others have taken the thread's place.
    private func nextJob(for worker: Worker, _ state: inout State) -> Job? {
        if let share = exchange(&worker.place.share, with: nil) {
            share.running -= 1
            state.release(share)
        }
        guard state.working <= width, let job = state.nextJob() else {
            state.working -= 1
            state.idle.append(worker)
            return nil
        }
        worker.place.share = job.share
        let wait = ContinuousClock.now - job.came
        state.longestWait = max(state.longestWait, wait)
        CallStart.note(wait)
        return job
    }

    /// Whether the current thread is one of a lane, also while it runs a task.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: place) != nil }

    /// Waits for what other threads or processes do: another thread takes the place of the
    /// caller's, which may be what it waits for.
    package static func waiting<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let isLent = lend()
        defer { if isLent { takeBack() } }
        return try wait()
    }

    /// Lends the place of the current thread, until ``takeBack()``.
    ///
    /// - Returns: Whether it has one, and so many may wait.
    package static func lend() -> Bool {
        guard let place = DispatchQueue.getSpecific(key: place), !place.isLent,
            place.lane.width > 1
        else { return false }
        let lane = place.lane
        place.isLent = lane.state.withLock { state in
            guard state.lent < mostLent else { return false }
            state.lent += 1
            state.working -= 1
            return true
        }
        if place.isLent { lane.addThread { _ in } }
        return place.isLent
    }

    package static func takeBack() {
        guard let place = DispatchQueue.getSpecific(key: place) else { return }
        place.isLent = false
        place.lane.addThread { state in
            state.lent -= 1
            state.working += 1
            if let share = place.share { state.release(share) }
        }
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

    fileprivate static func reading<Value>(_ work: () throws -> Value) throws -> Value {
        try Task.checkCancellation()
        let read = Read()
        defer { read.isOver.store(true, ordering: .relaxed) }
        return try $current.withValue(read, operation: work)
    }
}

/// What one file has of the lanes of all files.
package struct FileLanes: Sendable {
    package let reads = Lane.Share(of: .reads)
    /// Apart from writes, which wait for more.
    package let queries = Lane.Share(of: .visits)
    package let visits = Lane.Share(of: .visits)

    package init() {}

    /// Runs a short read of the caller's task, which ends early when the task is cancelled.
    ///
    /// - Throws: The error of `work`, or `CancellationError`.
    package func read<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await read(on: reads, work)
    }

    /// Runs a read that may take long, as ``read(_:)``.
    package func query<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await read(on: queries, work)
    }

    private func read<Value>(
        on share: Lane.Share,
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        do {
            return try await share.run { try Lane.reading(work) }
        } catch let error as VellumError where error.code == .cancelled {
            throw CancellationError()
        }
    }

    /// Runs what the caller's task has to do with a file: to its end, once it has begun.
    ///
    /// - Throws: The error of `work`, or `CancellationError` if the task was cancelled before its
    ///   turn.
    package func visit<Value>(
        _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await visits.run {
            try Task.checkCancellation()
            return try work()
        }
    }
}
