internal import Dispatch
internal import Tiers

/// Work that blocks its thread, done in the order in which it was asked for: how a storage on disk is called.
///
/// A call with a completion or an `async` one is done on a thread of the lane's, and sees what was asked before it, also where no
/// one waited for that: `set` and then `retrieve` finds what was set. A call that waits is done on its own thread, after it has
/// done what was asked before it: it waits for no other thread, but for one that is doing the lane's work at this moment.
package final class Lane: Sendable {
    private struct State: Sendable {
        var jobs = FirstInFirstOut<Job>()
        var isWorking = false
        /// How many pieces of work were asked for, and how many done.
        var asked = 0
        var done = 0
        /// Calls that wait for the piece of work that is being done.
        var waiting: [DispatchSemaphore] = []
    }

    /// A piece of work. It gives what is left to do when the lane need no longer wait: to tell who asked.
    private typealias Job = @Sendable () -> @Sendable () -> Void

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
        let isFirst = state.withLock { state in
            state.asked += 1
            state.jobs.append {
                // Asked in its turn: who cancelled meanwhile is spared the work.
                let outcome = call.isCancelled ? .failure(.cancelled(layer: layer, key: key)) : work()
                return { promise.keep(outcome) }
            }
            return state.jobs.count == 1 && !state.isWorking
        }
        if isFirst { Aside.start { [self] in workOne() } }
        return .later(promise)
    }

    /// Whether nothing is waiting to be done or being done.
    var isIdle: Bool { state.withLock { $0.jobs.isEmpty && !$0.isWorking } }

    /// Does the next piece of work on a thread of the lane's, and lets another thread do the one after it.
    private func workOne() {
        guard let tell = workIfFree() else { return }
        goOn()
        tell()  // Code of a user's own, during which the lane goes on.
    }

    private func goOn() {
        if state.withLock({ !$0.jobs.isEmpty && !$0.isWorking }) { Aside.start { [self] in workOne() } }
    }

    private enum Progress {
        case caughtUp
        case free
        case busy(DispatchSemaphore)
    }

    /// Does what was asked for before, and no more, on this thread.
    private func catchUp() {
        let last = state.withLock { $0.asked }
        while true {
            let progress = state.withLock { state -> Progress in
                if state.done >= last { return .caughtUp }
                guard state.isWorking else { return .free }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return .busy(semaphore)
            }
            switch progress {
            case .caughtUp: return goOn()
            case .free: if let tell = workIfFree() { Aside.start(tell) }
            case .busy(let semaphore): semaphore.wait()
            }
        }
    }

    /// Does the next piece of work, unless there is none or another thread is doing one.
    private func workIfFree() -> (@Sendable () -> Void)? {
        let job = state.withLock { state -> Job? in
            guard !state.isWorking, !state.jobs.isEmpty else { return nil }
            state.isWorking = true
            return state.jobs.popFirst()
        }
        guard let job else { return nil }
        let tell = job()
        let waiting = state.withLock { state in
            state.isWorking = false
            state.done += 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for semaphore in waiting { semaphore.signal() }
        return tell
    }
}
