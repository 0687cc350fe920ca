/// Why an entry left.
public enum RemovalCause: Hashable, Sendable, CaseIterable {
    /// Someone asked for it.
    case explicit
    /// The room was needed for others.
    case evicted
    /// The disk limit of the archive was lowered.
    case limitLowered
    /// It was past its age.
    case expired
    /// It had not been used for longer than asked.
    case unused

    /// Whether the entry left to keep a limit.
    public var wasEvicted: Bool { self == .evicted || self == .limitLowered }
}
