public import Foundation
public import VellumCore
internal import VellumEngine

/// How long the values of a cache stay valid.
///
/// ```swift
/// let week: CacheMaxAge = .days(7)
/// let session: CacheMaxAge = .unused(for: .seconds(1800), atMost: .seconds(86_400))
/// let spread = CacheMaxAge.hours(1).jittered(by: 0.1)
/// let computed = try CacheMaxAge(validatingSeconds: response.maxAge)
/// ```
///
/// Ages are counted by the wall clock, in whole milliseconds; less than one rounds up. Infinity means that values never expire.
///
/// A number of seconds, minutes, hours or days that is negative or NaN counts as zero: values expire as soon as they are set. A negative
/// `Duration` is a programmer error and ends the process. The initializers check ages that were computed or read, and throw.
public struct CacheMaxAge: Hashable, Sendable {
    let expiration: Expiration

    private init(_ expiration: Expiration) { self.expiration = expiration }

    /// Creates an age from a number of seconds that was computed or read; infinity means that values never expire.
    ///
    /// - Parameters:
    ///   - seconds: How long a value is valid after it was set.
    ///   - jitter: The largest part of the age by which a value's age is shortened at random, from 0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if the number of seconds is negative or NaN, or the jitter is not a number from 0 to 1.
    public init(validatingSeconds seconds: TimeInterval, jitter: Double = 0) throws(MiniCacheError) {
        self.init(try Expiration(validatingSeconds: seconds, jitter: jitter))
    }

    /// Creates an age from durations that were computed or read.
    ///
    /// - Parameters:
    ///   - age: How long a value is valid after it was set; `nil` means no limit.
    ///   - idle: How long a value is valid after it was last set or read; `nil` means no limit.
    ///   - jitter: The largest part of the age by which a value's age is shortened at random, from 0 to 1.
    /// - Throws: ``VellumError/Code/invalidDuration`` if a duration is negative, or the jitter is not a number from 0 to 1.
    public init(validating age: Duration?, unusedFor idle: Duration? = nil, jitter: Double = 0) throws(MiniCacheError) {
        self.init(try Expiration(validating: age, unusedFor: idle, jitter: jitter))
    }

    /// Returns an age of a number of seconds.
    public static func seconds(_ seconds: TimeInterval) -> CacheMaxAge { timeInterval(seconds) }

    /// Returns an age of a number of minutes.
    public static func minutes(_ minutes: TimeInterval) -> CacheMaxAge { timeInterval(minutes * 60) }

    /// Returns an age of a number of hours.
    public static func hours(_ hours: TimeInterval) -> CacheMaxAge { timeInterval(hours * 3600) }

    /// Returns an age of a number of days of 24 hours.
    public static func days(_ days: TimeInterval) -> CacheMaxAge { timeInterval(days * 86_400) }

    /// Returns an age of a number of seconds: the same as ``seconds(_:)``.
    ///
    /// - Parameter timeInterval: A negative number or NaN counts as zero, such as `expires.timeIntervalSinceNow` of a date in the past.
    public static func timeInterval(_ timeInterval: TimeInterval) -> CacheMaxAge {
        CacheMaxAge(.after(seconds: timeInterval > 0 ? timeInterval : 0))
    }

    /// Returns an age of a duration.
    ///
    /// - Parameter duration: A negative one ends the process: use ``init(validating:unusedFor:jitter:)`` for a computed one.
    public static func after(_ duration: Duration) -> CacheMaxAge { CacheMaxAge(.after(duration)) }

    /// An age under which values never expire.
    public static let forever = CacheMaxAge(.never)

    /// Returns a sliding age: a value is valid for a duration after it was last set or read, and at most for `end` after it was set.
    public static func unused(for duration: Duration, atMost end: Duration? = nil) -> CacheMaxAge {
        CacheMaxAge(.unused(for: duration, atMost: end))
    }

    /// Returns the age of an expiration.
    public static func expiration(_ expiration: Expiration) -> CacheMaxAge { CacheMaxAge(expiration) }

    /// Returns the age with that of each value shortened by a random part of at most `fraction` of it, from 0 to 1, so that values
    /// that were set together do not expire together.
    public func jittered(by fraction: Double) -> CacheMaxAge { CacheMaxAge(expiration.jittered(by: fraction)) }
}
