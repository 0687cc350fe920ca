/// When to try again to begin the log anew, after a reader of another process was in the way: soon at first, because most snapshots last
/// for milliseconds, then ever more rarely, because a process that is stopped may stay so for hours, and writers wait for each try.
struct RestartBackoff: Equatable {
    private(set) var failures = 0
    /// In milliseconds of a clock that only grows.
    private(set) var nextTry: Int64 = .min

    /// The longest time between two tries.
    static let longest: Int64 = 2000

    /// For how long writers wait for readers, in milliseconds.
    ///
    /// - Parameter isLong: Whether the log is long already.
    func patience(isLong: Bool) -> Int64 { failures > 1 ? 2 : isLong ? 250 : 40 }

    /// - Returns: Whether it is time to tell someone: once for each time that the log is held back.
    mutating func fail(at now: Int64) -> Bool {
        failures += 1
        nextTry = now + min(Self.longest, 50 << Int64(min(failures - 1, 6)))
        return failures == 3
    }

    mutating func succeed() { self = RestartBackoff() }
}
