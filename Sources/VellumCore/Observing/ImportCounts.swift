/// What was imported from the data of an original library.
public struct ImportCounts: Hashable, Sendable {
    /// How many objects or entries were written, or were in the archive already.
    public var imported = 0
    /// How many cannot be read or decoded. They stay where they are.
    public var skipped = 0

    /// Creates counts of zero.
    public init() {}
}
