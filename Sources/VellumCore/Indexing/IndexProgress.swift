/// The progress of building an index.
public struct IndexProgress: Hashable, Sendable {
    /// The number of objects that the index covers, including those whose values it cannot hold.
    public var indexed: Int
    /// The number of stored objects.
    public var total: Int
    /// Whether the index covers every object, so that queries do not examine others.
    public var isComplete: Bool

    /// Creates a progress.
    public init(indexed: Int, total: Int, isComplete: Bool) {
        self.indexed = indexed
        self.total = total
        self.isComplete = isComplete
    }
}
