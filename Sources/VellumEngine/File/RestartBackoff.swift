internal import VellumCore

/// Decides when to retry a restart of the log that a reader of another process blocked.
///
/// Retries soon while readers move on, because most snapshots last for milliseconds and the log must not grow. Retries ever more rarely
/// while no further page can be copied from one try to the next: then a process is stopped during a read, perhaps for hours, and
/// writers would wait for each try.
///
/// A value without locks.
struct RestartBackoff: Equatable {
    /// The number of consecutive tries between which no page could be copied.
    private(set) var stalls = 0
    private var copied: Int?
    /// The earliest time of the next try, in milliseconds of a monotonic clock.
    private(set) var nextTry: Int64 = .min

    /// The longest time between two tries, in milliseconds.
    static let longest: Int64 = 2000
    /// The number of stalls after which a reader counts as stopped.
    private static let mostStalls = 3

    /// How often to try in a row, some milliseconds apart.
    var tries: Int { stalls < Self.mostStalls ? 8 : 1 }

    /// Records that a reader blocked the restart.
    ///
    /// - Parameter copied: How many pages of the log have been copied to the database.
    /// - Returns: Whether to report it: `true` once for each time that the log is blocked.
    mutating func fail(at now: Int64, copied: Int) -> Bool {
        stalls = self.copied == copied ? stalls + 1 : 0
        self.copied = copied
        let pause: Int64 = stalls < Self.mostStalls ? 2 : 100 << Int64(min(stalls - Self.mostStalls, 10))
        nextTry = now + min(Self.longest, pause)
        return stalls == Self.mostStalls
    }

    mutating func succeed() { self = RestartBackoff() }
}
