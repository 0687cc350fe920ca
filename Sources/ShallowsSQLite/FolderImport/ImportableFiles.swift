package import Foundation
package import Shallows

/// The operations of a folder that is imported. They are called on one thread, and may block.
package struct ImportableFiles: Sendable {
    /// The keys of all files. The last ones count as the most recently used.
    package var keys: @Sendable () throws -> [Filename]
    /// The contents of the file of a key; `nil` if it no longer exists.
    package var read: @Sendable (Filename) throws -> Data?
    /// Removes the file of a key, if there is one.
    package var remove: @Sendable (Filename) throws -> Void

    package init(
        keys: @escaping @Sendable () throws -> [Filename], read: @escaping @Sendable (Filename) throws -> Data?,
        remove: @escaping @Sendable (Filename) throws -> Void
    ) {
        self.keys = keys
        self.read = read
        self.remove = remove
    }
}
