// How a call waits for what another call has: a load that is running, or a key that is held. Here alone it is decided which caller
// is suspended, which is blocked, and which fails because the other call waits for user-supplied code.

extension Call {
    /// Returns what to call once the running load, or the holder of the key, waits for user-supplied code; `nil` for nothing.
    ///
    /// - Parameter reject: Ends the wait with `wouldBlock`.
    func notification(reject: @escaping @Sendable () -> Void) -> (@Sendable () -> Void)? {
        rejectsBlocking ? reject : onMayBlock
    }

    /// Waits for a promise that somebody else fulfills.
    ///
    /// - Parameter leave: Called when the caller cancels; it fulfills the promise.
    func wait<Value: Sendable>(for promise: Promise<Value>, orLeave leave: @escaping @Sendable () -> Void) -> Reply<Value> {
        if waits { return .now(promise.wait()) }
        if let cancellation {
            let handler = cancellation.onCancel(leave)
            promise.observe { _ in cancellation.removeHandler(handler) }
        }
        return .later(promise)
    }
}
