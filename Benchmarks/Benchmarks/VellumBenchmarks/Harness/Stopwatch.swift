import CAllocations
import Dispatch

/// Times work on the calling thread, and counts what it allocates.
enum Stopwatch {
    struct Reading {
        var nanoseconds: UInt64
        var allocations: UInt64
    }

    static func time(_ work: () throws -> Void) rethrows -> Reading {
        let allocations = allocations_of_this_thread()
        let start = DispatchTime.now().uptimeNanoseconds
        try work()
        let end = DispatchTime.now().uptimeNanoseconds
        return Reading(nanoseconds: end - start, allocations: allocations_of_this_thread() - allocations)
    }
}
