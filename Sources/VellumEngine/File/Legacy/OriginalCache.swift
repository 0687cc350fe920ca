package import Foundation
package import VellumCore

/// How the entries of a file of the original MiniCache, a Core Data store, are taken over.
package struct OriginalCache: Sendable {
    /// The beginning of the key of an entry that was taken over and waits for a cache of its key type.
    package static let keyPrefix = "\u{1}?"

    /// An entry as the original wrote it.
    package struct Entry: Sendable {
        /// The name of the cache.
        package var cache: String
        /// The version of the cache.
        package var version: String
        /// The key, as JSON.
        package var key: String
        /// The value, as JSON.
        package var value: String
    }

    /// An entry as it is stored in the new file.
    package struct Placed: Sendable {
        /// The name of the archive.
        package var archive: String
        /// The version of the cache.
        package var version: String
        /// The key in the archive.
        package var key: EntryKey
        /// The encoded value.
        package var bytes: Data

        /// Creates an entry of an archive.
        package init(archive: String, version: String, key: EntryKey, bytes: Data) {
            self.archive = archive
            self.version = version
            self.key = key
            self.bytes = bytes
        }
    }

    let place: @Sendable (Entry) -> Placed?

    /// Creates a rule for taking entries over.
    ///
    /// - Parameter place: Returns the new entry, or `nil` to leave the entry behind.
    package init(_ place: @escaping @Sendable (Entry) -> Placed?) {
        self.place = place
    }
}
