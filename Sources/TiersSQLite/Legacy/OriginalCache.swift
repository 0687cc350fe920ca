public import Foundation
public import Tiers

/// What becomes of the entries of a file of the original MiniCache, a Core Data store: said by whoever opens it.
public struct OriginalCache: Sendable {
    /// An entry as the original wrote it.
    public struct Entry: Sendable {
        /// The name of the cache.
        public var cache: String
        public var version: String
        /// The key, as JSON.
        public var key: String
        /// The value, as JSON.
        public var value: String
    }

    /// Where the entry goes.
    public struct Placed: Sendable {
        public var archive: String
        /// What the archive has in common with those that it replaces.
        public var family: String
        public var key: EntryKey
        public var bytes: Data

        public init(archive: String, inFamily family: String, key: EntryKey, bytes: Data) {
            self.archive = archive
            self.family = family
            self.key = key
            self.bytes = bytes
        }
    }

    let place: @Sendable (Entry) -> Placed?

    /// - Parameter place: Says where an entry goes, or nil to leave it behind.
    public init(_ place: @escaping @Sendable (Entry) -> Placed?) {
        self.place = place
    }
}
