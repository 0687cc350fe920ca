internal import Dispatch

/// A pool of threads that may block, separate from the threads that run tasks.
package enum BlockingPool {
    private static let queue: DispatchQueue = {
        let queue = DispatchQueue(label: "vellum.blocking", attributes: .concurrent)
        queue.setSpecific(key: mark, value: true)
        return queue
    }()
    private static let mark = DispatchSpecificKey<Bool>()

    /// Whether the current thread is one of the pool, also while it runs a task.
    package static var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

    /// Starts work without waiting for it. The work may wait for a thread, because the system limits their number.
    package static func start(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Runs work that may block, without blocking the caller's thread. The work may wait for a thread. It has the caller's task-local values.
    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withTaskExecutorPreference(executor) { try work() }
    }

    private static let executor = Executor()

    /// Runs a task on the threads of the pool.
    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// Starts work on a new thread, even if every other thread of the pool is blocked. For work that a blocked thread may be waiting for.
    ///
    /// Only a serial queue always gets a thread. Concurrent queues share a limited number.
    package static func startOnNewThread(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "vellum.blocking.serial").async(execute: work)
    }
}
