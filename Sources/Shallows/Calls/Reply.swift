/// What a layer gives for an answer: the answer, or the promise of one. The primitive that every combinator is written in.
///
/// ```swift
/// back.retrieve(key, call).then { outcome in … }
/// ```
///
/// A storage that can answer at once does, with neither a thread nor an allocation; that is why one piece of code serves calls
/// with completions, `async` calls and calls that wait. A promise is under way when it is given, and is kept exactly once.
///
/// Code on the way of a hit takes a reply apart case by case, which moves what is in it. A pattern that leaves cases over, as in
/// `guard case`, copies it: a retain and a release for each reference in the value, in every layer.
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

    /// The reply that `next` makes of this one's outcome: at once where there is one.
    @inlinable
    func then<Next: Sendable>(_ next: @escaping @Sendable (Outcome<Value>) -> Reply<Next>) -> Reply<Next> {
        switch self {
        case .now(let outcome): next(outcome)
        case .later(let promise): .later(promise.then(next))
        }
    }

    /// The same, for what needs no reply of its own.
    @inlinable
    package func map<Next: Sendable>(_ transform: @escaping @Sendable (Outcome<Value>) -> Outcome<Next>) -> Reply<Next> {
        then { .now(transform($0)) }
    }

    /// Calls `done` once: now where the answer is there, else on the thread that brings it.
    @inlinable
    func deliver(to done: @escaping @Sendable (Outcome<Value>) -> Void) {
        switch self {
        case .now(let outcome): done(outcome)
        case .later(let promise): promise.observe(done)
        }
    }

    /// Waits for the answer, without holding a thread.
    @inlinable
    package func outcome() async -> Outcome<Value> {
        switch self {
        case .now(let outcome): return outcome
        case .later(let promise):
            return await withCheckedContinuation { continuation in promise.observe { continuation.resume(returning: $0) } }
        }
    }
}
