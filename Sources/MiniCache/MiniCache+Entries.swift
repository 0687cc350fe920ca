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
        try withStore { store throws(VellumError) in try core.removeAll(in: store) }
        core.didRemoveAll()
    }

    /// Returns how many entries are stored, including expired values that were not removed yet,
    /// values that cannot be decoded, and remembered misses.
    ///
    /// ``keys(limit:)`` returns the keys of valid values only. Counting does not affect the
    /// eviction order.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func count() throws(MiniCacheError) -> Int {
        try unlessReplaced(0, withStore { store throws(VellumError) in try store.count() })
    }

    /// Returns the keys of valid values, most recently used first.
    ///
    /// A key that is not a `Key`, because a handle of another type set it, is reported once and
    /// left out. Listing does not affect the eviction order.
    ///
    /// - Parameter limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(n log n).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func keys(limit: Int = .max) throws(MiniCacheError) -> [Key] {
        let uses = try unlessReplaced(
            [],
            withStore { store throws(VellumError) in try store.keysByUse(under: expiration) }
        )
        return try keys(of: uses, limit: limit)
    }

    private func keys(of uses: [ListedKey], limit: Int) throws(MiniCacheError) -> [Key] {
        var keys: [Key] = []
        for use in uses {
            guard keys.count < limit else { break }
            let entryKey = use.key
            let isNoValue = try unlessReplaced(
                true,
                withStore { store throws(VellumError) in
                    try isTombstone(entryKey, bytes: use.bytes, in: store)
                }
            )
            if isNoValue { continue }
            do throws(MiniCacheError) {
                keys.append(try CacheKey.decoded(entryKey, as: Key.self))
            } catch {
                if core.shouldReport(entryKey, Key.self) { report(error, "keys") }
            }
        }
        return keys
    }

    // MARK: Groups

    /// Sets the value of a key, replacing any existing value, and puts it into groups, so that
    /// ``removeAll(group:)`` removes it.
    ///
    /// ```swift
    /// try cache.set(
    ///     page, forKey: url, groups: ["user:42", "tenant:7"])
    /// ```
    ///
    /// The groups are those of this value: one that is set without groups has none, and
    /// ``update(forKey:maxAge:_:)`` leaves it in them. From the first group in a file on, programs
    /// with an earlier version of this package read the file and do not write it. Everything else
    /// is as in ``set(_:forKey:maxAge:)``.
    ///
    /// - Parameters:
    ///   - value: The value. Encoded once, on this thread.
    ///   - key: The key.
    ///   - maxAge: How long the value is valid for every reader; `nil` leaves that to each reader.
    ///   - groups: The names of the groups, of 1,024 bytes at most. They are compared as keys are.
    /// - Complexity: O((1 + groups) × log n).
    /// - Throws: ``MiniCacheError`` as ``set(_:forKey:maxAge:)`` does, and if the value is larger
    ///   than the limit of the disk, because memory has no groups.
    public func set(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        groups: Set<String>
    ) throws(MiniCacheError) {
        try store(value, key, maxAge?.expiration, groups)
    }

    /// Sets the value of a key, with an age that counts from the last use, for example, and puts it
    /// into groups.
    ///
    /// Everything else is as in ``set(_:forKey:maxAge:groups:)``.
    public func set(
        _ value: Value,
        forKey key: Key,
        expiration: Expiration,
        groups: Set<String>
    ) throws(MiniCacheError) {
        try store(value, key, expiration, groups)
    }

    /// Returns the keys of the valid values of a group, most recently used first. Does not affect
    /// the eviction order.
    ///
    /// - Parameters:
    ///   - group: The name of the group.
    ///   - limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(m log n) for m values of the group.
    /// - Throws: ``MiniCacheError`` if the disk fails, or the name has more than 1,024 bytes.
    public func keys(group: String, limit: Int = .max) throws(MiniCacheError) -> [Key] {
        let group = try core.groups([group])[0]
        let uses = try unlessReplaced(
            [],
            withStore { store throws(VellumError) in
                try store.keysByUse(group: group, under: expiration)
            }
        )
        return try keys(of: uses, limit: limit)
    }

    /// Removes every value of a group, also expired ones, and no other: in one transaction,
    /// whichever process has set them.
    ///
    /// ```swift
    /// try cache.removeAll(group: "user:42")
    /// ```
    ///
    /// A load of a value of the group (``loading(into:)``) that runs stores nothing, and remembered
    /// misses and failures end. Blocks for the disk, and whoever writes to the file waits for the
    /// whole removal. It is as durable as ``set(_:forKey:maxAge:)``.
    ///
    /// - Parameter group: The name of the group.
    /// - Returns: How many entries were removed: also expired ones that were still there, and
    ///   remembered misses.
    /// - Complexity: O(m log n) for m values of the group.
    /// - Throws: ``MiniCacheError`` if the disk fails, or the name has more than 1,024 bytes.
    ///   Nothing is removed then.
    @discardableResult
    public func removeAll(group: String) throws(MiniCacheError) -> Int {
        let group = try core.groups([group])[0]
        // A failure of one of them that was reported is a new one when it happens again.
        defer { core.didRemoveAll() }
        return try withStore { store throws(VellumError) in try store.removeAll(group: group) }
    }

    // MARK: Many keys

    /// Returns the values of the keys, by key. Keys without a valid value are left out. The values
    /// become the most recently used.
    ///
    /// ```swift
    /// let prices = try cache.values(forKeys: page.map(\.id))
    /// ```
    ///
    /// All are of one moment. Reads what memory does not have from one snapshot of the file, and
    /// blocks for that; again if values become visible meanwhile that were set together, and after
    /// three times while no other thread commits.
    ///
    /// - Complexity: O(m log n) for m keys; the data of all values that are read is in memory.
    /// - Throws: ``MiniCacheError`` as ``value(forKey:)`` does.
    public func values(forKeys keys: some Sequence<Key>) throws(MiniCacheError) -> [Key: Value]
    where Key: Hashable {
        var all = [Key]()
        var entryKeys = [EntryKey]()
        for key in keys {
            all.append(key)
            entryKeys.append(try entryKey(of: key))
        }
        var values: [Key: Value] = [:]
        for (key, value) in zip(all, try self.values(of: entryKeys)) {
            if let value { values[key] = value }
        }
        return values
    }

    func values(of entryKeys: [EntryKey]) throws(MiniCacheError) -> [Value?] {
        let cached = try unlessReplaced(
            [],
            withStore { store throws(VellumError) in
                try store.values(forKeys: entryKeys, under: expiration)
            }
        )
        var values: [Value?] = []
        for (found, key) in zip(cached, entryKeys) {
            values.append(
                try found.flatMap { found throws(MiniCacheError) in try value(of: found, key) }
            )
        }
        return values
    }

    /// Returns what the cache holds, and what it did since it was opened.
    ///
    /// - Complexity: O(1).
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func statistics() throws(MiniCacheError) -> StoreStatistics {
        try withStore { store throws(VellumError) in try store.statistics() }
    }

    /// The limits of memory and disk, in bytes of encoded values.
    public var limits: StorageLimits {
        let (memory, disk) = core.limits
        return StorageLimits(
            memory: DataSize(bytes: memory.bytes),
            disk: DataSize(bytes: disk.bytes)
        )
    }

    /// Removes the least recently used values from memory until it holds at most `size`. They stay
    /// on disk.
    ///
    /// - Complexity: O(values that are removed).
    public func trimMemory(to size: DataSize) { core.opened?.trimMemory(to: size) }
}

