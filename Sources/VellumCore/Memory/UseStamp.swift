/// The place of one use in the order of all uses, and the moment it happened.
///
/// The upper bits are milliseconds since 1970, the lower twenty count the uses within one. A stamp taken after
/// another in one store is always greater, also when the clock stands still or goes back: the *order* is exact,
/// the *instant* is as exact as the clock.
@frozen
@usableFromInline package struct UseStamp: RawRepresentable, Hashable, Comparable, Sendable {
    @usableFromInline package var rawValue: Int64

    @inlinable
    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// Before every use.
    @usableFromInline package static let never = UseStamp(rawValue: 0)

    /// The first stamp of a moment.
    @inlinable
    package init(startOf instant: WallInstant) {
        let limit = Int64.max >> 20
        rawValue = max(0, min(instant.rawValue, limit)) << 20
    }

    /// A stamp for a use at `now` that comes after every use up to `previous`.
    @inlinable
    package init(after previous: UseStamp, at now: WallInstant) {
        rawValue = max(previous.rawValue &+ 1, UseStamp(startOf: now).rawValue)
    }

    /// The moment of the use.
    @inlinable
    package var instant: WallInstant { WallInstant(rawValue: rawValue >> 20) }

    @inlinable
    package static func < (left: UseStamp, right: UseStamp) -> Bool { left.rawValue < right.rawValue }
}
