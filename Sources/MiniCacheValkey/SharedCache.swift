public import MiniCache
public import VellumCore
public import VellumRemote
internal import VellumValkey

// Decision 55.

/// A cache of `Codable` values with `Codable` keys that many machines share, on a Valkey or Redis
/// server.
///
/// ```swift
/// let rate = try await rates.value(
///     forKey: "USD", staleWhileRevalidate: .seconds(60)
/// ) { try await bank.rate(of: "USD") }
/// try await rates.set(rate, forKey: "USD")
/// ```
///
/// Values that a process has read stay in its memory, and are returned again without asking the
/// server for as long as ``ValkeyConfiguration/trust`` allows: each was the server's value less
/// than that ago (1 s), typically less than some milliseconds, because the server notifies the
/// process of changes. It is a cache: the server may evict any value, and a failover may lose the
/// last writes that it acknowledged.
///
/// Works from any thread. No call blocks a thread; every call has a deadline.
public final class SharedCache<Key: Codable, Value: Codable & Sendable>: Sendable {
    @usableFromInline let store: SharedStore<Value>
    private let expiration: Expiration
    /// The connection lasts as long as its caches.
    private let server: ValkeyServer

    init(_ store: SharedStore<Value>, _ expiration: Expiration, _ server: ValkeyServer) {
        self.store = store
        self.expiration = expiration
        self.server = server
    }

    /// Whether a value may be returned that this process remembers.
    public enum Freshness: Hashable, Sendable {
        /// A value in memory that was the server's less than ``ValkeyConfiguration/trust`` ago is
        /// returned without asking it.
        case near
        /// The server is asked in any case.
        case confirmed
    }

    /// Returns the value of a key, or `nil` if there is no valid one.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - freshness: Whether the server is asked in any case.
    /// - Complexity: O(1), and a round trip if it is not remembered.
    /// - Throws: ``VellumError`` with ``VellumError/Code/unreachable`` if there is no connection,
    ///   ``VellumError/Code/outcomeUnknown`` if the server does not answer in time,
    ///   ``VellumError/Code/damagedEntry`` or ``VellumError/Code/notDecodable`` if the value cannot
    ///   be read.
    @inlinable
    public func value(
        forKey key: Key,
        freshness: Freshness = .near
    ) async throws(VellumError) -> Value? {
        let entryKey = try CacheKey.of(key)
        if freshness == .near, let hit = store.near.hit(forKey: entryKey) { return hit }
        return try await store.valueOnServer(forKey: entryKey)
    }

    /// Sets the value of a key. When the call returns, no read of this process returns an older
    /// one, and those of others stop soon.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - maxAge: How long the value is valid; `nil` for the age of the cache.
    /// - Throws: ``VellumError``. With ``VellumError/Code/outcomeUnknown`` the value may have been
    ///   set. It is never sent again by itself.
    public func set(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil
    ) async throws(VellumError) {
        try await store.set(
            value,
            forKey: CacheKey.of(key),
            under: maxAge?.expiration ?? expiration
        )
    }

    /// Sets the value of a key in groups, which ``removeAll(group:)`` removes.
    ///
    /// ```swift
    /// try await pages.set(
    ///     page, forKey: "/cart", groups: ["user:42", "tenant:7"])
    /// try await pages.removeAll(group: "user:42")
    /// ```
    ///
    /// Works like ``set(_:forKey:maxAge:)`` otherwise. A removal of a group that ends while this
    /// call runs may remove the value, too. A load puts its value in groups with
    /// ``loading(into:)``. The last write of a key says in which groups it is.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: The key.
    ///   - maxAge: How long the value is valid; `nil` for the age of the cache.
    ///   - groups: Any names. The entry holds them.
    /// - Complexity: O(groups), and two round trips.
    /// - Throws: ``VellumError`` as ``set(_:forKey:maxAge:)`` does; with
    ///   ``VellumError/Code/keyTooLong`` if a name has more than 1,024 bytes.
    public func set(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        groups: Set<String>
    ) async throws(VellumError) {
        let groups = try EntryKey.groups(groups)
        try await store.set(
            value,
            forKey: CacheKey.of(key),
            under: maxAge?.expiration ?? expiration,
            groups: groups
        )
    }

