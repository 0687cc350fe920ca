internal import Synchronization

/// Marks code that runs as part of some work, so that user-supplied code that calls back does not
/// wait for itself.
///
/// ```swift
/// let marked = ReentrancyGuard(.load(number))
/// marked.run { loader() }  // `ReentrancyGuard.currentLoad == number` inside
/// marked.end()
/// ```
///
/// Child tasks and `Task { }` inherit the mark; `Task.detached`, and threads started by
/// user-supplied code, do not.
package final class ReentrancyGuard: Sendable {
    package enum Work: Hashable, Sendable {
        /// Running a load of a ``LoadCoordinator``.
        case load(UInt64)
        /// Holding a key of a ``KeyedMutex``.
        case holding(LockKey, mutex: ObjectIdentifier)
        /// Filling the front of a layered storage.
        case filling(LockKey)
        /// Calling the completions of a ``SerialQueue``.
        case delivery(queue: ObjectIdentifier)
    }

    private struct Context: Sendable {
        var active: [ReentrancyGuard] = []
        /// The innermost load, even if it has ended: tasks it left behind are no longer awaited by
        /// the loads around it.
        var load: UInt64?
    }

    @TaskLocal private static var current = Context()

    private let work: Work
    private let onThreadBlock: (@Sendable () -> Void)?
    private let isOver = Atomic(false)

    /// - Parameter onThreadBlock: Called at most once, before the marked code blocks its thread.
    ///   The work then counts as ended.
    package init(_ work: Work, onThreadBlock: (@Sendable () -> Void)? = nil) {
        self.work = work
        self.onThreadBlock = onThreadBlock
    }

    private var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    private var inside: Context {
        let load: UInt64? =
            if case .load(let number) = work { number } else {
                Self.current.load
            }
        return Context(
            active: Self.current.active.filter { !$0.hasEnded } + [self],
            load: load
        )
    }

    /// Runs the body as part of the work.
    package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(inside, operation: body)
    }

    /// Runs the asynchronous body as part of the work.
    package func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Self.$current.withValue(inside, operation: body)
    }

    /// Ends the work: code that is still running is no longer part of it. Returns whether this call
    /// ended it.
    @discardableResult
    package func end() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

    // MARK: The current code

    /// Whether the current code is part of this work.
    package static func isActive(_ work: @autoclosure () -> Work) -> Bool {
        let active = current.active
        guard !active.isEmpty else { return false }
        let work = work()
        return active.contains { $0.work == work && !$0.hasEnded }
    }

    /// Whether the current code holds a key of the mutex.
    package static func isHolding(mutex: ObjectIdentifier) -> Bool {
        current.active.contains {
            if case .holding(_, mutex) = $0.work { !$0.hasEnded } else { false }
        }
    }

    /// The innermost load that started the current code, even if the load has ended.
    package static var currentLoad: UInt64? { current.load }

    /// Returns the function bound to the work that is active now, on any thread.
    package static func inheriting<Input, Result>(
        _ body: @escaping @Sendable (Input) -> Result
    ) -> @Sendable (Input) -> Result {
        var context = current
        guard !context.active.isEmpty || context.load != nil else { return body }
        context.active.removeAll { $0.onThreadBlock != nil || $0.hasEnded }
        return { [context] input in $current.withValue(context) { body(input) } }
    }

    /// Reports that the thread is about to block until other work is done.
    package static func threadWillBlock() {
        for element in current.active {
            if let onThreadBlock = element.onThreadBlock, element.end() { onThreadBlock() }
        }
    }
}
