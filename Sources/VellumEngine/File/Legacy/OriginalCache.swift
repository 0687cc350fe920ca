package import Foundation
package import VellumCore

/// What becomes of the entries of a file of the original MiniCache, a Core Data store: said by whoever opens it.
package struct OriginalCache: Sendable {
    /// An entry as the original wrote it.
    package struct Entry: Sendable {
        /// The name of the cache.
        package var cache: String
        package var version: String
        /// The key, as JSON.
        package var key: String
        /// The value, as JSON.
        package var value: String
    }

    /// Where the entry goes.
    package struct Placed: Sendable {
        package var archive: String
        /// What the archive has in common with those that it replaces.
        package var versionGroup: String
        package var key: EntryKey
        package var bytes: Data

        package init(archive: String, inVersionGroup versionGroup: String, key: EntryKey, bytes: Data) {
            self.archive = archive
            self.versionGroup = versionGroup
            self.key = key
            self.bytes = bytes
        }
    }

    let place: @Sendable (Entry) -> Placed?

    /// - Parameter place: Says where an entry goes, or nil to leave it behind.
    package init(_ place: @escaping @Sendable (Entry) -> Placed?) {
        self.place = place
    }
}
