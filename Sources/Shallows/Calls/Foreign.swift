internal import VellumCore

// Where user-supplied code is asked for an answer. It may answer at any time, more than once, or
// never.

extension Reply {
    /// Asks code that calls a completion.
    ///
    /// The first call counts; a later one is reported. A completion that is released without being
    /// called is a failure, so that no caller waits forever. A caller that blocks fails inside a
    /// task, unless the answer is there when `ask` returns.
    @usableFromInline
    static func foreign(
        layer: String,
        key: (any Sendable)? = nil,
        _ call: Call,
        _ ask: (_ completion: @escaping @Sendable (ShallowsResult<Value>) -> Void) -> Void
    ) -> Reply {
        guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
        let promise = Promise<Value>()
        do {
            let answer = OneAnswer(promise, layer: layer, key: key, call)
            ask { answer.give($0) }
        }
        if let outcome = promise.outcome { return .now(outcome) }
        guard !call.rejectsBlocking else { return .failure(.wouldBlock(layer: layer, key: key)) }
        call.onMayBlock?()
        return call.waits ? .now(promise.wait()) : .later(promise)
    }

    /// Asks an asynchronous function, in a task that is cancelled with the call.
    ///
    /// It never answers synchronously, so a caller that blocks inside a task fails before the
    /// function is asked.
    @usableFromInline
    static func foreign(
        layer: String,
        key: (any Sendable)? = nil,
        _ call: Call,
        _ ask: @escaping @Sendable () async throws -> Value
    ) -> Reply {
        guard !call.rejectsBlocking else {
            return .failure(.wouldBlock(layer: layer, key: key, wasAsked: false))
        }
        return foreign(layer: layer, key: key, call) { completion in
            let task = Task {
                do {
                    completion(.success(try await ask()))
                } catch { completion(.failure(error)) }
            }
            call.cancellation?.onCancel { task.cancel() }
        }
    }
}

/// The answer to one call, whose completion user-supplied code holds.
private final class OneAnswer<Value: Sendable>: Sendable {
    private let promise: Promise<Value>
    private let layer: String
    private let key: (any Sendable)?
    private let call: Call

    init(
        _ promise: Promise<Value>,
        layer: String,
        key: (any Sendable)?,
        _ call: Call
    ) {
        self.promise = promise
        self.layer = layer
        self.key = key
        self.call = call
    }

    func give(_ result: ShallowsResult<Value>) {
        let isFirst = promise.fulfill(
            result.mapError { ShallowsError($0, layer: layer, key: key, disposition: .unknown) }
        )
        if !isFirst { call.report(StorageReport(.answeredTwice, layer: layer)) }
    }

    deinit {
        guard promise.outcome == nil else { return }
        promise.fulfill(
            .failure(
                ShallowsError(
                    .unanswered,
                    """
                    The storage dropped its completion without calling it, which is a mistake in \
                    that storage.
                    """,
                    layer: layer,
                    key: key
                )
            )
        )
    }
}

extension ShallowsError {
    static func wouldBlock(
        layer: String,
        key: (any Sendable)?,
        wasAsked: Bool = true
    ) -> ShallowsError {
        var error = ShallowsError(
            .wouldBlock,
            """
            The storage answers later, and a task must not be blocked until then: use its async \
            functions here.
            """,
            layer: layer,
            key: key
        )
        if wasAsked { error.message += " It may still do what it was asked for." }
        return error
    }

    static func cancelled(layer: String, key: (any Sendable)?) -> ShallowsError {
        ShallowsError(CancellationError(), layer: layer, key: key, disposition: .failure)
    }
}
