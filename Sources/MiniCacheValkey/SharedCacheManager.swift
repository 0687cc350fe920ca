public import MiniCache
public import VellumCore
internal import VellumRemote
public import VellumValkey

/// Caches that many machines share, on a Valkey or Redis server.
///
/// ```swift
/// let server = ValkeyServer(
///     try ValkeyConfiguration(url: "valkey://cache.internal"))
/// let manager = SharedCacheManager(name: "Shop", server: server)
/// let rates: SharedCache<String, Rate> = try manager.cache(
///     cacheName: "rates", cacheVersion: .custom("3"), maxAge: .hours(1))
/// ```
///
/// A manager works from any thread. Nothing is sent before a cache is used.
public final class SharedCacheManager: Sendable {
    /// The prefix of the keys of these caches on the server.
    public let name: String
    /// The format of new values. Values of every format are read.
    public let format: CodableFormat
    private let server: ValkeyServer
    private let stores = Locked<[Location: any Sendable & AnyObject]>([:])

    private struct Location: Hashable, Sendable {
        let name: String
        let value: ObjectIdentifier
    }

    /// Creates a manager of caches on a server.
    ///
    /// - Parameters:
    ///   - name: Any string. Programs with the same name and server share their caches.
    ///   - server: The server.
    ///   - format: The format of new values.
    public init(name: String, server: ValkeyServer, format: CodableFormat = .cbor) {
        self.name = name
        self.server = server
        self.format = format
    }

    /// Returns the cache of a name and version. Handles of one manager share their memory.
    ///
    /// - Parameters:
    ///   - cacheName: Any string.
    ///   - cacheVersion: The version. Each version of a cache has its own values: opening one
    ///     clears none. Give a cache another version when the type of its values changes.
    ///   - maxAge: How long values without an age of their own are valid. It counts from the
    ///     writing, by the server's clock.
    ///   - window: How long the server keeps an expired value for loads that accept old ones. It
    ///     counts for what this program sets or loads from now on, so give it in every program that
    ///     writes. The longest counts; zero or less is none.
    ///   - memoryLimit: The limit of memory in this process, in bytes of encoded values. Applies to
    ///     the first handle.
    /// - Throws: ``VellumError`` with ``VellumError/Code/invalidLimit`` if the limit is zero or
    ///   negative, ``VellumError/Code/invalidDuration`` if the age is NaN, and
    ///   ``VellumError/Code/invalidVersion`` if the version of the type is negative.
    public func cache<Key: Codable, Value: Codable & Sendable>(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge,
        keepExpiredFor window: Duration = .zero,
        memoryLimit: DataSize = 10.megaByte
    ) throws(VellumError) -> SharedCache<Key, Value> {
        let location = [name, cacheName, cacheVersion.text].map { $0.percentEncoding(":\0") }
            .joined(separator: ":")
        let capacity = try Capacity(memoryLimit)
        let expiration = maxAge.expiration
        let coding = ValueCoding<Value>(format)
        try expiration.check()
        try coding.check()
        let store = stores.withLock { stores -> SharedStore<Value> in
            let place = Location(name: location, value: ObjectIdentifier(Value.self))
            if let store = stores[place] as? SharedStore<Value> { return store }
            let store: SharedStore<Value> = server.store(
                named: location,
                memory: capacity,
                coding: SharedStore<Value>.Coding(
                    typeVersion: coding.version,
                    encode: { try coding.encode($0) },
                    decode: { try coding.decode($0, version: $1, of: $2) }
                )
            )
            stores[place] = store
            return store
        }
        store.keepExpired(forMilliseconds: Expiration.milliseconds(window))
        return SharedCache(store, expiration, server)
    }
}
