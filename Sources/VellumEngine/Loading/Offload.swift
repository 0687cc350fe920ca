internal import Dispatch
internal import VellumCore

/// Threads that may wait for a disk, apart from those that run tasks.
package enum Offload {
    private static let queue = DispatchQueue(label: "vellum.offload", attributes: .concurrent)

    /// Does work for which nobody waits.
    package static func start(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    package static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
