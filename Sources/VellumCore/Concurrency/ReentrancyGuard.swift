internal import Synchronization

/// Marks the code that runs as part of some work, so that user-supplied code that calls back does not wait for itself.
///
/// ```swift
/// let marked = ReentrancyGuard(.load(number))
/// marked.run { loader() }   // `ReentrancyGuard.currentLoad == number` inside
/// marked.end()
/// ```
///
/// Child tasks and `Task { }` inherit the mark; `Task.detached`, and threads that user-supplied code hands work over to, do not.
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
        /// The innermost load, even if it has ended: the loads around it do not wait for what it left behind.
        var load: UInt64?
    }

    @TaskLocal private static var current = Context()

    private let work: Work
    private let onThreadBlock: (@Sendable () -> Void)?
    private let isOver = Atomic(false)

    /// - Parameter onThreadBlock: Called at most once, before the code that runs blocks its thread. The work counts as ended then.
    package init(_ work: Work, onThreadBlock: (@Sendable () -> Void)? = nil) {
        self.work = work
        self.onThreadBlock = onThreadBlock
    }

    private var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    private var inside: Context {
        let load: UInt64? = if case .load(let number) = work { number } else { Self.current.load }
        return Context(active: Self.current.active.filter { !$0.hasEnded } + [self], load: load)
    }

    /// Runs the body as part of the work.
    package func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$current.withValue(inside, operation: body)
    }

    /// Runs the asynchronous body as part of the work.
    package func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await Self.$current.withValue(inside, operation: body)
    }

    /// Ends the work: code that still runs is no longer part of it. Returns whether this call ended it.
    @discardableResult
    package func end() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

    // MARK: The code that runs

    /// Whether the code that runs is part of this work.
    package static func isActive(_ work: Work) -> Bool { current.active.contains { $0.work == work && !$0.hasEnded } }

    /// The innermost load that the code that runs is part of, or was left behind by.
    package static var currentLoad: UInt64? { current.load }

    /// Returns the function as part of the work that is active now, on whatever thread it will run.
    package static func inheriting<Input, Result>(_ body: @escaping @Sendable (Input) -> Result) -> @Sendable (Input) -> Result {
        var context = current
        guard !context.active.isEmpty || context.load != nil else { return body }
        context.active.removeAll { $0.onThreadBlock != nil || $0.hasEnded }
        return { [context] input in $current.withValue(context) { body(input) } }
    }

    /// Runs the body as part of no work.
    package static func runOutside<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(Context(), operation: body)
    }

    /// Says that the thread is about to be blocked until other work is done.
    package static func threadWillBlock() {
        for element in current.active {
            if let onThreadBlock = element.onThreadBlock, element.end() { onThreadBlock() }
        }
    }
}
