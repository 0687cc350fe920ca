internal import Dispatch

/// Threads that may block, apart from those that run tasks.
package enum BlockingPool {
    private static let queue = DispatchQueue(label: "vellum.blocking", attributes: .concurrent)

    /// Starts work that nobody waits for. It may have to wait for a thread, because the system bounds their number.
    package static func start(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Runs work that may block, without blocking the caller's thread. It may have to wait for a thread.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Starts work on a thread of its own, however many other threads are blocked: for work that a blocked thread may be waiting for.
    ///
    /// Only a serial queue is always given a thread. Concurrent queues share a few, which may all be blocked.
    package static func startOnNewThread(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "vellum.blocking.serial").async(execute: work)
    }
}
