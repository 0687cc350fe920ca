package import VellumCore
package import VellumEngine

extension DatabaseFile {
    /// Opens a store with its options as arguments.
    package func store<Value>(
        named name: String,
        codec: any Codec<Value>,
        cacheVersion: String? = nil,
        memory: Capacity? = nil,
        disk: Capacity? = nil,
        defaults: DefaultLimits = .unlimited,
        caching: CachePolicy<Value> = .bytes,
        indexing: IndexCatalog<Value>? = nil,
        durability: Durability = .crashSafe,
        whenDifferent policy: DifferencePolicy = .refuse
    ) throws(VellumError) -> Store<Value> {
        var options = StoreOptions<Value>()
        (options.cacheVersion, options.memory, options.disk, options.defaults) = (
            cacheVersion, memory, disk, defaults
        )
        (options.caching, options.indexing, options.durability, options.policy) = (
            caching, indexing, durability, policy
        )
        return try store(named: name, codec: codec, options)
    }

    /// Opens a store and holds it, with its options as arguments.
    package func hold<Value>(
        named name: String,
        codec: any Codec<Value>,
        cacheVersion: String? = nil,
        memory: Capacity? = nil,
        disk: Capacity? = nil,
        defaults: DefaultLimits = .unlimited,
        whenDifferent policy: DifferencePolicy = .refuse
    ) throws(VellumError) -> StoreHold<Value> {
        var options = StoreOptions<Value>()
        (options.cacheVersion, options.memory, options.disk) = (cacheVersion, memory, disk)
        (options.defaults, options.policy) = (defaults, policy)
        return try hold(named: name, codec: codec, options)
    }
}
