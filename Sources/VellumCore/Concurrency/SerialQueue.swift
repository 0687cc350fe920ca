internal import Dispatch

/// Blocking work, done one piece at a time in the order in which it was enqueued: how a storage on disk is called.
///
/// Enqueued work is done on a thread of the queue. Its completions are called in the same order, one at a time, so that completions
/// of one queue never overlap. A caller that may block does its work on its own thread, after it has done what was enqueued before: it
/// waits for no other thread, except for the one that is doing a piece of work at that moment.
package final class SerialQueue: Sendable {
    /// A piece of work. It returns the call of its completion.
    package typealias Job = @Sendable () -> Delivery
    package typealias Delivery = @Sendable () -> Void

    private struct State: Sendable {
        var jobs = FIFOQueue<Job>()
        var isWorking = false
        var enqueued = 0
        var done = 0
        /// Threads that wait for the piece of work that is being done.
        var waiting: [DispatchSemaphore] = []
        var deliveries = FIFOQueue<Delivery>()
        /// Whether a completion is being called that is not known to wait for this queue.
        var isDelivering = false
        /// Whether a thread was started that has not begun yet.
        var isScheduled = false

        var needsThread: Bool { !isDelivering && (!deliveries.isEmpty || (!jobs.isEmpty && !isWorking)) }

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

    /// Has the work done in its turn, on a thread of the queue.
    package func enqueue(_ job: @escaping Job) {
        state.withLock { state in
            state.enqueued += 1
            state.jobs.append(job)
        }
        schedule()
    }

    /// Whether nothing is enqueued, being done or to be delivered.
    package var isIdle: Bool { state.withLock { $0.jobs.isEmpty && !$0.isWorking && $0.deliveries.isEmpty && !$0.isDelivering } }

    // MARK: Threads of the queue

    private func schedule() {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, state.needsThread else { return false }
            state.isScheduled = true
            return true
        }
        if isNeeded { BlockingPool.startOnNewThread { [self] in work() } }
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

    /// Calls a completion. Returns `false` if the completion blocked the thread: then another thread works on.
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

    /// Does what was enqueued before, and no more, on the caller's thread. Completions are called on a thread of the queue.
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
            case .wait(let semaphore): semaphore.wait()
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
