/// One access of one entry: a position in the eviction order.
@frozen
@usableFromInline package struct Touch: Hashable, Sendable {
    /// The entry's number in its archive.
    @usableFromInline package var row: Int64
    /// When the entry was used.
    @usableFromInline package var stamp: UseStamp

    /// Creates a touch of an entry.
    @inlinable
    package init(row: Int64, stamp: UseStamp) {
        self.row = row
        self.stamp = stamp
    }
}
