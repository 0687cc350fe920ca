internal import Foundation
public import VellumCore
internal import VellumEngine

// All entries of the cache.

extension MiniCache {
    /// The name of the cache.
    public var name: String { core.location.name }

    /// Removes every value of the cache.
    ///
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func removeAll() throws(MiniCacheError) {
        try withStore { (store) throws(VellumError) in try core.removeAll(in: store) }
        core.didRemoveAll()
    }

    /// Returns how many entries are stored, including expired values that were not removed yet, values that cannot be decoded, and
    /// remembered misses.
    ///
    /// ``keys(limit:)`` returns the keys of valid values only. Counting does not affect the eviction order.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func count() throws(MiniCacheError) -> Int {
        try unlessReplaced(0) { () throws(MiniCacheError) in try withStore { (store) throws(VellumError) in try store.count() } }
    }

    /// Returns the keys of valid values, most recently used first.
    ///
    /// A key that is not a `Key`, because a handle of another type set it, is reported once and left out. Listing does not affect the eviction
    /// order.
    ///
    /// - Parameter limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(n log n).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func keys(limit: Int = .max) throws(MiniCacheError) -> [Key] {
        var keys: [Key] = []
        let uses = try unlessReplaced([]) { () throws(MiniCacheError) in
            try withStore { (store) throws(VellumError) in try store.keysByUse(under: expiration) }
        }
        for use in uses {
            guard keys.count < limit else { break }
            let entryKey = use.key
            let isNoValue = try unlessReplaced(true) { () throws(MiniCacheError) in
                try withStore { (store) throws(VellumError) in try isTombstone(entryKey, bytes: use.bytes, in: store) }
            }
            if isNoValue { continue }
            do throws(MiniCacheError) {
                keys.append(try CacheKey.decoded(entryKey, as: Key.self))
            } catch {
                if core.shouldReport(entryKey, Key.self) { report(error, "keys") }
            }
        }
        return keys
    }

    /// Returns what the cache holds, and what it did since it was opened.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func statistics() throws(MiniCacheError) -> StoreStatistics {
        try withStore { (store) throws(VellumError) in try store.statistics() }
    }

    /// The limits of memory and disk, in bytes of encoded values.
    public var limits: StorageLimits {
        let (memory, disk) = core.limits
        return StorageLimits(memory: DataSize(bytes: memory.bytes), disk: DataSize(bytes: disk.bytes))
    }

    /// Removes the least recently used values from memory until it holds at most `size`. They stay on disk.
    ///
    /// - Complexity: O(values that are removed).
    public func trimMemory(to size: DataSize) { core.opened?.trimMemory(to: size) }
}
