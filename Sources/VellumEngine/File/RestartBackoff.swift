internal import VellumCore

/// When to try again to begin the log anew, after a reader of another process was in the way.
///
/// Soon while readers move on, because most snapshots last for milliseconds and the log must not grow. Ever more rarely while nothing of
/// the log can be copied from one try to the next: then a process is stopped in the middle of a read, perhaps for hours, and writers
/// would wait for each try.
///
/// A pure value.
struct RestartBackoff: Equatable {
    /// Tries in a row between which nothing could be copied.
    private(set) var stalls = 0
    private var copied: Int?
    /// In milliseconds of a clock that only grows.
    private(set) var nextTry: Int64 = .min

    /// The longest time between two tries.
    static let longest: Int64 = 2000
    /// How many stalls it takes until a reader counts as stopped.
    private static let mostStalls = 3

    /// For how long writers wait for readers, in milliseconds.
    ///
    /// - Parameter isLong: Whether the log is long already.
    func patience(isLong: Bool) -> Int64 {
        switch stalls {
        case 0: isLong ? 250 : 40
        case ..<Self.mostStalls: 40
        default: 2
        }
    }

    /// A reader was in the way.
    ///
    /// - Parameter copied: How many pages of the log are in the database.
    /// - Returns: Whether to report it: once for each time that the log is held back.
    mutating func fail(at now: Int64, copied: Int) -> Bool {
        stalls = self.copied == copied ? stalls + 1 : 0
        self.copied = copied
        let pause: Int64 = stalls < Self.mostStalls ? 2 : 100 << Int64(min(stalls - Self.mostStalls, 10))
        nextTry = now + min(Self.longest, pause)
        return stalls == Self.mostStalls
    }

    mutating func succeed() { self = RestartBackoff() }
}
