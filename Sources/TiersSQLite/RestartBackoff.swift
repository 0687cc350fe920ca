/// When to try again to begin the log anew, after a reader of another process was in the way: soon at first, because most snapshots last
/// for milliseconds, then ever more rarely, because a process that is stopped may stay so for hours, and writers wait for each try.
///
/// A pure value; whoever asks inside a lock acts outside.
struct RestartBackoff: Equatable {
    private(set) var failures = 0
    /// In milliseconds of a clock that only grows.
    private(set) var nextTry: Int64 = .min

    /// The longest time between two tries.
    static let longest: Int64 = 2000

    /// For how long writers wait for readers, in milliseconds.
    ///
    /// - Parameter isLong: Whether the log is long already.
    func patience(isLong: Bool) -> Int64 { failures >= Self.firstTries ? 2 : isLong ? 250 : 40 }

    /// How many tries are made soon: the log grows by a megabyte or two in between.
    private static let firstTries = 3

    /// - Returns: Whether it is time to tell someone: once for each time that the log is held back.
    mutating func fail(at now: Int64) -> Bool {
        failures += 1
        let pause: Int64 = failures <= Self.firstTries ? 5 : 50 << Int64(min(failures - Self.firstTries, 10))
        nextTry = now + min(Self.longest, pause)
        return failures == Self.firstTries + 1
    }

    mutating func succeed() { self = RestartBackoff() }
}
