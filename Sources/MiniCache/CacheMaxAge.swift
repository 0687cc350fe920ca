public import Foundation
public import VellumCore
internal import VellumEngine

/// For how long the values of a cache stay valid.
///
/// ```swift
/// let week: CacheMaxAge = .days(7)
/// let session: CacheMaxAge = .unused(for: .seconds(1800), atMost: .seconds(86_400))
/// let spread = CacheMaxAge.hours(1).jittered(by: 0.1)
/// ```
///
/// Ages are counted by the wall clock, in whole milliseconds; less than one rounds up. Infinity is for ever. A number that is
/// negative, or none, makes no age: the cache it is given to reads nil and says why (``StoreError/Code/invalidDuration``).
public struct CacheMaxAge: Sendable {
    private let result: Result<Expiration, StoreError>

    private init(_ expiration: () throws(StoreError) -> Expiration) {
        result = Result(catching: expiration)
    }

    /// So many hours after it was set.
    public static func hours(_ hours: TimeInterval) -> CacheMaxAge { timeInterval(hours * 3600) }

    /// So many days of 24 hours after it was set.
    public static func days(_ days: TimeInterval) -> CacheMaxAge { timeInterval(days * 86_400) }

    /// So many seconds after it was set.
    public static func timeInterval(_ timeInterval: TimeInterval) -> CacheMaxAge {
        CacheMaxAge { () throws(StoreError) in try .after(seconds: timeInterval) }
    }

    /// So long after it was set.
    public static func after(_ duration: Duration) -> CacheMaxAge {
        CacheMaxAge { () throws(StoreError) in try .after(duration) }
    }

    /// For ever.
    public static let forever = CacheMaxAge.expiration(.never)

    /// So long after it was last set or read: a sliding age; and at most so long after it was set.
    public static func unused(for duration: Duration, atMost end: Duration? = nil) -> CacheMaxAge {
        CacheMaxAge { () throws(StoreError) in try .unused(for: duration, atMost: end) }
    }

    /// As the engine says it.
    public static func expiration(_ expiration: Expiration) -> CacheMaxAge { CacheMaxAge { () throws(StoreError) in expiration } }

    /// The same, with the age of each value shortened by a random part of at most `fraction` of it, from 0 to 1, so that values
    /// that were set together do not expire together.
    public func jittered(by fraction: Double) -> CacheMaxAge {
        CacheMaxAge { () throws(StoreError) in try self.expiration().jittered(by: fraction) }
    }

    func expiration() throws(StoreError) -> Expiration { try result.get() }
}
