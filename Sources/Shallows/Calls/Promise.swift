internal import Dispatch
internal import VellumCore

/// An answer that comes later, exactly once.
@usableFromInline
package final class Promise<Value: Sendable>: Sendable {
    @usableFromInline typealias Observer = @Sendable (Outcome<Value>) -> Void

    private enum State: Sendable {
        case open([Observer])
        case kept(Outcome<Value>)
    }

    private let state = Locked(State.open([]))

    @usableFromInline
    init() {}

    /// Keeps the promise, and tells everyone who waits, outside the lock. Returns `false` where it was kept before.
    @discardableResult
    func keep(_ outcome: Outcome<Value>) -> Bool {
        let observers = state.withLock { state -> [Observer]? in
            guard case .open(let observers) = state else { return nil }
            state = .kept(outcome)
            return observers
        }
        for observer in observers ?? [] { observer(outcome) }
        return observers != nil
    }

    /// Calls the observer once: now if the promise was kept, else when it is.
    @usableFromInline
    func whenKept(_ observer: @escaping Observer) {
        let outcome = state.withLock { state -> Outcome<Value>? in
            switch state {
            case .kept(let outcome): return outcome
            case .open(var observers):
                state = .open([])  // Let go of, or the array would be copied.
                observers.append(observer)
                state = .open(observers)
                return nil
            }
        }
        if let outcome { observer(outcome) }
    }

    /// What was promised, where it came already.
    var outcome: Outcome<Value>? {
        state.withLock { if case .kept(let outcome) = $0 { outcome } else { nil } }
    }

    @usableFromInline
    func then<Next: Sendable>(_ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>) -> Promise<Next> {
        let promise = Promise<Next>()
        let next = NamedWork.keeping(next)
        whenKept { next($0).deliver { promise.keep($0) } }
        return promise
    }

    /// Blocks the thread until the promise is kept.
    @usableFromInline
    func wait() -> Outcome<Value> {
        if let outcome { return outcome }
        Telling.threadWillBlock()
        let semaphore = DispatchSemaphore(value: 0)
        whenKept { _ in semaphore.signal() }
        semaphore.wait()
        guard let outcome else { preconditionFailure("A promise told that it was kept, and was not.") }
        return outcome
    }
}
