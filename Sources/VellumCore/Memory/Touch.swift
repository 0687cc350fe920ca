/// One use of one entry.
@frozen
public struct Touch: Hashable, Sendable {
    public var row: Int64
    public var stamp: UseStamp

    @inlinable
    public init(row: Int64, stamp: UseStamp) {
        self.row = row
        self.stamp = stamp
    }
}
