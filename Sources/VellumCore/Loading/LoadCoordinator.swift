internal import Synchronization

/// Coordinates running loads, at most one for each key, and their waiters. The thread-safe wrapper
/// of a ``SingleFlight`` (decision 39).
///
/// A caller joins a load, and is called back when it ends. The first caller starts the load and
/// finishes it. A caller that would make its own load wait for itself gets ``Joined/recursive``
/// instead, and decides whether to fail or to load without joining.
///
/// A load that a write has overtaken can be detached: who waits for it gets its outcome, who comes
/// later starts another. A load that runs past its deadline ends.
///
/// No callback runs inside the lock. The only lock taken inside it is that of the ``WaitGraph``.
package final class LoadCoordinator<Key: Hashable & Sendable, Outcome>: Sendable {
    /// How a wait ended.
    package enum Ending {
        case finished(Outcome, isStarter: Bool)
        /// The waiter left.
        case cancelled
        /// The caller is part of a load, and would have waited for itself. No waiter is called back
        /// with it.
        case recursive
    }

    /// A caller that waits for a load.
    package struct Waiter: Sendable {
        package let number: UInt64
        /// Whether the load continues when no waiter is left.
        var keepsRunning: Bool
        /// Called, once or more, when the load waits for user-supplied code.
        var onMayBlock: (@Sendable () -> Void)?
        /// Called once, when the wait ends.
        var onEnd: @Sendable (Ending) -> Void

        package init(
            number: UInt64 = newNumber(),
            keepsRunning: Bool = false,
            onMayBlock: (@Sendable () -> Void)? = nil,
            onEnd: @escaping @Sendable (Ending) -> Void
        ) {
            self.number = number
            self.keepsRunning = keepsRunning
            self.onMayBlock = onMayBlock
            self.onEnd = onEnd
        }
    }

    /// What a caller that joins must do.
    package enum Joined: Sendable {
        /// Run this load, and finish it.
        case started(UInt64)
        case waits
        /// Load without joining, or fail, because the load would wait for itself. The waiter is not
        /// called back.
        case recursive
        /// Do nothing: the caller was cancelled before it joined. The waiter is not called back.
        case cancelled
    }

    private struct Waiting {
        var waiter: Waiter
        var load: UInt64
        /// The load that the waiter is part of.
        var current: UInt64?
        var isStarter: Bool
        /// Whether it does not wait for the end of the load if something is noted of it.
        var takesInterim = false

        /// Removes the edge from the wait graph. Happens before the waiter is called back, so that
        /// its next call is not taken for a cycle.
        func endWait() {
            if let current { WaitGraph.shared.withLock { $0.remove(current, waitsFor: load) } }
        }
    }

    /// What is known of a load that runs.
    private struct Running {
        /// The version of its key when it began, by which writes are noticed.
        var version: UInt64?
        /// Whether it waits for user-supplied code.
        var mayBlock = false
        /// What it has found so far, for waiters that stop waiting.
        var interim: Outcome?
        /// Until when its loader may run.
        var deadline = Int64.max
        var handlers = Handlers()
    }

    /// What a load is told.
    package struct Handlers: Sendable {
        /// By the clock of the ``LoadTimer``.
        var begin: Int64?
        /// Called if its loader runs past its deadline. Ends it.
        var onLate: @Sendable () -> Void = {}
        /// Called if it ends before its code does: nobody waits for it, it is late, or another has
        /// replaced it.
        var cancel: @Sendable () -> Void = {}
        /// Called once, when it has ended, however.
        var onEnd: @Sendable () -> Void = {}
    }

    private struct State {
        var table = SingleFlight<Key>()
        var waiters: [UInt64: Waiting] = [:]
        var running: [UInt64: Running] = [:]
        /// When the task looks for late loads; `nil` if there is none.
        var nextLook: Int64?

        /// Removes what is known of a load that has ended, and returns whom to tell.
        mutating func end(_ load: UInt64) -> Handlers? {
            running.removeValue(forKey: load)?.handlers
        }
    }

    private let state = Locked(State())
    private let runningCount = Atomic(0)
    private let endedCount = Atomic(0)
    /// What loads have cost so far.
    package let statistics = Locked(LoadStatistics())

    package init() {}

    /// The numbers of the loads that are running. For tests.
    package var running: [UInt64] { state.withLock { Array($0.running.keys) } }

    /// How many callers wait. For tests.
    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Returns a number that no other load or waiter of this process has.
    package static func newNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}

private let lastNumber = Atomic<UInt64>(0)

extension LoadCoordinator.Ending: Sendable where Outcome: Sendable {}

extension LoadCoordinator where Outcome: Sendable {
    // MARK: Waiting

