package import VellumCore

extension LoadCoordinator where Outcome: Sendable {
    /// How a task stopped waiting.
    package enum Wakeup: Sendable {
        case finished(Outcome, isStarter: Bool)
        case cancelled
        /// The task is part of a load, and would have waited for itself.
        case recursive
    }

    /// Waits for the load of the key, without holding a thread; `start` starts one if there is none.
    ///
    /// Returns as soon as the task is cancelled, whatever the loader does.
    package func wait(for key: Key, keepsRunning: Bool, start: @Sendable (_ load: UInt64) -> Void) async -> Wakeup {
        let number = Self.newNumber()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(number: number, keepsRunning: keepsRunning) { ending in
                    switch ending {
                    case .finished(let outcome, let isStarter):
                        continuation.resume(returning: .finished(outcome, isStarter: isStarter))
                    case .cancelled: continuation.resume(returning: .cancelled)
                    }
                }
                switch join(key, waiter, unless: { Task.isCancelled }) {
                case .started(let load): start(load)
                case .waits: break
                case .recursive: continuation.resume(returning: .recursive)
                case .cancelled: continuation.resume(returning: .cancelled)
                }
            }
        } onCancel: {
            leave(number)
        }
    }
}
