/// The failures that an acknowledged write survives.
public enum Durability: Int, Comparable, Sendable, CaseIterable {
    /// Survives the end of the process after at most 20 milliseconds, 256 writes or 1 MB of writes,
    /// whichever comes first; `kill -9` loses later writes. Writes share transactions. If the disk
    /// fails a transaction, all its writes are lost: memory drops them, and every archive of the
    /// file reports `StoreEvent.failure`. While another process has the file open, a write commits
    /// before it returns, as under ``crashSafe``, so that other processes never read an older
    /// value.
    case relaxed
    /// Survives `kill -9` as soon as the call has returned. Power loss may take the last writes but
    /// never their order: the file then holds the state of some earlier moment. (SQLite's WAL mode
    /// with `synchronous=NORMAL`.)
    case crashSafe
    /// Survives power loss as soon as the call has returned, as do all writes acknowledged before
    /// it. Callers that wait at the same time share one sync. (`fdatasync`; `F_FULLFSYNC` on Apple
    /// platforms.)
    case powerSafe

    /// Compares two durabilities by what they survive.
    public static func < (left: Durability, right: Durability) -> Bool {
        left.rawValue < right.rawValue
    }
}
