internal import Dispatch

/// A first-in, first-out queue of blocking work. Storages on disk are called through it.
///
/// Enqueued work runs on a thread of the queue. Its completions are called in the same order, one
/// at a time, so completions of one queue never overlap. A caller that may block works on its own
/// thread, after doing what was enqueued before. It waits for other threads only while one of them
/// is in the middle of a job.
package final class SerialQueue: Sendable {
    /// A unit of work. Returns the call of its completion.
    package typealias Job = @Sendable () -> Delivery
    package typealias Delivery = @Sendable () -> Void

    private struct State: Sendable {
        var jobs = FIFOQueue<Job>()
        var isWorking = false
        var enqueued = 0
        var done = 0
        /// The semaphores of threads that wait for the current job to end.
        var waiting: [DispatchSemaphore] = []
        var deliveries = FIFOQueue<Delivery>()
        /// Whether a completion is running that has not blocked its thread.
        var isDelivering = false
        /// Whether a thread was started that is not running yet.
        var isScheduled = false

        var needsThread: Bool {
            !isDelivering && (!deliveries.isEmpty || (!jobs.isEmpty && !isWorking))
        }

        mutating func next() -> Step? {
            guard !isDelivering else { return nil }
            if let delivery = deliveries.popFirst() {
                isDelivering = true
                return .deliver(delivery)
            }
            return startJob().map(Step.work)
        }

        mutating func startJob() -> Job? {
            guard !isWorking, let job = jobs.popFirst() else { return nil }
            isWorking = true
            return job
        }
    }

    private enum Step {
        case deliver(Delivery)
        case work(Job)
    }

    private let state = Locked(State())

    package init() {}

    /// Enqueues work, which runs on a thread of the queue.
    package func enqueue(_ job: @escaping Job) {
        state.withLock { state in
            state.enqueued += 1
            state.jobs.append(job)
        }
        schedule()
    }

    /// Whether there is no job and no completion, waiting or running.
    package var isIdle: Bool {
        state.withLock {
            $0.jobs.isEmpty && !$0.isWorking && $0.deliveries.isEmpty && !$0.isDelivering
        }
    }

    // MARK: Threads of the queue

    private func schedule() {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, state.needsThread else { return false }
            state.isScheduled = true
            return true
        }
        if isNeeded { Lane().start { [self] in work() } }
    }

    private func work() {
        state.withLock { $0.isScheduled = false }
        while let step = state.withLock({ $0.next() }) {
            switch step {
            case .work(let job): perform(job)
            case .deliver(let delivery): guard deliver(delivery) else { return }
            }
        }
    }

    /// Calls a completion. Returns `false` if the completion blocked the thread; another thread has
    /// taken over then.
    private func deliver(_ delivery: Delivery) -> Bool {
        let delivering = ReentrancyGuard(.delivery(queue: ObjectIdentifier(self))) { [self] in
            state.withLock { $0.isDelivering = false }
            schedule()
        }
        delivering.run { delivery() }
        guard delivering.end() else { return false }
        state.withLock { $0.isDelivering = false }
        return true
    }

    private func perform(_ job: Job) {
        let delivery = job()
        let waiting = state.withLock { state in
            state.isWorking = false
            state.done += 1
            state.deliveries.append(delivery)
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    // MARK: Callers that block

    private enum Progress {
        case caughtUp
        case work(Job)
        case wait(DispatchSemaphore)
    }

    /// Runs the jobs enqueued before this call on the caller's thread. Completions are called on a
    /// thread of the queue.
    package func catchUp() {
        let last = state.withLock { $0.enqueued }
        var hasWorked = false
        while true {
            switch state.withLock({ progress(to: last, &$0) }) {
            case .caughtUp:
                if hasWorked { schedule() }
                return
            case .work(let job):
                perform(job)
                hasWorked = true
            case .wait(let semaphore): Lane.waiting { semaphore.wait() }
            }
        }
    }

    private func progress(to last: Int, _ state: inout State) -> Progress {
        if state.done >= last { return .caughtUp }
        if let job = state.startJob() { return .work(job) }
        let semaphore = DispatchSemaphore(value: 0)
        state.waiting.append(semaphore)
        return .wait(semaphore)
    }
}