    /// Sets the value of a key unless the server has a valid one, which then stays: atomically
    /// among all machines.
    ///
    /// ```swift
    /// guard
    ///     try await jobs.setIfAbsent(host, forKey: "nightly", maxAge: .hours(1))
    /// else { return }  // Another machine does it.
    /// ```
    ///
    /// It is a cache: the server may evict the value, and a failover may lose it, so that a second
    /// caller sets it, too. An entry that cannot be read counts as one that is there.
    ///
    /// - Returns: Whether the value was set.
    /// - Complexity: O(1), and a round trip.
    /// - Throws: ``VellumError`` as ``set(_:forKey:maxAge:)`` does.
    @discardableResult
    public func setIfAbsent(
        _ value: Value,
        forKey key: Key,
        maxAge: CacheMaxAge? = nil
    ) async throws(VellumError) -> Bool {
        try await store.setIfAbsent(
            value,
            forKey: CacheKey.of(key),
            under: maxAge?.expiration ?? expiration
        )
    }

    /// Returns the values of the keys, by key. Keys without a valid value are left out.
    ///
    /// Asks the server with one command for all that are not remembered, or with a few if they have
    /// more than ten megabytes.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - freshness: Whether the server is asked in any case.
    /// - Complexity: O(keys), and a round trip.
    /// - Throws: ``VellumError`` as ``value(forKey:freshness:)`` does.
    public func values(
        forKeys keys: some Sequence<Key>,
        freshness: Freshness = .near
    ) async throws(VellumError) -> [Key: Value]
    where Key: Hashable {
        var all = [Key]()
        var entryKeys = [EntryKey]()
        for key in keys {
            all.append(key)
            entryKeys.append(try CacheKey.of(key))
        }
        let found = try await store.values(forKeys: entryKeys, asksServer: freshness == .confirmed)
        return Dictionary(
            zip(all, found).lazy.compactMap { key, value in
                value.map { (key, $0) }
            }
        ) { first, _ in first }
    }

    /// Removes the value of a key.
    ///
    /// - Throws: ``VellumError``. Whatever the reason was, the removal is sent again until the
    ///   server has executed it, as long as this process lives, and until then this process does
    ///   not read the key.
    public func removeValue(forKey key: Key) async throws(VellumError) {
        try await store.removeValue(forKey: CacheKey.of(key))
    }

    /// Removes every value of a group, on all machines. When the call returns, no read of this
    /// process returns one, and those of others stop soon.
    ///
    /// A load that runs meanwhile on any machine stores nothing that is valid. An old value of the
    /// group is not returned either, whatever a caller accepts. Which keys a group has cannot be
    /// asked. Does nothing if the group has no values.
    ///
    /// - Parameter group: The name of the group. Names that are equal for Swift are one.
    /// - Complexity: O(values of the group in memory), and a round trip.
    /// - Throws: ``VellumError``; with ``VellumError/Code/keyTooLong`` if the name has more than
    ///   1,024 bytes. Whatever other reason there was, the removal is sent again until the server
    ///   has executed it, as long as this process lives, and until then this process reads nothing
    ///   from the server.
    public func removeAll(group: String) async throws(VellumError) {
        for group in try EntryKey.groups([group]) { try await store.removeAll(group: group) }
    }

    /// Failures that no caller receives: of the background, and of the server when a loader ran in
    /// its place.
    public var failures: some AsyncSequence<VellumError, Never> & Sendable {
        store.failures.events()
    }

    /// Counters of the cache in this process. Reading them blocks no other caller.
    public var statistics: SharedCacheStatistics { store.statistics }

    package var sharedStore: SharedStore<Value> { store }
}

