/// Gives the stamps of the uses under one of a memory cache's locks.
///
/// A stamp is later than that of every use before it under the same lock: exact for the uses of one
/// thread. Stamps of different locks are never equal, and may stand in either order if they are
/// given in the same millisecond. A writer, which holds all locks, sets them to the latest of all
/// (``AllNotes/align()``): what is used after a write has a later stamp than everything that was
/// used before it.
@usableFromInline
package struct UseStamps: Sendable {
    /// The last stamp. Its remainder by `step` is the number of the lock.
    @usableFromInline var last: Int64
    @usableFromInline let step: Int64

    /// - Parameters:
    ///   - number: The number of the lock.
    ///   - count: How many there are.
    @usableFromInline
    package init(number: Int, count: Int) {
        last = Int64(number)
        step = Int64(count)
    }

    /// Returns the next stamp.
    @inlinable
    package mutating func next(at now: WallInstant) -> UseStamp {
        // The beginning of a millisecond is a multiple of every step.
        last = max(last, UseStamp(startOf: now).rawValue &+ number &- step) &+ step
        return UseStamp(rawValue: last)
    }

    @inlinable package var latest: UseStamp { UseStamp(rawValue: last) }

    /// Makes every later stamp greater than this one.
    @inlinable
    package mutating func raise(to stamp: UseStamp) {
        guard last < stamp.rawValue else { return }
        last = stamp.rawValue & ~(step - 1) + number
    }

    @inlinable var number: Int64 { last & (step - 1) }
}

/// Notes that contain stamps.
@usableFromInline
package protocol StampingNotes {
    var stamps: UseStamps { get set }
}

extension UseStamps: StampingNotes {
    @usableFromInline package var stamps: UseStamps {
        @inlinable get { self }
        @inlinable set { self = newValue }
    }
}

extension AllNotes where Notes: StampingNotes {
    /// Sets all locks to the latest stamp that any of them gave.
    @inlinable
    package func align() {
        var latest = UseStamp.never
        forEach { latest = max(latest, $0.stamps.latest) }
        raise(to: latest)
    }

    @inlinable
    package func raise(to stamp: UseStamp) { forEach { $0.stamps.raise(to: stamp) } }

    /// Returns a stamp that is later than all before it.
    @inlinable
    package func next(at now: WallInstant) -> UseStamp {
        align()
        return notes[0].pointee.stamps.next(at: now)
    }
}
