internal import VellumCore

// Where code of a user's own is asked for an answer, of which nothing is known: not when it comes, nor how often, nor whether.

extension Reply {
    /// Asks code that calls a completion.
    ///
    /// The first call counts; a later one is reported. A completion that is dropped without being called is a failure, so that no
    /// one waits for ever. A caller that waits is refused inside a task, unless the answer is there when `ask` returns.
    @usableFromInline
    static func foreign(
        layer: String, key: (any Sendable)? = nil, _ call: Call,
        _ ask: (_ completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void
    ) -> Reply {
        guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
        let promise = Promise<Value>()
        do {
            let answer = OneAnswer(promise, layer: layer, key: key, call)
            ask { answer.give($0) }
        }
        if let outcome = promise.outcome { return .now(outcome) }
        guard !call.isRefusedWhenLate else { return .failure(.wouldBlock(layer: layer, key: key)) }
        call.whenLate?()
        return call.waits ? .now(promise.wait()) : .later(promise)
    }

    /// Asks an asynchronous function, in a task that is cancelled with the call.
    ///
    /// It never has its answer at once, so a caller that waits inside a task is refused before it is asked.
    @usableFromInline
    static func foreign(
        layer: String, key: (any Sendable)? = nil, _ call: Call, _ ask: @escaping @Sendable () async throws -> Value
    ) -> Reply {
        guard !call.isRefusedWhenLate else { return .failure(.wouldBlock(layer: layer, key: key, wasAsked: false)) }
        return foreign(layer: layer, key: key, call) { completion in
            let task = Task {
                do { completion(.success(try await ask())) } catch { completion(.failure(error)) }
            }
            call.cancellation?.onCancel { task.cancel() }
        }
    }
}

/// The answer to one question, of which someone else holds the completion.
private final class OneAnswer<Value: Sendable>: Sendable {
    private let promise: Promise<Value>
    private let layer: String
    private let key: (any Sendable)?
    private let call: Call

    init(_ promise: Promise<Value>, layer: String, key: (any Sendable)?, _ call: Call) {
        self.promise = promise
        self.layer = layer
        self.key = key
        self.call = call
    }

    func give(_ result: ShallowsResult<Value>) {
        let isFirst = promise.keep(result.mapError { ShallowsError($0, layer: layer, key: key, standing: .unknown) })
        if !isFirst { call.report(StorageReport(.answeredTwice, layer: layer)) }
    }

    deinit {
        // The last one who could call the completion let go of it.
        guard promise.outcome == nil else { return }
        promise.keep(
            .failure(
                ShallowsError(
                    .unanswered, "The storage dropped its completion without calling it, which is a mistake in that storage.",
                    layer: layer, key: key)))
    }
}

extension ShallowsError {
    static func wouldBlock(layer: String, key: (any Sendable)?, wasAsked: Bool = true) -> ShallowsError {
        var error = ShallowsError(
            .wouldBlock, "The storage answers later, and a task must not be blocked until then: use its async verbs here.", layer: layer,
            key: key)
        error.mayStillBeDone = wasAsked
        if wasAsked { error.message += " What it was asked for may still be done." }
        return error
    }

    static func cancelled(layer: String, key: (any Sendable)?) -> ShallowsError {
        ShallowsError(CancellationError(), layer: layer, key: key, standing: .failure)
    }
}
