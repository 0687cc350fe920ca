public import Foundation

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A moment of wall-clock time, in whole milliseconds since 1970: how ages are persisted.
@frozen
@usableFromInline package struct WallInstant: RawRepresentable, Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    @usableFromInline package var rawValue: Int64

    @inlinable
    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The moment of `date`, to the millisecond; the ends of time where `date` lies beyond them.
    @usableFromInline package init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        rawValue = Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }

    /// After every moment.
    @usableFromInline package static let never = WallInstant(rawValue: .max)

    @usableFromInline package var date: Date { Date(timeIntervalSince1970: Double(rawValue) / 1000) }

    @inlinable
    package static func < (left: WallInstant, right: WallInstant) -> Bool { left.rawValue < right.rawValue }

    /// This moment moved by so many milliseconds, stopping at the ends of time.
    @inlinable
    package func advanced(byMilliseconds milliseconds: Int64) -> WallInstant {
        let (sum, overflow) = rawValue.addingReportingOverflow(milliseconds)
        return WallInstant(rawValue: overflow ? (milliseconds < 0 ? .min : .max) : sum)
    }
}

/// The clock by which ages are counted: the system's, or one that a test moves by hand.
///
/// Ages are stored in the file, so this is a wall clock and not a monotonic one. The system's clock has a resolution of a few milliseconds,
/// which makes reading it four times faster than `Date()`.
@frozen
public struct WallClock: Sendable {
    @usableFromInline let source: (@Sendable () -> WallInstant)?

    /// The system's clock, with a resolution of a few milliseconds.
    public static let system = WallClock(source: nil)

    /// A clock that calls `now`, on any thread.
    ///
    /// ```swift
    /// let clock = WallClock { Date(timeIntervalSince1970: 1_800_000_000) }
    /// ```
    public init(_ now: @escaping @Sendable () -> Date) {
        source = { WallInstant(now()) }
    }

    package init(instants now: @escaping @Sendable () -> WallInstant) {
        source = now
    }

    private init(source: (@Sendable () -> WallInstant)?) {
        self.source = source
    }

    /// The present moment.
    @inlinable
    package func now() -> WallInstant {
        if let source { return source() }
        return Self.systemNow()
    }

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
