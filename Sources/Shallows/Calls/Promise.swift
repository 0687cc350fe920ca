internal import Dispatch
internal import VellumCore

/// An answer that comes later, exactly once.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    @usableFromInline typealias Observer = @Sendable (Outcome<Value>) -> Void

    private enum State: Sendable {
        case open([Observer])
        case fulfilled(Outcome<Value>)
    }

    private let state = Locked(State.open([]))

    @usableFromInline
    init() {}

    /// Fulfills the promise, and calls every observer, outside the lock. Returns `false` if it was fulfilled before.
    @discardableResult
    func fulfill(_ outcome: Outcome<Value>) -> Bool {
        let observers = state.withLock { state -> [Observer]? in
            guard case .open(let observers) = state else { return nil }
            state = .fulfilled(outcome)
            return observers
        }
        for observer in observers ?? [] { observer(outcome) }
        return observers != nil
    }

    /// Calls the observer once: synchronously if the promise is fulfilled, else when it is.
    @usableFromInline
    func observe(_ observer: @escaping Observer) {
        let outcome = state.withLock { state -> Outcome<Value>? in
            switch state {
            case .fulfilled(let outcome): return outcome
            case .open(var observers):
                state = .open([])  // Released, or the array would be copied.
                observers.append(observer)
                state = .open(observers)
                return nil
            }
        }
        if let outcome { observer(outcome) }
    }

    /// The outcome, if the promise is fulfilled.
    var outcome: Outcome<Value>? {
        state.withLock { if case .fulfilled(let outcome) = $0 { outcome } else { nil } }
    }

    @usableFromInline
    func then<Next: Sendable>(_ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>) -> Promise<Next> {
        let promise = Promise<Next>()
        let next = ReentrancyGuard.inheriting(next)
        observe { next($0).deliver { promise.fulfill($0) } }
        return promise
    }

    /// Blocks the thread until the promise is fulfilled.
    @usableFromInline
    func wait() -> Outcome<Value> {
        if let outcome { return outcome }
        ReentrancyGuard.threadWillBlock()
        let semaphore = DispatchSemaphore(value: 0)
        observe { _ in semaphore.signal() }
        semaphore.wait()
        guard let outcome else { preconditionFailure("A promise called its observer before it was fulfilled.") }
        return outcome
    }
}
