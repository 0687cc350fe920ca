/// How far the objects of an archive were migrated to the current version of their type.
public struct MigrationProgress: Hashable, Sendable {
    /// How many objects were examined, and migrated if they were of an older version. Includes those that could not be.
    public var examined: Int
    /// How many objects there are.
    public var total: Int
    /// Whether all of them were examined.
    public var isComplete: Bool

    /// Creates a progress.
    public init(examined: Int, total: Int, isComplete: Bool) {
        self.examined = examined
        self.total = total
        self.isComplete = isComplete
    }
}
