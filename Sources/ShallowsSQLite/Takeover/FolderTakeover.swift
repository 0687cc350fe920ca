public import Shallows
public import VellumCore
internal import VellumEngine

/// What became of the values of a folder that were to be moved into a storage.
///
/// Its `description` holds no key and no value.
public struct FolderTakeover: Sendable {
    /// How many values were moved: they are in the storage, and their files are gone.
    public var moved = 0
    /// How many files were removed because the storage had a value under their keys already, which is the newer one.
    public var superseded = 0
    /// The files that are still where they were, and why. Moving again tries them again.
    public var left: [Left] = []

    /// A file that was left in its folder.
    public struct Left: Sendable {
        /// The key, as the folder has it.
        public var key: Filename
        /// What stood in the way: the file could not be read, decoded or removed, its value is larger than the limit
        /// (``Tiers/StoreError/Code/tooLarge``), or others would have had to leave for it (``Tiers/StoreError/Code/noRoom``).
        public var error: ShallowsError
    }

    public init() {}
}

extension FolderTakeover: CustomStringConvertible {
    public var description: String { "\(moved) moved, \(superseded) superseded, \(left.count) left" }
}

extension FolderTakeover.Left: CustomStringConvertible {
    public var description: String { "left (\(error))" }
}

extension StoreError.Code {
    /// The value would fit only if others left.
    public static let noRoom = StoreError.Code("noRoom")
    /// A file that was to be moved cannot be read.
    public static let unreadableFile = StoreError.Code("unreadableFile")
    /// A file whose value was moved cannot be removed.
    public static let unremovedFile = StoreError.Code("unremovedFile")
}
