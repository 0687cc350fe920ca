internal import VellumCore

/// What goes down with a call through every layer: how the caller takes the answer, how it takes it back, and whom to tell.
@usableFromInline
package struct Call: Sendable {
    /// Whether the caller's thread may be blocked until there is an answer. No layer then answers later.
    @usableFromInline package let waits: Bool
    /// Whether it is a fill: each layer takes what it can, whether or not the one before it did.
    @usableFromInline private(set) var isFill = false
    /// Says that the caller does not want the answer any more.
    let cancellation: Cancellation?
    /// Hears of what no error tells.
    private(set) var reporter: (@Sendable (StorageReport) -> Void)?
    /// Hears, once or more, that the call is waiting for code of a user's own: who waits for this call inside a task must not.
    private(set) var whenLate: (@Sendable () -> Void)?

    @usableFromInline
    init(waits: Bool = false, cancellation: Cancellation? = nil, reporter: (@Sendable (StorageReport) -> Void)? = nil) {
        self.waits = waits
        self.cancellation = cancellation
        self.reporter = reporter
    }

    /// A call with a completion.
    @usableFromInline package static let completing = Call()
    /// A call that waits.
    @usableFromInline package static let waiting = Call(waits: true)

    package var isCancelled: Bool { cancellation?.isCancelled ?? false }
    /// Whether it must be refused rather than made to wait for code of a user's own: it would block a thread that runs tasks.
    var isRefusedWhenLate: Bool { waits && withUnsafeCurrentTask { $0 != nil } }

    /// The same call, with another cancellation or none.
    func cancelled(by cancellation: Cancellation?) -> Call {
        var call = Call(waits: waits, cancellation: cancellation, reporter: reporter)
        call.whenLate = whenLate
        call.isFill = isFill
        return call
    }

    /// The call that fills layers with what this one has brought.
    var filling: Call {
        var call = cancelled(by: nil)
        call.isFill = true
        return call
    }

    /// The same call, of which one more wants to hear.
    func reporting(_ inner: @escaping @Sendable (StorageReport) -> Void) -> Call {
        var call = self
        call.reporter = { [reporter] report in
            inner(report)
            reporter?(report)
        }
        return call
    }

    /// The same call, of whose lateness one more wants to hear.
    func whenLate(_ inner: @escaping @Sendable () -> Void) -> Call {
        var call = self
        call.whenLate = { [whenLate] in
            inner()
            whenLate?()
        }
        return call
    }

    /// Tells the log, and whoever asked to hear of it.
    func report(_ report: StorageReport) {
        report.log()
        reporter?(report)
    }
}

/// A call that may be cancelled: whoever can end early asks to be told.
@usableFromInline
final class Cancellation: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var next = 0
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
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
    }

    /// Calls the handler when the call is cancelled, at once where it was. Returns a number by which to take it back.
    @discardableResult
    func onCancel(_ handler: @escaping @Sendable () -> Void) -> Int {
        let number = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
        if let number { return number }
        handler()
        return 0
    }

    func removeHandler(_ number: Int) {
        state.withLock { $0.handlers[number] = nil }
    }
}
