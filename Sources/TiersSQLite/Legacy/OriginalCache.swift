public import Foundation
public import Tiers

/// How the entries of a file of the original MiniCache, a Core Data store, are taken over.
public struct OriginalCache: Sendable {
    /// An entry as the original wrote it.
    public struct Entry: Sendable {
        /// The name of the cache.
        public var cache: String
        /// The version of the cache.
        public var version: String
        /// The key, as JSON.
        public var key: String
        /// The value, as JSON.
        public var value: String
    }

    /// An entry as it is stored in the new file.
    public struct Placed: Sendable {
        /// The name of the archive.
        public var archive: String
        /// What the archive has in common with other versions of the same cache.
        public var versionGroup: String
        /// The key in the archive.
        public var key: EntryKey
        /// The encoded value.
        public var bytes: Data

        /// Creates an entry of an archive.
        public init(archive: String, versionGroup: String, key: EntryKey, bytes: Data) {
            self.archive = archive
            self.versionGroup = versionGroup
            self.key = key
            self.bytes = bytes
        }
    }

    let place: @Sendable (Entry) -> Placed?

    /// Creates a rule for taking entries over.
    ///
    /// - Parameter place: Returns the new entry, or `nil` to leave the entry behind.
    public init(_ place: @escaping @Sendable (Entry) -> Placed?) {
        self.place = place
    }
}
