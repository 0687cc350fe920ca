public import VellumCore

/// A cache that loads what is missing: of this process alone (``MiniCache``), or of many machines
/// (`SharedCache` of `MiniCacheValkey`).
///
/// ```swift
/// struct Prices<Cache: LoadingCache<String, Price>> {
///     let cache: Cache
///
///     func price(of article: String) async throws -> Price {
///         try await cache.value(
///             forKey: article, staleIfError: .seconds(3600)
///         ) { try await shop.price(of: article) }
///     }
/// }
/// ```
public protocol LoadingCache<Key, Value>: Sendable {
    associatedtype Key
    associatedtype Value

    /// Returns the value of a key and its source, and loads it if there is no valid one.
    func load(
        _ key: Key,
        maxAge: CacheMaxAge?,
        staleWhileRevalidate: Duration,
        staleIfError: Duration,
        options: LoadOptions,
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value>

    /// Returns the value of a key and its source, and loads it if there is no valid one, with a
    /// loader that may return `nil`.
    @_disfavoredOverload  // A closure without a declared type returns a value.
    func load(
        _ key: Key,
        maxAge: CacheMaxAge?,
        staleWhileRevalidate: Duration,
        staleIfError: Duration,
        options: LoadOptions,
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?>

    /// Returns the value of a key and its source. If there is no valid one, a loader gets the one
    /// that is there, however old, and says for how long its result is valid.
    func load(
        _ key: Key,
        maxAge: CacheMaxAge?,
        staleWhileRevalidate: Duration,
        staleIfError: Duration,
        options: LoadOptions,
        orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Loaded<Value?>
}

extension LoadingCache {
    /// Returns the value of a key, and loads it if there is no valid one.
    @inlinable
    public func value(
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await self.load(
            key,
            maxAge: maxAge,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }

    /// Returns the value of a key, and loads it if there is no valid one, with a loader that may
    /// return `nil`.
    @inlinable
    @_disfavoredOverload  // A closure without a declared type returns a value.
    public func value(
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        try await self.load(
            key,
            maxAge: maxAge,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }

    /// Returns the value of a key. If there is no valid one, a loader gets the one that is there,
    /// however old, and says for how long its result is valid.
    @inlinable
    public func value(
        forKey key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Value? {
        try await self.load(
            key,
            maxAge: maxAge,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }
}

extension MiniCache: LoadingCache {}
