internal import Dispatch
internal import VellumCore

/// The answer of a layer, or a promise of it: every transform and composition is written with it.
///
/// ```swift
/// back.retrieve(key, call).then { outcome in … }
/// ```
///
/// A storage that can answer synchronously does, without a thread and without an allocation. So one
/// body serves calls with completions, `async` calls and calls that block.
///
/// Code on the path of a hit switches over every case, which moves the value. A pattern that leaves
/// out cases, as in `guard case`, copies it: a retain and a release for each reference in the
/// value, in every layer.
@usableFromInline
package enum Reply<Value: Sendable>: Sendable {
    case now(Outcome<Value>)
    case later(Promise<Value>)
}

extension Reply {
    @inlinable
    static func success(_ value: Value) -> Reply { .now(.success(value)) }

    @inlinable
    static func failure(_ error: ShallowsError) -> Reply { .now(.failure(error)) }

    /// Returns the reply that `next` makes of the outcome, synchronously if there is one.
    @inlinable
    func then<Next: Sendable>(
        _ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>
    ) -> Reply<Next> {
        switch self {
        case .now(let outcome): next(outcome)
        case .later(let promise): .later(promise.then(next))
        }
    }

    /// Returns the reply with a transformed outcome.
    @inlinable
    package func map<Next: Sendable>(
        _ transform: @escaping @Sendable (Outcome<Value>) -> Outcome<Next>
    ) -> Reply<Next> {
        then { .now(transform($0)) }
    }

    /// Calls `done` once: synchronously if the answer is there, else on the thread that brings it.
    @inlinable
    func deliver(to done: @escaping @Sendable (Outcome<Value>) -> Void) {
        switch self {
        case .now(let outcome): done(outcome)
        case .later(let promise): promise.observe(done)
        }
    }

    /// Waits for the answer without blocking a thread.
    @inlinable
    package func outcome() async -> Outcome<Value> {
        switch self {
        case .now(let outcome): return outcome
        case .later(let promise):
            return await withCheckedContinuation { continuation in
                promise.observe { continuation.resume(returning: $0) }
            }
        }
    }
}

/// The result of an operation of a layer.
@usableFromInline package typealias Outcome<Value> = Result<Value, ShallowsError>

extension Result where Failure == ShallowsError {
    /// The result with the error that `retrieve` and `set` throw.
    @inlinable
    consuming func withUnderlyingError() -> ShallowsResult<Success> {
        switch consume self {
        case .success(let value): .success(value)
        case .failure(let error): .failure(error.underlyingError)
        }
    }

    /// Returns the value, or throws what `retrieve` and `set` throw.
    @inlinable
    consuming func value() throws -> Success {
        switch consume self {
        case .success(let value): return value
        case .failure(let error): throw error.underlyingError
        }
    }

    /// Returns the value, or `nil` if there is none.
    @inlinable
    consuming func valueIfPresent() throws(ShallowsError) -> Success? {
        switch consume self {
        case .success(let value): return value
        case .failure(let error):
            guard error.isMiss else { throw error }
            return nil
        }
    }

    var error: ShallowsError? { if case .failure(let error) = self { error } else { nil } }

    /// Returns the reply that `next` makes of the value, or the failure.
    @inlinable
    func then<Next: Sendable>(
        _ next: (Success) -> Reply<Next>
    ) -> Reply<Next> {
        switch self {
        case .success(let value): next(value)
        case .failure(let error): .failure(error)
        }
    }
}

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

    /// Fulfills the promise, and calls every observer, outside the lock. Returns `false` if it was
    /// fulfilled before.
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
    func then<Next: Sendable>(
        _ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>
    ) -> Promise<Next> {
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
        Lane.waiting { semaphore.wait() }
        guard let outcome else {
            preconditionFailure("A promise called its observer before it was fulfilled.")
        }
        return outcome
    }
}
