internal import Foundation
internal import VellumCore

/// A function that runs on a thread of its own. A test that blocks must not hold a thread that
/// others need to go on.
package final class OnThread<Result: Sendable>: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private let stored = Locked<Result?>(nil)

    package init(_ body: @escaping @Sendable () -> Result) {
        Thread.detachNewThread { [self] in
            let result = body()
            stored.withLock { $0 = result }
            finished.signal()
        }
    }

    /// Waits for the function, and returns its result. Called once.
    package func result() -> Result {
        finished.wait()
        guard let result = stored.withLock({ $0 }) else {
            fatalError("The function has not ended.")
        }
        return result
    }
}
