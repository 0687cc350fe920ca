internal import Dispatch
internal import VellumCore

/// Work that blocks its thread, done in the order in which it was asked for: how a storage on disk is called.
///
/// A call with a completion or an `async` one is done on a thread of the lane's, and sees what was asked before it, also where no
/// one waited for that: `set` and then `retrieve` finds what was set. Who asked is told in the same order, one at a time, so that
/// completions of one folder never run at once. A call that waits is done on its own thread, after it has done what was asked before
/// it: it waits for no other thread, but for one that is doing the lane's work at this moment.
package final class Lane: Sendable {
    private struct State: Sendable {
        var jobs = FirstInFirstOut<Job>()
        var isWorking = false
        /// How many pieces of work were asked for, and how many done.
        var asked = 0
        var done = 0
        /// Calls that wait for the piece of work that is being done.
        var waiting: [DispatchSemaphore] = []
        /// What is left to do of work that is done: to tell who asked.
        var tells = FirstInFirstOut<@Sendable () -> Void>()
        /// Whether someone is being told, of whom it is not known that he waits for the lane.
        var isTelling = false
        /// Whether a thread is on its way that does what there is to do.
        var isScheduled = false

        mutating func next() -> Next? {
            guard !isTelling else { return nil }
            if let tell = tells.popFirst() {
                isTelling = true
                return .tell(tell)
            }
            guard !isWorking, let job = jobs.popFirst() else { return nil }
            isWorking = true
            return .work(job)
        }
    }

    /// A piece of work. It gives what is left to do of it.
    private typealias Job = @Sendable () -> @Sendable () -> Void

    private enum Next {
        case tell(@Sendable () -> Void)
        case work(Job)
    }

    private let state = Locked(State())

    package init() {}

    /// Does the work: here and now for a call that waits, else in its turn, elsewhere.
    @usableFromInline
    package func run<Value: Sendable>(
        layer: String, key: (any Sendable)? = nil, _ call: Call, _ work: @escaping @Sendable () -> Outcome<Value>
    ) -> Reply<Value> {
        guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
        if call.waits {
            catchUp()
            return .now(work())
        }
        let promise = Promise<Value>()
        state.withLock { state in
            state.asked += 1
            state.jobs.append {
                // Asked in its turn: who cancelled meanwhile is spared the work.
                let outcome = call.isCancelled ? .failure(.cancelled(layer: layer, key: key)) : work()
                return { promise.keep(outcome) }
            }
        }
        schedule()
        return .later(promise)
    }

    /// Whether nothing is waiting to be done or being done.
    var isIdle: Bool { state.withLock { $0.jobs.isEmpty && !$0.isWorking && $0.tells.isEmpty && !$0.isTelling } }

    // MARK: Threads of the lane's

    /// Has a thread do what there is to do, unless one is about to, or everyone waits for whoever is being told.
    private func schedule() {
        let isNeeded = state.withLock { state in
            guard !state.isScheduled, !state.isTelling, !state.tells.isEmpty || (!state.jobs.isEmpty && !state.isWorking) else {
                return false
            }
            state.isScheduled = true
            return true
        }
        if isNeeded { Aside.start { [self] in work() } }
    }

    /// Does what there is to do, until there is nothing or another thread does it.
    private func work() {
        state.withLock { $0.isScheduled = false }
        while let next = state.withLock({ $0.next() }) {
            switch next {
            case .work(let job): perform(job)
            case .tell(let tell):
                let telling = Telling(self)
                Telling.$current.withValue(telling) { tell() }  // Code of a user's own.
                guard telling.end() else { return }  // Another thread goes on.
                state.withLock { $0.isTelling = false }
            }
        }
    }

    /// Goes on while the thread that tells someone is blocked by what that one waits for, which may be the lane's to do.
    fileprivate func goOnWithoutTelling() {
        state.withLock { $0.isTelling = false }
        schedule()
    }

    private func perform(_ job: Job) {
        let tell = job()
        let waiting = state.withLock { state in
            state.isWorking = false
            state.done += 1
            state.tells.append(tell)
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
    }

    // MARK: Calls that wait

    private enum Progress {
        case caughtUp
        case free(Job)
        case busy(DispatchSemaphore)
    }

    /// Does what was asked for before, and no more, on this thread. Who asked is told by a thread of the lane's.
    private func catchUp() {
        let last = state.withLock { $0.asked }
        var hasWorked = false
        while true {
            let progress = state.withLock { state -> Progress in
                if state.done >= last { return .caughtUp }
                if !state.isWorking, let job = state.jobs.popFirst() {
                    state.isWorking = true
                    return .free(job)
                }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return .busy(semaphore)
            }
            switch progress {
            case .caughtUp:
                if hasWorked { schedule() }
                return
            case .free(let job):
                perform(job)
                hasWorked = true
            case .busy(let semaphore): semaphore.wait()
            }
        }
    }
}

/// That a lane is telling someone on this thread. Before the thread is blocked it lets the lane go on without it.
final class Telling: Sendable {
    @TaskLocal static var current: Telling?

    private let lane: Lane
    private let hasEnded = Locked(false)

    init(_ lane: Lane) {
        self.lane = lane
    }

    /// Returns whether it was this that ended it.
    func end() -> Bool {
        hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
    }

    /// Called where a thread is about to be blocked until something of ours is done.
    static func threadWillBlock() {
        if let current, current.end() { current.lane.goOnWithoutTelling() }
    }
}
