public import Shallows
public import VellumCore

/// The result of importing a folder of files into a storage.
///
/// Its `description` holds no key and no value.
public struct FolderImport: Sendable {
    /// How many values were imported: they are in the storage, and their files were removed.
    public var imported = 0
    /// How many files were removed because the storage had a newer value under their keys.
    public var superseded = 0
    /// The files that remain in the folder, and why. Importing again tries them again.
    public var remaining: [RemainingFile] = []

    /// A file that remains in its folder.
    public struct RemainingFile: Sendable {
        /// The key, as the folder has it.
        public var key: Filename
        /// Why: the file could not be read, decoded or removed, its value is larger than the limit
        /// (``VellumError/Code/tooLarge``), or other values would have to be evicted for it (``VellumError/Code/noRoom``).
        public var error: ShallowsError
    }

    /// Creates the result of an import that found no file.
    public init() {}
}

extension FolderImport: CustomStringConvertible {
    /// The three counts.
    public var description: String { "\(imported) imported, \(superseded) superseded, \(remaining.count) remaining" }
}

extension FolderImport.RemainingFile: CustomStringConvertible {
    /// The error, without the key.
    public var description: String { "remaining (\(error))" }
}

extension VellumError.Code {
    /// The value fits only if others are evicted.
    public static let noRoom = VellumError.Code("noRoom")
    /// A file that is imported cannot be read.
    public static let unreadableFile = VellumError.Code("unreadableFile")
    /// A file whose value was imported cannot be removed.
    public static let unremovedFile = VellumError.Code("unremovedFile")
}
