/// One access of one entry: a position in the eviction order.
@frozen
@usableFromInline package struct Touch: Hashable, Sendable {
    /// The entry's id in its archive.
    @usableFromInline package var entryID: Int64
    /// When the entry was used.
    @usableFromInline package var stamp: UseStamp

    /// Creates a touch of an entry.
    @inlinable
    package init(entryID: Int64, stamp: UseStamp) {
        self.entryID = entryID
        self.stamp = stamp
    }
}