extension SharedCache: LoadingCache, CacheWithGroups {
    /// Returns the value of a key and its source, and loads it if there is no valid one.
    ///
    /// One loader runs for a key on all machines while its process answers; other callers wait for
    /// its result. If the process dies or stands still for longer than
    /// ``ValkeyConfiguration/lease``, another loader runs, and a late result of the first one is
    /// not stored. If the value is set or removed while the loader runs, that change stays, and
    /// another loader may run immediately. If the server cannot be reached, each process runs one
    /// loader, and returns its result again for as long as ``ValkeyConfiguration/outageMaxAge``
    /// says.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - maxAge: How long a loaded value is valid; `nil` for the age of the cache.
    ///   - staleWhileRevalidate: How long past its age a stale value is returned immediately, while
    ///     it is loaded again in the background.
    ///   - staleIfError: How long past its age a stale value is returned if the loader fails or the
    ///     server cannot be reached.
    ///   - options: How long failures and misses are remembered, and what happens to a load without
    ///     waiters.
    ///   - load: Returns the value.
    /// - Throws: The error of the loader, to all waiters of this process; the next one loads again.
    ///   `CancellationError` if the caller's task is cancelled.
    @inlinable
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let entryKey = try CacheKey.of(key)
        if let part = options.refreshAhead {
            var isDue = false
            if case let value?? = store.near.hit(
                forKey: entryKey,
                refreshAhead: part,
                isDue: &isDue
            ) {
                if isDue { try refresh(entryKey, maxAge, options, .plain(load)) }
                return Loaded(value, .cached)
            }
        } else if case let value?? = store.near.hit(forKey: entryKey) {
            return Loaded(value, .cached)
        }
        // With a name, as in the loading methods of `MiniCache`.
        let result = try await loaded(
            entryKey,
            maxAge,
            (staleWhileRevalidate, staleIfError),
            options,
            load
        )
        return result
    }

    /// Returns the value of a key and its source, and loads it if there is no valid one, with a
    /// loader that may return `nil`.
    @_disfavoredOverload  // A closure without a declared type returns a value.
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        let stale = (staleWhileRevalidate, staleIfError)
        return try await store.load(
            request(CacheKey.of(key), maxAge, stale, options, acceptsNil: true, .plain(load))
        )
    }

    /// Returns the value of a key and its source. If there is no valid one, a loader gets the one
    /// that is there, however old, and says for how long its result is valid.
    ///
    /// Works like `load(_:orLoad:)` otherwise. Of a value that is unchanged only the date is sent
    /// to the server.
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Loaded<Value?> {
        let stale = (staleWhileRevalidate, staleIfError)
        return try await store.load(
            request(CacheKey.of(key), maxAge, stale, options, acceptsNil: true, .informed(load))
        )
    }

    /// Returns this cache with groups for what it loads.
    ///
    /// ```swift
    /// let page = try await pages.loading(into: ["user:42"]).value(
    ///     forKey: "/cart"
    /// ) { try await shop.cart(of: 42) }
    /// ```
    ///
    /// Blocks for nothing. Everything else is as in the loading methods of the cache.
    ///
    /// - Parameter groups: The names of the groups. A load throws ``VellumError/Code/keyTooLong``
    ///   if one has more than 1,024 bytes.
    public func loading(into groups: Set<String>) -> GroupedCache<Key, Value> {
        GroupedCache(self, groups)
    }

    package func load(
        _ key: Key,
        _ stale: (whileRevalidate: Duration, ifError: Duration),
        _ options: LoadOptions,
        into groups: Set<String>,
        acceptsNil: Bool,
        _ loader: Loader<Value>
    ) async throws -> Loaded<Value?> {
        var request = try request(
            CacheKey.of(key),
            nil,
            stale,
            options,
            acceptsNil: acceptsNil,
            loader
        )
        request.groups = try EntryKey.groups(groups)
        return try await store.load(request)
    }

    /// Loads a value in the background that is still valid.
    @usableFromInline
    func refresh(
        _ key: EntryKey,
        _ maxAge: CacheMaxAge?,
        _ options: LoadOptions,
        _ loader: Loader<Value>
    ) throws(VellumError) {
        store.refreshAhead(try request(key, maxAge, (.zero, .zero), options, loader))
    }

    @usableFromInline
    func loaded(
        _ key: EntryKey,
        _ maxAge: CacheMaxAge?,
        _ stale: (whileRevalidate: Duration, ifError: Duration),
        _ options: LoadOptions,
        _ load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let answer = try await store.load(
            request(key, maxAge, stale, options, .plain(load)),
            hasLooked: true
        )
        guard let value = answer.value else {
            preconditionFailure("A store must not return nil to a reader that does not accept it.")
        }
        return Loaded(value, answer.source)
    }

    private func request(
        _ key: EntryKey,
        _ maxAge: CacheMaxAge?,
        _ stale: (whileRevalidate: Duration, ifError: Duration),
        _ options: LoadOptions,
        acceptsNil: Bool = false,
        _ loader: Loader<Value>
    ) throws(VellumError) -> LoadRequest<Value> {
        var options = options
        if let maxAge { options.expiration = maxAge.expiration }
        let staleness = Staleness(whileRevalidate: stale.whileRevalidate, ifError: stale.ifError)
        var request = try LoadRequest(
            key: key,
            under: expiration,
            staleness: staleness,
            options: options,
            loader: loader
        )
        request.acceptsNil = acceptsNil
        return request
    }
}
