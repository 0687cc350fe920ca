internal import Foundation

/// A clock that is never set, in milliseconds. Coarse, to some milliseconds, because hits read it.
///
/// It goes on while the process is stopped. While the machine sleeps, it may stand still.
@usableFromInline package struct CoarseClock: Sendable {
    private let source: (@Sendable () -> Int64)?

    /// The system's clock.
    package static let system = CoarseClock(nil)

    /// Creates a clock for tests; `nil` for the system's.
    package init(_ source: (@Sendable () -> Int64)?) { self.source = source }

    package func now() -> Int64 { source.map { $0() } ?? Self.milliseconds }

    /// The time of the system's clock.
    package static var milliseconds: Int64 {
        var time = timespec()
        #if os(Linux)
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC_RAW_APPROX, &time)
        #endif
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
