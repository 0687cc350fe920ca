/// The position of one access in the order of all accesses, and its time.
///
/// The upper bits are milliseconds since 1970, and the lower twenty count the accesses within a
/// millisecond. A stamp taken after another in the same store is always greater, even if the clock
/// stands still or goes back: the *order* is exact, the *time* is as accurate as the clock.
@frozen
@usableFromInline package struct UseStamp: RawRepresentable, Hashable, Comparable, Sendable {
    /// Milliseconds since 1970 in the upper 44 bits, a counter in the lower 20.
    @usableFromInline package var rawValue: Int64

    /// Creates a stamp from its stored form.
    @inlinable
    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The stamp before all others.
    @usableFromInline package static let never = UseStamp(rawValue: 0)
    /// The stamp after all others.
    @usableFromInline package static let last = UseStamp(rawValue: .max)

    /// Creates the first stamp of a millisecond. An instant after ``lastInstant`` counts as that.
    @inlinable
    package init(startOf instant: WallInstant) {
        rawValue = max(0, min(instant.rawValue, Self.lastInstant)) << 20
    }

    /// In the year 2179, in milliseconds since 1970. Uses after it count on from there.
    @inlinable static var lastInstant: Int64 { Int64.max >> 20 - Int64.max >> 22 }

    /// Whether a file may hold it. A damaged one must not be the last of all: it would never be the
    /// oldest, and none could follow it.
    package var isPossible: Bool { Self.never...Self.lastPossible ~= self }

    package static let lastPossible = UseStamp(rawValue: .max - .max >> 3)

    /// The time of the access.
    @inlinable
    package var instant: WallInstant { WallInstant(rawValue: rawValue >> 20) }

    /// Compares two stamps by their order.
    @inlinable
    package static func < (left: UseStamp, right: UseStamp) -> Bool {
        left.rawValue < right.rawValue
    }
}