// MARK: Keys that are strings

extension MiniCache where Key == String {
    /// Returns the keys of valid values that begin with a text, most recently used first. Does not
    /// affect the eviction order.
    ///
    /// - Parameters:
    ///   - prefix: Compared by its normal form: as `é` does not begin with `e`, no key does whose
    ///     next mark is composed with the last letter, or `=`, `<` or `>`, of the prefix. End it
    ///     with `:` or `/`. Every key begins with the empty one.
    ///   - limit: The maximum number of keys. Zero or a negative number returns none.
    /// - Complexity: O(n log n), whatever is found, because nothing orders keys.
    /// - Throws: ``MiniCacheError`` if the disk fails.
    public func keys(prefix: String, limit: Int = .max) throws(MiniCacheError) -> [String] {
        guard limit > 0 else { return [] }
        let prefix = EntryKey(prefix)
        return Array(
            try keys().lazy.filter {
                EntryKey($0).begins(with: prefix)
            }.prefix(limit)
        )
    }

    /// Removes every value whose key begins with a text, in transactions of at most 256, also
    /// expired ones.
    ///
    /// A load of such a key that runs stores nothing, and remembered misses and failures end. A
    /// value that is set meanwhile may stay.
    ///
    /// - Parameter prefix: Compared as by ``keys(prefix:limit:)``.
    /// - Returns: How many valid values were removed.
    /// - Complexity: O(n log n), because nothing orders keys.
    /// - Throws: ``MiniCacheError`` if the disk fails. Values of earlier transactions stay removed.
    @discardableResult
    public func removeAll(prefix: String) throws(MiniCacheError) -> Int {
        try withStore { store throws(VellumError) in
            try store.removeAll(prefix: CacheKey.text(prefix), under: expiration) {
                (entry) throws(VellumError) in
                // The empty prefix is also that of keys which are no strings.
                guard CacheKey.isText(entry.key) else { return nil }
                core.didWrite(entry.key)
                return try !isTombstone(entry.key, bytes: entry.bytes, in: store)
            }
        }
    }
}
