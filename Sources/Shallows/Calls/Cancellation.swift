internal import VellumCore

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
            defer { state.handlers = [:] }
            return state.handlers.values.map { $0 }
        }
        for handler in handlers { handler() }
    }

    /// Calls the handler when the call is cancelled, synchronously if it already was. Returns a number by which to remove the handler.
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
