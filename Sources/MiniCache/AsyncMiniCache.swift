public import VellumCore
internal import VellumEngine

// Decision 86.

/// A persistent cache whose methods are awaited: ``MiniCache/async``.
///
/// ```swift
/// try await cache.async.set(page, forKey: url)
/// let page = try await cache.async.value(forKey: url)
/// ```
///
/// Each method does what the method of ``MiniCache`` does that has its name, and throws what it
/// throws.
///
/// - A value in memory is returned in place. Everything else is read by other threads: at most
///   eight work at a time for all files, some of them at short reads. Those that wait for a sync or
///   for others come on top: at most 64 of short reads, and 64 of the rest.
/// - Keys and values are encoded in the caller's task. Values that wait to be set or removed are
///   then committed together, and synced together under ``Durability/powerSafe``; an error of one
///   leaves the others as they are.
/// - A method whose task is cancelled before its turn throws `CancellationError`, and has done
///   nothing. A write that has begun ends, and its result is returned.
/// - Calls that are awaited one after another take effect in that order. Nothing else is promised.
/// - Nothing limits how many wait. ``StoreStatistics/waitingCalls`` and
///   ``StoreStatistics/waitingWrites`` say how many do, and for how long.
public struct AsyncMiniCache<Key: Codable & SendableMetatype, Value: Codable & SendableMetatype>:
    Sendable
{
    let cache: MiniCache<Key, Value>

    // MARK: Values

    /// Returns the value of a key: ``MiniCache/value(forKey:)``.
    public func value(forKey key: Key) async throws -> Value? {
        let entryKey = try cache.entryKey(of: key)
        if let value = try cache.findInMemory(entryKey) { return value }
        return try await read { cache in
            try cache.unlessReplaced(nil, cache.find(entryKey))
        }
    }

    /// Returns the values of the keys, by key: ``MiniCache/values(forKeys:)``.
    public func values(forKeys keys: some Sequence<Key>) async throws -> [Key: Value]
    where Key: Hashable {
        let keys = Array(keys)
        let entryKeys = try keys.map(cache.entryKey(of:))
        var values: [Key: Value] = [:]
        for (key, value) in zip(
            keys,
            try await read { try $0.values(of: entryKeys) }
        ) {
            if let value { values[key] = value }
        }
        return values
    }

    /// Returns whether there is a valid value for a key: ``MiniCache/contains(_:)``.
    public func contains(_ key: Key) async throws -> Bool { try await metadata(forKey: key) != nil }

    /// Returns the size and the dates of the value of a key: ``MiniCache/metadata(forKey:)``.
    public func metadata(forKey key: Key) async throws -> EntryMetadata? {
        let entryKey = try cache.entryKey(of: key)
        return try await read { try $0.metadata(of: entryKey) }
    }

    // MARK: Setting

    /// Sets the value of a key: ``MiniCache/set(_:forKey:maxAge:)``.
    public func set(_ value: Value, forKey key: Key, maxAge: CacheMaxAge? = nil) async throws {
        try await set(value, key, maxAge?.expiration)
    }

    /// Sets the value of a key, with an age that counts from the last use, for example:
    /// ``MiniCache/set(_:forKey:expiration:)``.
    public func set(_ value: Value, forKey key: Key, expiration: Expiration) async throws {
        try await set(value, key, expiration)
    }

    /// Sets the value of a key, and puts it into groups:
    /// ``MiniCache/set(_:forKey:maxAge:groups:)``.
    public func set(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        groups: Set<String>
    ) async throws {
        try await set(value, key, maxAge?.expiration, groups)
    }

    /// Sets the value of a key with an age, and puts it into groups:
    /// ``MiniCache/set(_:forKey:expiration:groups:)``.
    public func set(
        _ value: Value,
        forKey key: Key,
        expiration: Expiration,
        groups: Set<String>
    ) async throws {
        try await set(value, key, expiration, groups)
    }

    private func set(
        _ value: Value,
        _ key: Key,
        _ expiration: Expiration?,
        _ groups: Set<String> = []
    ) async throws {
        let entryKey = try cache.entryKey(of: key)
        let groups = try cache.core.groups(groups)
        do {
            let cached = try cache.cached(value)
            try await write { store, transaction in
                try transaction.record(cached, forKey: entryKey, in: store, expiration: expiration)
                try transaction.group(in: groups, of: store)
            }
        } catch let error as MiniCacheError where error.code == .notEncodable {
            throw cache.notEncodable(error)
        }
        cache.core.didStore(entryKey)
    }

    /// Lets a closure change the value of a key: ``MiniCache/update(forKey:maxAge:_:)``.
    @discardableResult
    public func update<Result: Sendable>(
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        _ body: @escaping @Sendable (inout Value?) throws -> Result
    ) async throws -> Result {
        let entryKey = try cache.entryKey(of: key)
        return try await visit {
            try $0.update(entryKey, AgeOfUpdated(maxAge?.expiration, ofNew: nil), body)
        }
    }

    /// Lets a closure change the value of a key, with an age that counts from the last use, for
    /// example.
    @discardableResult
    public func update<Result: Sendable>(
        forKey key: Key,
        expiration: Expiration,
        _ body: @escaping @Sendable (inout Value?) throws -> Result
    ) async throws -> Result {
        let entryKey = try cache.entryKey(of: key)
        return try await visit {
            try $0.update(entryKey, AgeOfUpdated(expiration, ofNew: nil), body)
        }
    }

    /// Sets the value of a key unless there is a valid one:
    /// ``MiniCache/setIfAbsent(_:forKey:maxAge:)``.
    @discardableResult
    public func setIfAbsent(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil
    ) async throws -> Bool where Value: Sendable {
        let entryKey = try cache.entryKey(of: key)
        return try await visit { try $0.setIfAbsent(value, entryKey, maxAge?.expiration) }
    }

    /// Sets the value of a key unless there is a valid one, with an age that counts from the last
    /// use, for example.
    @discardableResult
    public func setIfAbsent(
        _ value: Value,
        forKey key: Key,
        expiration: Expiration
    ) async throws -> Bool where Value: Sendable {
        let entryKey = try cache.entryKey(of: key)
        return try await visit { try $0.setIfAbsent(value, entryKey, expiration) }
    }

    // MARK: Removing

    /// Removes the value of a key: ``MiniCache/removeValue(forKey:)``.
    @discardableResult
    public func removeValue(forKey key: Key) async throws -> Bool {
        let entryKey = try cache.entryKey(of: key)
        defer { cache.core.didWrite(entryKey) }
        return try await write { store, transaction in
            transaction.remove(entryKey, in: store)
        }[0]
    }

    /// Removes every value of the cache: ``MiniCache/removeAll()``.
    public func removeAll() async throws { try await visit { try $0.removeAll() } }

    /// Removes every value of a group: ``MiniCache/removeAll(group:)``.
    @discardableResult
    public func removeAll(group: String) async throws -> Int {
        try await visit { try $0.removeAll(group: group) }
    }

    /// Removes every value whose key begins with a text: ``MiniCache/removeAll(prefix:)``.
    @discardableResult
    public func removeAll(prefix: String) async throws -> Int where Key == String {
        try await visit { try $0.removeAll(prefix: prefix) }
    }

    // MARK: All entries

    /// Returns how many entries are stored: ``MiniCache/count()``.
    public func count() async throws -> Int { try await read { try $0.count() } }

    /// Returns the keys of valid values: ``MiniCache/keys(limit:)``.
    public func keys(limit: Int = .max) async throws -> [Key] {
        try await query { try $0.keys(limit: limit) }
    }

    /// Returns the keys of the valid values of a group: ``MiniCache/keys(group:limit:)``.
    public func keys(group: String, limit: Int = .max) async throws -> [Key] {
        try await query { try $0.keys(group: group, limit: limit) }
    }

    /// Returns the keys of valid values that begin with a text: ``MiniCache/keys(prefix:limit:)``.
    public func keys(prefix: String, limit: Int = .max) async throws -> [String]
    where Key == String {
        try await query { try $0.keys(prefix: prefix, limit: limit) }
    }

    /// Returns what the cache holds, and what it did since it was opened:
    /// ``MiniCache/statistics()``.
    public func statistics() async throws -> StoreStatistics {
        try await read { try $0.statistics() }
    }

    // MARK: Steps

    private func read<Result>(
        _ work: @escaping @Sendable (MiniCache<Key, Value>) throws -> Result
    ) async throws -> Result {
        // A file is opened where that delays no read.
        if cache.openedStore == nil { _ = try await visit { try $0.openStore() } }
        return try await cache.lanes.read { [cache] in try work(cache) }
    }

    private func query<Result>(
        _ work: @escaping @Sendable (MiniCache<Key, Value>) throws -> Result
    ) async throws -> Result {
        try await cache.lanes.query { [cache] in try work(cache) }
    }

    private func visit<Result>(
        _ work: @escaping @Sendable (MiniCache<Key, Value>) throws -> Result
    ) async throws -> Result {
        try await cache.lanes.visit { [cache] in try work(cache) }
    }

    /// Commits writes, once more in a new file if the file was deleted, replaced or renamed while
    /// it was open.
    @discardableResult
    private func write(
        _ add: (Store<CachedValue>, inout StoreTransaction) throws -> Void
    ) async throws -> [Bool] {
        try Task.checkCancellation()
        do {
            do {
                return try await write(add, in: cache.openedStore)
            } catch let error as VellumError where error.code == .vanished {
                return try await write(add, in: nil)
            }
        } catch let error as VellumError {
            throw cache.core.located(error)
        }
    }

    /// - Parameter store: `nil` to open it.
    private func write(
        _ add: (Store<CachedValue>, inout StoreTransaction) throws -> Void,
        in store: Store<CachedValue>?
    ) async throws -> [Bool] {
        let store = if let store { store } else { try await visit { try $0.openStore() } }
        var transaction = StoreTransaction()
        try add(store, &transaction)
        return try await transaction.commitInTurn()
    }
}