    /// Joins the running load of the key, or starts one.
    ///
    /// - Parameters:
    ///   - newKey: The key under which to join or start a load if no load of `key` is running.
    ///   - version: The version of the key, if the caller starts a load.
    ///   - isCancelled: Evaluated inside the lock, so that ``leave(_:)`` finds a waiter that is
    ///     cancelled later.
    package func join(
        _ key: Key,
        startingAs newKey: Key? = nil,
        version: UInt64? = nil,
        _ waiter: Waiter,
        unless isCancelled: () -> Bool = { false }
    ) -> Joined {
        let new = Self.newNumber()
        let current = ReentrancyGuard.currentLoad
        let (joined, mayBlock, ended) = state.withLock { state -> (Joined, Bool, [Handlers]) in
            if isCancelled() { return (.cancelled, false, []) }
            var running = state.table.load(of: key)
            var key = key
            if running == nil, let newKey {
                key = newKey
                running = state.table.load(of: key)
            }
            let load = running ?? new
            if let current, !WaitGraph.shared.withLock({ $0.add(current, waitsFor: load) }) {
                return (.recursive, false, [])
            }
            let isStarter =
                state.table.join(
                    key,
                    waiter: waiter.number,
                    keepsRunning: waiter.keepsRunning,
                    newLoad: new
                )
                == new
            state.waiters[waiter.number] = Waiting(
                waiter: waiter,
                load: load,
                current: current,
                isStarter: isStarter
            )
            guard isStarter else { return (.waits, state.running[load]?.mayBlock ?? false, []) }
            return (.started(load), false, began(load, of: key, version, &state))
        }
        if case .waits = joined { statistics.withLock { $0.joined += 1 } }
        if mayBlock { waiter.onMayBlock?() }
        tell(ended)
        return joined
    }

    /// Counts a load that begins, and ends those that it replaces.
    private func began(
        _ load: UInt64,
        of key: Key,
        _ version: UInt64?,
        _ state: inout State
    ) -> [Handlers] {
        runningCount.add(1, ordering: .acquiringAndReleasing)
        state.running[load] = Running(version: version)
        return state.table.endElders(of: key, startedBy: load).compactMap { elder in
            runningCount.subtract(1, ordering: .acquiringAndReleasing)
            for waiter in elder.waiters {
                guard let waiting = state.waiters[waiter] else { continue }
                waiting.endWait()
                // Nothing waits for a new load, so that it closes no cycle.
                if let current = waiting.current {
                    _ = WaitGraph.shared.withLock { $0.add(current, waitsFor: load) }
                }
                state.waiters[waiter]?.load = load
                state.waiters[waiter]?.isStarter = false
            }
            return state.end(elder.load)
        }
    }

    /// Cancels the code of loads that have ended before it.
    private func tell(_ ended: [Handlers]) {
        for handlers in ended {
            handlers.cancel()
            handlers.onEnd()
        }
    }

    /// Removes a waiter, and calls it back. If it was the last, and the load does not keep running,
    /// the load is cancelled.
    ///
    /// - Parameters:
    ///   - outcome: What the waiter gets; `nil` if it was cancelled.
    ///   - keepsRunning: Whether the load continues when no waiter is left.
    package func leave(_ waiter: UInt64, with outcome: Outcome? = nil, keepsRunning: Bool = false) {
        let (left, ended) = state.withLock { state -> (Waiting?, Handlers?) in
            guard let left = state.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            left.endWait()
            guard let load = state.table.leave(waiter: waiter, keepsRunning: keepsRunning) else {
                return (left, nil)
            }
            runningCount.subtract(1, ordering: .acquiringAndReleasing)
            return (left, state.end(load))
        }
        if let ended { tell([ended]) }
        left?.waiter.onEnd(outcome.map { .finished($0, isStarter: false) } ?? .cancelled)
    }

    /// Notes what a load has found, before it ends; `nil` if that is nothing any more. Waiters that
    /// take it leave with it.
    ///
    /// - Parameter answersAll: Whether every waiter leaves with it.
    package func note(_ outcome: Outcome?, of load: UInt64, answersAll: Bool = false) {
        let leaving = state.withLock { state -> [UInt64] in
            guard state.running[load] != nil else { return [] }
            state.running[load]?.interim = outcome
            guard outcome != nil else { return [] }
            return state.table.waiters(of: load).filter {
                answersAll || state.waiters[$0]?.takesInterim ?? false
            }
        }
        for waiter in leaving { leave(waiter, with: outcome, keepsRunning: true) }
    }

    /// Returns what was noted of the load that the waiter waits for.
    package func interim(for waiter: UInt64) -> Outcome? {
        state.withLock { state in
            state.waiters[waiter].flatMap { state.running[$0.load]?.interim }
        }
    }

    /// Returns what was noted of the load.
    package func interim(of load: UInt64) -> Outcome? {
        state.withLock { $0.running[load]?.interim }
    }

