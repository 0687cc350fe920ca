public import Foundation
public import VellumCore
internal import VellumEngine

/// A cache that a manager's file has, whether or not it is open.
public struct StoredCache: Hashable, Sendable {
    /// The name of the cache.
    public let name: String
    /// The version of the cache: the text of ``CacheVersion/custom(_:)``, or that which
    /// ``CacheVersion/appVersion`` stands for.
    public let version: String
    /// How many values there are, and the sum of their encoded bytes.
    public let usage: StorageUsage
    /// When a value was last set or read.
    public let lastUsed: Date?
}

extension MiniCacheManager {
    /// Returns the caches in the manager's file that hold values, in the order of their creation;
    /// none if there is no file.
    ///
    /// ```swift
    /// for cache in try manager.caches() {
    ///     print(cache.name, cache.version, cache.usage)
    /// }
    /// ```
    ///
    /// Opens the file, and blocks for the disk. Does not affect the eviction order.
    ///
    /// - Complexity: O(c log n) for c caches.
    /// - Throws: ``MiniCacheError`` if the file cannot be opened or read.
    public func caches() throws(MiniCacheError) -> [StoredCache] {
        guard file.exists else { return [] }
        return try file.open().archiveList().filter {
            $0.usage.entries > 0
        }.map { archive in
            StoredCache(
                name: archive.name,
                version: archive.cacheVersion ?? "",
                usage: archive.usage,
                lastUsed: archive.lastUsed
            )
        }
    }

    /// Deletes a cache with all its values and its limit, in one transaction. Their space is
    /// returned in the background.
    ///
    /// Blocks for the disk; survives `kill -9` once it has returned. Another program that has the
    /// cache open finds it empty, and keeps its disk limit.
    ///
    /// - Parameter name: As ``caches()`` lists it.
    /// - Returns: Whether there was such a cache.
    /// - Complexity: O(log n).
    /// - Throws: ``MiniCacheError``, with the code ``VellumError/Code/contradiction`` if the cache
    ///   is open in this program, or if the disk fails. Nothing is deleted then.
    @discardableResult
    public func drop(cacheNamed name: String) throws(MiniCacheError) -> Bool {
        guard file.exists else { return false }
        return try file.open().dropArchive(named: name)
    }
}
