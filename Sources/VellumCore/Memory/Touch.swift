/// One access of one entry: a position in the eviction order.
@frozen
public struct Touch: Hashable, Sendable {
    /// The entry's number in its archive.
    public var row: Int64
    /// When the entry was used.
    public var stamp: UseStamp

    /// Creates a touch of an entry.
    @inlinable
    public init(row: Int64, stamp: UseStamp) {
        self.row = row
        self.stamp = stamp
    }
}
