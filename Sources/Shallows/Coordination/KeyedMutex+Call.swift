internal import Synchronization
internal import VellumCore

extension KeyedMutex {
    /// The mutex of all updates: an update of a storage excludes others of the same key of that
    /// storage.
    static let ofUpdates = KeyedMutex()

    /// Runs the work when the key is free, synchronously if it is. A caller that blocks is blocked
    /// until then, and fails where that may take as long as user-supplied code.
    ///
    /// - Parameter layer: The layer that is named where the call fails.
    func run<Value: Sendable>(
        _ key: LockKey,
        layer: String,
        _ call: Call,
        _ work: @escaping @Sendable (Call) -> Reply<Value>
    ) -> Reply<Value> {
        var waiting: Promise<Hold>?
        let hold = lock(key) {
            let turn = Promise<Hold>()
            waiting = turn
            let onMayBlock = call.notification {
                turn.fulfill(.failure(.wouldBlock(layer: layer, key: nil)))
            }
            return Waiter(onMayBlock: onMayBlock) { turn.fulfill(.success($0)) }
        }
        if let hold { return holding(hold, as: holdingWork(key), call, work) }
        guard let turn = waiting else {
            preconditionFailure("A key is neither held nor waited for.")
        }
        // The holder waits for this call, on this thread or in the task that made it.
        if call.waits, isHeldByCaller(key) {
            turn.fulfill(
                .failure(
                    ShallowsError(
                        .recursiveCall,
                        "The call would wait for itself to end.",
                        layer: layer
                    )
                )
            )
        }
        switch call.wait(
            for: turn,
            orLeave: { turn.fulfill(.failure(.cancelled(layer: layer, key: nil))) }
        )
        {
        case .now(let outcome):
            return outcome.then { holding($0, as: holdingWork(key), call, work) }
        case .later(let turn): return runLater(turn, call, work)
        }
    }

    private func runLater<Value: Sendable>(
        _ turn: Promise<Hold>,
        _ call: Call,
        _ work: @escaping @Sendable (Call) -> Reply<Value>
    ) -> Reply<Value> {
        let answer = Promise<Value>()
        let work = ReentrancyGuard.inheriting(work)
        turn.observe { outcome in
            switch outcome {
            case .failure(let error): answer.fulfill(.failure(error))
            case .success(let hold):
                // Not on the thread that unlocks: its caller waits for an answer.
                Lane().start { [self] in
                    holding(hold, as: holdingWork(hold.key), call, work).deliver {
                        answer.fulfill($0)
                    }
                }
            }
        }
        return .later(answer)
    }

    /// Runs work that has the key, and unlocks it when there is an answer.
    func holding<Value: Sendable>(
        _ hold: Hold,
        as kind: ReentrancyGuard.Work,
        _ call: Call,
        _ work: (Call) -> Reply<Value>
    ) -> Reply<Value> {
        let running = ReentrancyGuard(kind)
        return running.run { work(call.alsoNotifying { [self] in mayBlock(hold) }) }.map {
            [self] outcome in
            running.end()
            unlock(hold)
            return outcome
        }
    }

    private func holdingWork(_ key: LockKey) -> ReentrancyGuard.Work {
        .holding(key, mutex: ObjectIdentifier(self))
    }

    /// Whether the code that runs is part of work that has the key.
    func isHeldByCaller(_ key: LockKey) -> Bool { ReentrancyGuard.isActive(holdingWork(key)) }

    /// Waits until every key that is held now was unlocked once. Keys that the caller is part of
    /// holding or filling are not waited for.
    func waitForHolders(layer: String, _ call: Call) -> Reply<Void> {
        let others = heldKeys.filter {
            !isHeldByCaller($0) && !ReentrancyGuard.isActive(.filling($0))
        }
        guard !others.isEmpty else { return .success(()) }
        let countdown = Countdown(others.count)
        for key in others {
            run(key, layer: layer, call) { _ in
                Reply<Void>.success(())
            }.deliver {
                countdown.count($0)
            }
        }
        return countdown.promise.outcome.map { .now($0) } ?? .later(countdown.promise)
    }
}

/// A promise that is fulfilled when all of several outcomes are there, or the first failure is.
private final class Countdown: Sendable {
    let promise = Promise<Void>()
    private let left: Atomic<Int>

    init(_ count: Int) {
        left = Atomic(count)
    }

    func count(_ outcome: Outcome<Void>) {
        let isLast = left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        if isLast || outcome.error != nil { promise.fulfill(outcome) }
    }
}
