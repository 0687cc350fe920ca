public import Foundation
package import VellumCore

/// How long the values of a cache stay valid after they were set.
///
/// ```swift
/// let week: CacheMaxAge = .days(7)
/// ```
///
/// Ages are counted by the wall clock, in whole milliseconds; less than one rounds up. Infinity
/// means that values never expire. A negative age counts as zero, such as
/// `.timeInterval(expires.timeIntervalSinceNow)` of a date in the past: values expire as soon as
/// they are set. NaN is an error with the code ``VellumError/Code/invalidDuration``.
///
/// An ``Expiration`` says more: ages that count from the last use, and ages that differ at random.
/// Caches and values take either.
public enum CacheMaxAge: Sendable {
    /// A number of hours.
    case hours(_ hours: TimeInterval)
    /// A number of days of 24 hours.
    case days(_ days: TimeInterval)
    /// A number of seconds.
    case timeInterval(_ timeInterval: TimeInterval)

    /// Returns an age of a number of seconds.
    public static func seconds(_ seconds: TimeInterval) -> CacheMaxAge { .timeInterval(seconds) }

    /// Returns an age of a number of minutes.
    public static func minutes(_ minutes: TimeInterval) -> CacheMaxAge {
        .timeInterval(minutes * 60)
    }

    /// An age under which values never expire.
    public static let forever = CacheMaxAge.timeInterval(.infinity)

    package var expiration: Expiration {
        let seconds =
            switch self {
            case .hours(let hours): hours * 3600
            case .days(let days): days * 86_400
            case .timeInterval(let seconds): seconds
            }
        return .after(seconds: seconds)
    }
}
