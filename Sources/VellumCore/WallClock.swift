public import Foundation

/// A point in wall-clock time, in whole milliseconds since 1970: the form in which dates are
/// persisted.
@frozen
@usableFromInline package struct WallInstant: RawRepresentable, Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    @usableFromInline package var rawValue: Int64

    /// Creates an instant from milliseconds since 1970-01-01T00:00:00Z.
    @inlinable
    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Creates the instant of a date, rounded down to a millisecond and clamped to the
    /// representable range.
    @usableFromInline package init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        rawValue = Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }

    /// The instant after all others.
    @usableFromInline package static let never = WallInstant(rawValue: .max)

    /// The instant as a date.
    @usableFromInline package var date: Date {
        Date(timeIntervalSince1970: Double(rawValue) / 1000)
    }

    /// Compares two instants by their order in time.
    @inlinable
    package static func < (left: WallInstant, right: WallInstant) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Returns the instant moved by so many milliseconds, clamped to the representable range.
    @inlinable
    package func advanced(byMilliseconds milliseconds: Int64) -> WallInstant {
        let (sum, overflow) = rawValue.addingReportingOverflow(milliseconds)
        return WallInstant(rawValue: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }
}

/// The source of a store's time: the system's clock, or one that a test controls.
///
/// ```swift
/// let frozen = WallClock { Date(timeIntervalSince1970: 0) }
/// ```
///
/// A wall clock, not a monotonic one, because ages are persisted. The system's clock is read
/// coarsely, to a few milliseconds, which takes a quarter of the time of `Date()`.
///
/// - Important: A custom clock may be read on any thread.
@frozen
public struct WallClock: Sendable {
    @usableFromInline let source: (@Sendable () -> WallInstant)?
    /// The clock by which callers of loads stop waiting.
    package let timer: LoadTimer

    /// The system's clock, with a resolution of a few milliseconds.
    public static let system = WallClock(instants: nil)

    /// Creates a clock that calls `now`, on any thread.
    public init(_ now: @escaping @Sendable () -> Date) {
        self.init(instants: { WallInstant(now()) })
    }

    package init(instants now: (@Sendable () -> WallInstant)?, timer: LoadTimer = .system) {
        source = now
        self.timer = timer
    }

    /// Returns the current instant.
    @inlinable
    package func now() -> WallInstant { source?() ?? Self.systemNow() }

    @usableFromInline
    static func systemNow() -> WallInstant {
        var time = timespec()
        #if os(Linux)
            clock_gettime(CLOCK_REALTIME_COARSE, &time)
        #else
            clock_gettime(CLOCK_REALTIME, &time)
        #endif
        return WallInstant(rawValue: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// The clock by which callers of loads stop waiting: never set, and coarse.
@usableFromInline package struct LoadTimer: Sendable {
    /// Waits for so many milliseconds, which end at a moment of the clock, and returns what to call
    /// when the caller has done what it waited to do; `nil` for nothing.
    package typealias Pause =
        @Sendable (_ milliseconds: Int64, _ end: Int64) async throws -> (@Sendable () -> Void)?

    private let clock: CoarseClock
    private let pause: Pause
    /// The clock of a test that this is the timer of.
    package let owner: (any AnyObject & Sendable)?

    package static let system = LoadTimer { milliseconds, _ in
        try await Task.sleep(for: .milliseconds(milliseconds))
        return nil
    }

    package init(
        clock: CoarseClock = .system,
        owner: (any AnyObject & Sendable)? = nil,
        pause: @escaping Pause
    ) {
        self.clock = clock
        self.owner = owner
        self.pause = pause
    }

    package func now() -> Int64 { clock.now() }

    /// Returns what `body` returns so many milliseconds after a moment.
    package func wait<Result>(
        until begin: Int64,
        plus milliseconds: Int64,
        then body: () async -> Result
    ) async throws -> Result {
        let left = milliseconds - (now() - begin)
        let (end, isBeyond) = begin.addingReportingOverflow(milliseconds)
        let didFollow = left > 0 ? try await pause(left, isBeyond ? .max : end) : nil
        defer { didFollow?() }
        return await body()
    }
}
