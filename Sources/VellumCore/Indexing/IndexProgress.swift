/// How far an index is built.
public struct IndexProgress: Hashable, Sendable {
    /// Objects that the index covers, or that it was found to have no place for.
    public var indexed: Int
    /// Objects that there are.
    public var total: Int
    /// Whether every object is covered, and queries need look at no other.
    public var isComplete: Bool

    public init(indexed: Int, total: Int, isComplete: Bool) {
        self.indexed = indexed
        self.total = total
        self.isComplete = isComplete
    }
}
