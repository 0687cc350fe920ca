package import VellumCore

/// What goes down with a call through every layer: how the caller takes the answer, how it cancels,
/// and who is notified.
@usableFromInline
package struct Call: Sendable {
    /// Whether the caller's thread may be blocked until there is an answer. No layer then answers
    /// later.
    @usableFromInline package let waits: Bool
    /// Whether the call is a fill: each layer takes what it can, whether or not the one before it
    /// did.
    @usableFromInline private(set) var isFill = false
    /// Cancelled when the caller no longer wants the answer.
    private(set) var cancellation: Cancellation?
    /// Called with what no error says.
    private(set) var reporter: (@Sendable (StorageReport) -> Void)?
    /// Called, once or more, when the call waits for user-supplied code: callers inside a task must
    /// not block for that.
    private(set) var onMayBlock: (@Sendable () -> Void)?

    @usableFromInline
    init(waits: Bool = false, cancellation: Cancellation? = nil) {
        self.waits = waits
        self.cancellation = cancellation
    }

    /// A call with a completion.
    @usableFromInline package static let completing = Call()
    /// A call that blocks its thread.
    @usableFromInline package static let waiting = Call(waits: true)

    package var isCancelled: Bool { cancellation?.isCancelled ?? false }
    /// Whether the call must fail rather than wait for user-supplied code: it would block a thread
    /// that runs tasks.
    var rejectsBlocking: Bool { waits && withUnsafeCurrentTask { $0 != nil } && !Lane.isCurrent }

    /// The same call with another cancellation, or none.
    func cancelled(by cancellation: Cancellation?) -> Call {
        var call = self
        call.cancellation = cancellation
        return call
    }

    /// The call that fills layers with what this one has retrieved.
    var filling: Call {
        var call = cancelled(by: nil)
        call.isFill = true
        return call
    }

    /// The same call with one more reporter.
    func reporting(_ inner: @escaping @Sendable (StorageReport) -> Void) -> Call {
        var call = self
        call.reporter = { [reporter] report in
            inner(report)
            reporter?(report)
        }
        return call
    }

    /// The same call, which also reports to where the other does.
    func reporting(with other: Call) -> Call { other.reporter.map { reporting($0) } ?? self }

    /// The same call, of which `inner` alone is notified when it waits for user-supplied code.
    func notifying(_ inner: @escaping @Sendable () -> Void) -> Call {
        var call = self
        call.onMayBlock = inner
        return call
    }

    /// The same call, of which `inner` is also notified when it waits for user-supplied code.
    func alsoNotifying(_ inner: @escaping @Sendable () -> Void) -> Call {
        notifying { [onMayBlock] in
            inner()
            onMayBlock?()
        }
    }

    /// Writes to the log, and calls the reporter.
    func report(_ report: StorageReport) {
        report.log()
        reporter?(report)
    }
}

/// Whether a call was cancelled, and what is to be called when it is.
@usableFromInline
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var last = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Locked(State())

    @usableFromInline
    init() {}

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    @usableFromInline
    func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            return exchange(&state.handlers, with: [:])
        }
        for handler in handlers.values { handler() }
    }

    /// Calls the handler when the call is cancelled, synchronously if it already was. Returns a
    /// number by which to remove the handler.
    @discardableResult
    func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.last += 1
            state.handlers[state.last] = handler
            return state.last
        }
        if let number { return number }
        handler()
        return 0
    }

    func removeHandler(_ number: Int) {
        state.withLock { $0.handlers[number] = nil }
    }
}

// How a call waits for what another call has: a load that is running, or a key that is held. Here
// alone it is decided which caller is suspended, which is blocked, and which fails because the
// other call waits for user-supplied code.

extension Call {
    /// Returns what to call once the running load, or the holder of the key, waits for
    /// user-supplied code; `nil` for nothing.
    ///
    /// - Parameter reject: Ends the wait with `wouldBlock`.
    func notification(reject: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        rejectsBlocking ? reject : onMayBlock
    }

    /// Waits for a promise that somebody else fulfills.
    ///
    /// - Parameter leave: Called when the caller cancels; it fulfills the promise.
    func wait<Value: Sendable>(
        for promise: Promise<Value>,
        orLeave leave: @escaping @Sendable () -> Void
    ) -> Reply<Value> {
        if waits { return .now(promise.wait()) }
        if let cancellation {
            let handler = cancellation.onCancel(leave)
            promise.observe { _ in cancellation.removeHandler(handler) }
        }
        return .later(promise)
    }
}

extension SerialQueue {
    /// Does the work: on this thread for a call that blocks, else in its turn on a thread of the
    /// queue.
    package func run<Value: Sendable>(
        layer: String,
        key: (any Sendable)? = nil,
        _ call: Call,
        _ work: @escaping @Sendable () -> Outcome<Value>
    ) -> Reply<Value> {
        guard !call.isCancelled else { return .failure(.cancelled(layer: layer, key: key)) }
        if call.waits {
            catchUp()
            return .now(work())
        }
        let promise = Promise<Value>()
        enqueue {
            // Asked in its turn: the work of a caller that has cancelled is not done.
            let outcome =
                call.isCancelled
                ? .failure(.cancelled(layer: layer, key: key))
                : work()
            return { promise.fulfill(outcome) }
        }
        return .later(promise)
    }
}