    /// Returns what was noted of the load of the key that callers can join.
    package func interim(forKey key: Key) -> Outcome? {
        state.withLock { state in
            state.table.load(of: key).flatMap { state.running[$0]?.interim }
        }
    }

    /// Returns what was noted of the load that the waiter waits for. If that is nothing, the waiter
    /// leaves with what is noted later.
    func takesInterim(_ waiter: UInt64) -> Outcome? {
        state.withLock { state in
            guard let load = state.waiters[waiter]?.load else { return nil }
            if let outcome = state.running[load]?.interim { return outcome }
            state.waiters[waiter]?.takesInterim = true
            return nil
        }
    }

    /// When the load began that the waiter waits for.
    package func begin(for waiter: UInt64) -> Int64? {
        state.withLock { state in
            state.waiters[waiter].flatMap { state.running[$0.load]?.handlers.begin }
        }
    }

    // MARK: Running

    /// Starts a load without waiters, unless one of the key is running.
    ///
    /// - Parameter isJoinable: Whether callers may join it.
    package func refresh(
        _ key: Key,
        version: UInt64? = nil,
        isJoinable: Bool = true
    ) -> UInt64? {
        let new = Self.newNumber()
        let ended = state.withLock { state -> [Handlers]? in
            guard state.table.refresh(key, newLoad: new, isJoinable: isJoinable) else { return nil }
            return began(new, of: key, version, &state)
        }
        guard let ended else { return nil }
        tell(ended)
        return new
    }

    /// Sets what a load is told, before its code begins. One that has ended is told so.
    func setHandlers(_ handlers: Handlers, of load: UInt64) {
        let isRunning = state.withLock { state in
            state.running[load]?.handlers = handlers
            return state.running[load] != nil
        }
        if !isRunning { tell([handlers]) }
    }

    /// Sets the handler that cancels the load when its last waiter leaves. Called synchronously if
    /// the load is no longer running.
    package func onCancel(_ load: UInt64, _ cancel: @escaping @Sendable () -> Void) {
        let isRunning = state.withLock { state in
            state.running[load]?.handlers.cancel = cancel
            return state.running[load] != nil
        }
        if !isRunning { cancel() }
    }

    package func isRunning(_ load: UInt64) -> Bool {
        state.withLock { $0.table.isRunning(load) }
    }

    /// Notifies waiters that the load waits for user-supplied code, which may take any time.
    package func mayBlock(_ load: UInt64) {
        let waiters = state.withLock { state -> [@Sendable () -> Void] in
            guard state.running[load] != nil else { return [] }
            state.running[load]?.mayBlock = true
            return state.table.waiters(of: load).compactMap { state.waiters[$0]?.waiter.onMayBlock }
        }
        for onMayBlock in waiters { onMayBlock() }
    }

    /// Ends a load, and calls every waiter back.
    ///
    /// - Parameter cancels: Whether its code goes on, and is cancelled.
    /// - Returns: Whether the caller that started it waits for it; `nil` if the load was abandoned.
    @discardableResult
    package func finish(_ load: UInt64, _ outcome: Outcome, cancels: Bool = false) -> Bool? {
        let (waiters, ended) = state.withLock { state -> ([Waiting]?, Handlers?) in
            // Before the load can no longer be joined.
            endedCount.add(1, ordering: .acquiringAndReleasing)
            guard let numbers = state.table.finish(load) else { return (nil, nil) }
            runningCount.subtract(1, ordering: .acquiringAndReleasing)
            let waiters = numbers.compactMap { state.waiters.removeValue(forKey: $0) }
            for waiting in waiters { waiting.endWait() }
            return (waiters, state.end(load))
        }
        if cancels { ended?.cancel() }
        ended?.onEnd()
        for waiting in waiters ?? [] {
            waiting.waiter.onEnd(.finished(outcome, isStarter: waiting.isStarter))
        }
        return waiters?.contains { $0.isStarter }
    }

    // MARK: Late loads

    /// Ends the load if it still has this deadline when that is over. One task looks for all loads,
    /// and ends when none is left that has a deadline.
    ///
    /// - Parameter deadline: `.max` for none.
    package func limit(_ load: UInt64, until deadline: Int64, by timer: LoadTimer) {
        let isNext = state.withLock { state in
            guard state.running[load] != nil else { return false }
            state.running[load]?.deadline = deadline
            guard deadline < state.nextLook ?? .max else { return false }
            state.nextLook = deadline
            return true
        }
        guard isNext else { return }
        let endLate: @Sendable (Int64) -> Int64? = { [weak self] moment in
            self?.endLate(at: timer.now(), moment)
        }
        // Not part of the load that happens to need it first.
        Task.detached {
            var look: Int64? = deadline
            do {
                while let moment = look {
                    look = try await timer.wait(until: moment, plus: 0) { endLate(moment) }
                }
            } catch {}  // Nobody cancels it.
        }
    }

