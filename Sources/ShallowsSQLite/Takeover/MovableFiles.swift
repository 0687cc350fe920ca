package import Foundation
package import Shallows

/// What a folder of files must be able to do for its values to be moved elsewhere. Called on one thread that may wait.
package struct MovableFiles: Sendable {
    /// The keys of all files. Those that come last are taken for the most recently used.
    package var keys: @Sendable () throws -> [Filename]
    /// What is in the file of a key; `nil` if there is none any more.
    package var read: @Sendable (Filename) throws -> Data?
    /// Removes the file of a key. That there is none is no error.
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
