/// The answer of a layer, or a promise of it: every transform and composition is written with it.
///
/// ```swift
/// back.retrieve(key, call).then { outcome in … }
/// ```
///
/// A storage that can answer synchronously does, without a thread and without an allocation. So one body serves calls with completions,
/// `async` calls and calls that block.
///
/// Code on the path of a hit switches over every case, which moves the value. A pattern that leaves out cases, as in `guard case`,
/// copies it: a retain and a release for each reference in the value, in every layer.
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
    func then<Next: Sendable>(_ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>) -> Reply<Next> {
        switch self {
        case .now(let outcome): next(outcome)
        case .later(let promise): .later(promise.then(next))
        }
    }

    /// Returns the reply with a transformed outcome.
    @inlinable
    package func map<Next: Sendable>(_ transform: @escaping @Sendable (Outcome<Value>) -> Outcome<Next>) -> Reply<Next> {
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
            return await withCheckedContinuation { continuation in promise.observe { continuation.resume(returning: $0) } }
        }
    }
}
