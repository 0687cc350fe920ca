/// One use of one entry.
@frozen
@usableFromInline package struct Touch: Hashable, Sendable {
    @usableFromInline package var row: Int64
    @usableFromInline package var stamp: UseStamp

    @inlinable
    package init(row: Int64, stamp: UseStamp) {
        self.row = row
        self.stamp = stamp
    }
}
