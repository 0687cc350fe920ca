/// What an acknowledged write survives.
public enum Durability: Int, Comparable, Sendable, CaseIterable {
    /// Survives the end of the process after at most 20 milliseconds, 256 writes or 1 MB of writes, whichever is
    /// first; `kill -9` loses what came since. Writes share transactions. One that the disk fails takes those with it that
    /// share its transaction; memory forgets them and every archive of the file is told (`StoreEvent.failure`). While another process has
    /// the file open, a write commits before it returns, as under ``crashSafe``, so that other processes never read an older value.
    case relaxed
    /// Survives `kill -9` as soon as the call has returned. Power loss may take the last moments, never the order:
    /// what is there afterwards is what was there at some instant. (SQLite's WAL mode with `synchronous=NORMAL`.)
    case crashSafe
    /// Survives power loss as soon as the call has returned, and makes everything acknowledged before it do so too.
    /// Callers that wait at the same time share one sync. (`fdatasync`; `F_FULLFSYNC` on Apple platforms.)
    case powerSafe

    public static func < (left: Durability, right: Durability) -> Bool { left.rawValue < right.rawValue }
}
