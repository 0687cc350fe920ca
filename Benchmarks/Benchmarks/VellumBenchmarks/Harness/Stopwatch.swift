import CAllocations
import Dispatch
import Samples

/// Measures the time and the allocations of work.
enum Stopwatch {
    struct Reading {
        var nanoseconds: UInt64
        /// On the thread of the work; `nil` if there was more than one.
        var allocations: UInt64?
    }

    /// Asynchronous work that stays on its thread unless it suspends.
    typealias AwaitedWork = nonisolated(nonsending) @Sendable () async throws -> Void

    /// Times work on the calling thread.
    static func time(_ work: () throws -> Void) rethrows -> Reading {
        let allocations = allocations_of_this_thread()
        let start = DispatchTime.now().uptimeNanoseconds
        try work()
        let end = DispatchTime.now().uptimeNanoseconds
        return Reading(
            nanoseconds: end - start,
            allocations: allocations_of_this_thread() - allocations
        )
    }

    /// Times work inside one detached task, which begins on the calling thread and stays there
    /// unless the work leaves it. Starting the task, and waiting for its end, are not measured.
    static func time(inTask work: @escaping AwaitedWork) throws -> Reading {
        let result = LockedBox<Result<Reading, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let operation: @Sendable () async -> Void = {
            let reading = await read(work)
            result.withLock { $0 = reading }
            done.signal()
        }
        if #available(macOS 26, *) {
            Task.immediateDetached(operation: operation)
        } else {
            Task.detached(operation: operation)
        }
        done.wait()
        guard let reading = result.withLock({ $0 }) else { throw CancellationError() }
        return try reading.get()
    }

    private nonisolated(nonsending) static func read(
        _ work: AwaitedWork
    ) async -> Result<Reading, any Error> {
        let (thread, allocations) = (name_of_this_thread(), allocations_of_this_thread())
        let start = DispatchTime.now().uptimeNanoseconds
        do { try await work() } catch { return .failure(error) }
        let end = DispatchTime.now().uptimeNanoseconds
        let isSame = thread == name_of_this_thread()
        return .success(
            Reading(
                nanoseconds: end - start,
                allocations: isSame ? allocations_of_this_thread() - allocations : nil
            )
        )
    }
}
