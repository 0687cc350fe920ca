public import VellumCore

// Calls that a reader tries first. They do not compile, and the message says what to write.

extension MiniCacheManager {
    /// A cache whose types are missing.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message:
            "Name the types of the cache: let cache: MiniCache<String, User> = manager.cache(…)"
    )
    public func cache(
        cacheName: String,
        cacheVersion: CacheVersion,
        maxAge: CacheMaxAge,
        memoryLimit: DataSize? = nil,
        diskLimit: DataSize? = nil
    ) -> MiniCache<String, Int> {
        preconditionFailure()
    }
}

extension MiniCache {
    /// A cache without a manager.
    @available(
        *,
        unavailable,
        message:
            "A manager makes caches: MiniCacheManager(name:).cache(cacheName:cacheVersion:maxAge:)"
    )
    public convenience init(name: String) {
        preconditionFailure()
    }
}
