internal import Foundation

/// A clock that is never set, in milliseconds. Coarse, to some milliseconds, because each near hit reads it.
///
/// It goes on while the process is stopped. While the machine sleeps, it may stand still.
@usableFromInline package struct SteadyClock: Sendable {
    private let source: (@Sendable () -> Int64)?

    /// The system's clock.
    package static let system = SteadyClock(source: nil)

    private init(source: (@Sendable () -> Int64)?) { self.source = source }

    /// A clock for tests.
    package init(_ source: @escaping @Sendable () -> Int64) { self.source = source }

    package func now() -> Int64 {
        if let source { return source() }
        var time = timespec()
        #if os(Linux)
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
