/// How far the objects of an archive were migrated to the current version of their type.
public struct MigrationProgress: Hashable, Sendable {
    /// How many objects were examined, and migrated if they were of an older version. Includes
    /// those that could not be.
    ///
    /// An object that an older program records meanwhile awaits its turn, so this number may fall.
    public var examined: Int
    /// How many objects there are.
    public var total: Int
    /// How many keys the step removed that an event reports: those of objects that have another key
    /// now, or were dropped.
    public var removedKeys: Int

    /// Whether all of the objects were examined.
    public var isComplete: Bool { examined == total }

    /// Creates a progress.
    public init(examined: Int, total: Int, removedKeys: Int = 0) {
        self.examined = examined
        self.total = total
        self.removedKeys = removedKeys
    }
}
