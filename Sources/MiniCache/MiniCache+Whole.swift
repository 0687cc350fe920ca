internal import Foundation
public import VellumCore
internal import VellumEngine

// The cache as a whole.

extension MiniCache {
    /// What the cache is called.
    public var name: String { core.place.name }

    /// Removes every value of this cache, of this version.
    public func removeAll() throws(MiniCacheError) {
        let store = try engine()
        try strictly { () throws(StoreError) in try store.removeAll() }
        core.forgetTellings()
    }

    /// Returns how many entries are stored, including expired values that were not removed yet, values that cannot be decoded, and
    /// remembered misses.
    ///
    /// ``keys(limitedBy:)`` returns the keys of valid values only. Counting does not affect the eviction order.
    ///
    /// - Complexity: O(1).
    public func count() throws(MiniCacheError) -> Int {
        let store = try engine()
        return try strictly { () throws(StoreError) in try store.count() }
    }

    /// The keys of valid values, most recently used first; at most `limit` of them. Not a use.
    ///
    /// A key that cannot be decoded as `Key`, because a handle of another type set it, is told of once and hides no other.
    ///
    /// - Complexity: O(n log n).
    public func keys(limitedBy limit: Int = .max) throws(MiniCacheError) -> [Key] {
        let store = try engine()
        var keys: [Key] = []
        for use in try strictly({ () throws(StoreError) in try store.keysByUse(under: expiration) }) {
            guard keys.count < limit else { break }
            let entryKey = use.key
            guard try !strictly({ () throws(StoreError) in try isNothing(entryKey, bytes: use.bytes, store) }) else { continue }
            do throws(MiniCacheError) {
                keys.append(try CacheKey.decoded(entryKey, as: Key.self))
            } catch {
                if core.shouldTell(of: entryKey, Key.self) { report(error, "keys") }
            }
        }
        return keys
    }

    /// What the cache did since it was opened, and what it holds.
    public func statistics() throws(MiniCacheError) -> StoreStatistics {
        let store = try engine()
        return try strictly { () throws(StoreError) in try store.statistics() }
    }

    /// How many bytes of encoded values memory and the disk may hold.
    public var limits: (memory: DataSize, disk: DataSize) {
        let (memory, disk) = core.limits
        return (DataSize(bytes: memory.bytes), DataSize(bytes: disk.bytes))
    }

    /// Gives memory back until at most `size` is held there. What left is still on disk.
    public func trimMemory(to size: DataSize) { core.opened?.trimMemory(to: size) }
}
