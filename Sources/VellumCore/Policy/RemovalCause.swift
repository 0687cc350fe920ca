/// The reason for which an entry was removed. Later versions may add cases, so a `switch` needs a
/// `default`.
public enum RemovalCause: Hashable, Sendable, CaseIterable {
    /// A caller removed it.
    case explicit
    /// It was evicted to make room for other entries.
    case evicted
    /// The disk limit of the archive was lowered.
    case limitLowered
    /// It had exceeded its age.
    case expired
    /// A caller removed the entries that were unused since a date.
    case unused
    /// Its type changed, and the migration dropped it or gave it another key; or another object has
    /// the key that a migration gave it.
    case migrated

    /// Whether the entry left to keep a limit.
    public var wasEvicted: Bool { self == .evicted || self == .limitLowered }
}