    /// - Returns: When to look again; `nil` if that is not the caller's work.
    private func endLate(at now: Int64, _ look: Int64) -> Int64? {
        let (late, next) = state.withLock { state -> ([Handlers], Int64?) in
            let loads = state.running.filter { $0.value.deadline <= now }
            // Each is told once, also if two tasks look at one moment.
            for load in loads.keys { state.running[load]?.deadline = .max }
            let late = loads.values.map(\.handlers)
            // Another task looks earlier.
            guard state.nextLook == look else { return (late, nil) }
            let next =
                state.running.values.map(\.deadline).filter { $0 > now }.min()
                ?? .max
            state.nextLook = next == .max ? nil : next
            return (late, state.nextLook)
        }
        for handlers in late { handlers.onLate() }
        return next
    }

    // MARK: Detaching

    /// Prevents callers from joining the running loads of these keys, because their results are
    /// outdated. Current waiters keep waiting.
    package func detach(_ keys: [Key]) {
        state.withLock { state in
            for key in keys { state.table.detach(key) }
        }
    }

    /// Prevents callers from joining the running load of the key if it was overtaken since the
    /// version of the key with which it began. A caller that is part of it would wait for itself in
    /// any case.
    ///
    /// - Parameter isOvertaken: Called without the lock.
    package func detach(_ key: Key, if isOvertaken: (_ version: UInt64) -> Bool) {
        guard !isIdle else { return }
        let running = state.withLock { state -> (load: UInt64, version: UInt64)? in
            guard let load = state.table.load(of: key),
                let version = state.running[load]?.version
            else { return nil }
            return (load, version)
        }
        guard let running, isOvertaken(running.version) else { return }
        if let current = ReentrancyGuard.currentLoad,
            WaitGraph.shared.withLock({ $0.isPart(current, of: running.load) })
        {
            return
        }
        state.withLock { $0.table.detach(key, only: running.load) }
    }

    /// Prevents callers from joining any running load.
    package func detachAll() {
        state.withLock { $0.table.detachAll() }
    }

    /// Whether no load is running. Takes no lock.
    package var isIdle: Bool { runningCount.load(ordering: .acquiring) == 0 }

    /// How many loads have ended. Takes no lock.
    package var finishedCount: Int { endedCount.load(ordering: .acquiring) }

    // MARK: For tests

    /// How many loads are running.
    package var count: Int { state.withLock { $0.table.count } }

    /// Stops the process if the tables are inconsistent. For tests. O(n).
    package func checkInvariants() {
        state.withLock { state in
            state.table.checkInvariants()
            precondition(
                state.running.keys.allSatisfy { state.table.isRunning($0) },
                "Something is known of no load."
            )
            precondition(
                state.table.count == state.running.count,
                "A load of which nothing is known."
            )
            precondition(
                state.table.count == runningCount.load(ordering: .acquiring),
                "Loads that are not counted."
            )
        }
    }

    // MARK: Tasks that wait

    /// Waits for the load of the key, without holding a thread; `start` starts one if there is
    /// none.
    ///
    /// Returns as soon as the task is cancelled, whatever the loader does.
    ///
    /// - Parameter limit: Runs beside the wait, and may end it by ``leave(_:with:keepsRunning:)``.
    ///   Cancelled when the wait ends.
    package func wait(
        for key: Key,
        version: UInt64? = nil,
        keepsRunning: Bool,
        limit: (@Sendable (_ waiter: UInt64) async -> Void)? = nil,
        start: @Sendable (_ load: UInt64) -> Void
    ) async -> Ending {
        let number = Self.newNumber()
        let limiting = limit.map(WaitLimit.init)
        defer { limiting?.end() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, keepsRunning: keepsRunning) {
                    continuation.resume(returning: $0)
                }
                let joined = join(key, version: version, waiter, unless: { Task.isCancelled })
                limiting?.begin(for: number)
                switch joined {
                case .started(let load): start(load)
                case .waits: break
                case .recursive: continuation.resume(returning: .recursive)
                case .cancelled: continuation.resume(returning: .cancelled)
                }
            }
        } onCancel: {
            leave(number)
        }
    }
}

/// What ends a wait in time, in a task of its own.
private final class WaitLimit: Sendable {
    private let body: @Sendable (_ waiter: UInt64) async -> Void
    private let task = Locked<Task<Void, Never>?>(nil)

    init(_ body: @escaping @Sendable (_ waiter: UInt64) async -> Void) { self.body = body }

    func begin(for waiter: UInt64) {
        task.withLock { $0 = Task { [body] in await body(waiter) } }
    }

    func end() { task.withLock { $0 }?.cancel() }
}
