internal import VellumCore

/// The loads of one store that are under way, and who waits for them: the locked shell of a ``SingleFlight``.
///
/// Nothing waits inside the lock: tasks are started and cancelled, and waiters resumed, after it was let go. It is taken before
/// that of the ``WaitGraph``, and no other lock is taken inside.
final class Loads<Value>: Sendable {
    /// For how many milliseconds past their ends entries are still of use to someone, by what he takes for their ends.
    let staleWindows = Locked<[Expiration: Int64]>([:])

    private let state = Locked(State())

    private struct State {
        var flights = SingleFlight<EntryKey>()
        var waiters: [UInt64: Waiter] = [:]
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var answers = NegativeCache()
    }

    private struct Waiter {
        var continuation: CheckedContinuation<Wakeup, Never>
        /// The flight that it waits for.
        var flight: UInt64
        /// The flight that it runs in.
        var current: UInt64?
        var isStarter: Bool

        /// Nobody waits here any more: said before it is told, or what its task asks for next could seem to close a circle.
        func endWait() {
            if let current { WaitGraph.shared.withLock { $0.remove(current, waitsFor: flight) } }
        }
    }

    /// Why a waiter goes on.
    enum Wakeup {
        /// The flight ended.
        case landed(Landing, isStarter: Bool)
        /// The waiter's task was cancelled.
        case cancelled
        /// It would have waited for itself.
        case recursive
    }

    /// How a flight ended.
    enum Landing {
        /// There was an answer after all, which another flight had just brought. `nil`: that there is nothing was remembered.
        case found(Value?)
        /// The loader answered.
        case loaded(Value?)
        /// The loader failed; or the disk did, or a failure was remembered, which is none to be remembered anew.
        case failed(any Error, isNew: Bool)
    }
}

extension Loads.Wakeup: Sendable where Value: Sendable {}
extension Loads.Landing: Sendable where Value: Sendable {}

extension Loads where Value: Sendable {
    // MARK: Waiting

    /// Waits for the flight that loads the key; `start` starts one if there is none.
    ///
    /// Returns at once if the task is cancelled, whatever the loader does.
    func wait(for key: EntryKey, isKept: Bool, start: @Sendable (_ flight: UInt64) -> Void) async -> Wakeup {
        let waiter = CurrentFlight.newNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                switch board(key, waiter, isKept: isKept, continuation) {
                case .wakes(let wakeup): continuation.resume(returning: wakeup)
                case .starts(let flight): start(flight)
                case .waits: break
                }
            }
        } onCancel: {
            leave(waiter)
        }
    }

    private enum Boarded {
        case wakes(Wakeup)
        case starts(UInt64)
        case waits
    }

    private func board(
        _ key: EntryKey, _ waiter: UInt64, isKept: Bool, _ continuation: CheckedContinuation<Wakeup, Never>
    ) -> Boarded {
        let (new, current) = (CurrentFlight.newNumber(), CurrentFlight.number)
        return state.withLock { state in
            // Asked inside the lock: whoever is cancelled later finds the waiter in the table.
            if Task.isCancelled { return .wakes(.cancelled) }
            let flight = state.flights.flight(of: key) ?? new
            if let current, !WaitGraph.shared.withLock({ $0.add(current, waitsFor: flight) }) { return .wakes(.recursive) }
            let boarding = state.flights.board(key, waiter: waiter, isKept: isKept, newFlight: new)
            state.waiters[waiter] = Waiter(
                continuation: continuation, flight: flight, current: current, isStarter: boarding == .start)
            return boarding == .start ? .starts(flight) : .waits
        }
    }

    private func leave(_ waiter: UInt64) {
        let (gone, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let gone = state.waiters.removeValue(forKey: waiter) else { return (nil, nil) }
            gone.endWait()
            guard case .abandoned(let flight) = state.flights.leave(waiter: waiter) else { return (gone, nil) }
            return (gone, state.tasks.removeValue(forKey: flight))
        }
        task?.cancel()
        gone?.continuation.resume(returning: .cancelled)
    }

    // MARK: Flying

    /// The number of a new flight that nobody waits for, unless the key is being loaded already.
    func refresh(_ key: EntryKey) -> UInt64? {
        let new = CurrentFlight.newNumber()
        return state.withLock { $0.flights.refresh(key, newFlight: new) } ? new : nil
    }

    /// Takes the task of a flight, to cancel it when it is abandoned: now, if it was already.
    func didStart(_ task: Task<Void, Never>, of flight: UInt64) {
        let isUnderWay = state.withLock { state in
            guard state.flights.isUnderWay(flight) else { return false }
            state.tasks[flight] = task
            return true
        }
        if !isUnderWay { task.cancel() }
    }

    func isUnderWay(_ flight: UInt64) -> Bool { state.withLock { $0.flights.isUnderWay(flight) } }

    /// Ends a flight, remembers its answer, and tells everyone who waits for it.
    ///
    /// - Parameter item: What to remember of an answer that is no value.
    /// - Returns: How many were told, `nil` if the flight was abandoned; and the keys that need not be watched any more, once
    ///   for each.
    func land(
        _ flight: UInt64, of key: EntryKey, _ landing: Landing, caching item: NegativeCache.Item?
    ) -> (told: Int?, unwatched: [EntryKey]) {
        let (waiters, unwatched) = state.withLock { state -> ([Waiter]?, [EntryKey]) in
            state.tasks[flight] = nil
            guard let numbers = state.flights.land(flight) else { return (nil, [key]) }
            let waiters = numbers.compactMap { state.waiters.removeValue(forKey: $0) }
            for waiter in waiters { waiter.endWait() }
            return (waiters, item.map { state.answers.insert($0, forKey: key) } ?? [key])
        }
        for waiter in waiters ?? [] { waiter.continuation.resume(returning: .landed(landing, isStarter: waiter.isStarter)) }
        return (waiters?.count, unwatched)
    }

    // MARK: Remembering

    func rememberedAnswer(_ key: EntryKey) -> NegativeCache.Item? { state.withLock { $0.answers.item(key) } }

    /// Forgets an answer that holds no more. Returns whether its key need not be watched any more.
    func forgetAnswer(_ key: EntryKey, version: UInt64) -> Bool { state.withLock { $0.answers.remove(key, version: version) } }

    // MARK: For tests

    /// How many loads are under way.
    var count: Int { state.withLock { $0.flights.count } }

    /// How many wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    func checkInvariants() {
        state.withLock { state in
            state.flights.checkInvariants()
            precondition(state.tasks.keys.allSatisfy { state.flights.isUnderWay($0) }, "A task of no flight.")
        }
    }
}
