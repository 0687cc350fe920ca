/// What goes down with a call through every layer: how the caller takes the answer, how it cancels, and who is notified.
@usableFromInline
package struct Call: Sendable {
    /// Whether the caller's thread may be blocked until there is an answer. No layer then answers later.
    @usableFromInline package let waits: Bool
    /// Whether the call is a fill: each layer takes what it can, whether or not the one before it did.
    @usableFromInline private(set) var isFill = false
    /// Cancelled when the caller no longer wants the answer.
    let cancellation: Cancellation?
    /// Called with what no error says.
    private(set) var reporter: (@Sendable (StorageReport) -> Void)?
    /// Called, once or more, when the call waits for user-supplied code: callers inside a task must not block for that.
    private(set) var onMayBlock: (@Sendable () -> Void)?

    @usableFromInline
    init(waits: Bool = false, cancellation: Cancellation? = nil, reporter: (@Sendable (StorageReport) -> Void)? = nil) {
        self.waits = waits
        self.cancellation = cancellation
        self.reporter = reporter
    }

    /// A call with a completion.
    @usableFromInline package static let completing = Call()
    /// A call that blocks its thread.
    @usableFromInline package static let waiting = Call(waits: true)

    package var isCancelled: Bool { cancellation?.isCancelled ?? false }
    /// Whether the call must fail rather than wait for user-supplied code: it would block a thread that runs tasks.
    var rejectsBlocking: Bool { waits && withUnsafeCurrentTask { $0 != nil } }

    /// The same call with another cancellation, or none.
    func cancelled(by cancellation: Cancellation?) -> Call {
        var call = Call(waits: waits, cancellation: cancellation, reporter: reporter)
        call.onMayBlock = onMayBlock
        call.isFill = isFill
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
