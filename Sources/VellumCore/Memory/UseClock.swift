internal import Synchronization

/// Gives each use a stamp that is later than that of every use before it, on any thread.
///
/// One atomic addition, and another once in a millisecond. It is the one line of memory that hits on different cores write in common: without
/// one, or clocks that agree to the nanosecond, nobody could say which of two uses in different parts of a cache came first.
@usableFromInline
package final class UseClock: Sendable {
    private let last = Atomic(UseStamp.never.rawValue)

    @usableFromInline package init() {}

    /// Returns the next stamp.
    @usableFromInline package func stamp(at now: WallInstant) -> UseStamp {
        let start = UseStamp(startOf: now).rawValue
        if last.load(ordering: .relaxed) < start { last.max(start - 1, ordering: .relaxed) }
        return UseStamp(rawValue: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    @usableFromInline package var latest: UseStamp { UseStamp(rawValue: last.load(ordering: .relaxed)) }

    /// Makes every later stamp greater than this one.
    @usableFromInline package func raise(to stamp: UseStamp) { last.max(stamp.rawValue, ordering: .relaxed) }
}
