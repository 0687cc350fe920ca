public import VellumCore

/// A cache whose loads put their values into groups, so that `removeAll(group:)` removes them: ``MiniCache/loading(into:)``.
///
/// Values that are there already stay in the groups that they have.
public struct GroupedCache<Key, Value>: LoadingCache {
    private let cache: any CacheWithGroups<Key, Value>
    private let groups: Set<String>

    package init(_ cache: any CacheWithGroups<Key, Value>, _ groups: Set<String>) { (self.cache, self.groups) = (cache, groups) }

    private func load(
        _ key: Key, _ maxAge: CacheMaxAge?, _ stale: (Duration, Duration), _ options: LoadOptions, acceptsNil: Bool,
        _ loader: Loader<Value>
    ) async throws -> Loaded<Value?> {
        var options = options
        if let maxAge { options.expiration = maxAge.expiration }
        return try await cache.load(key, stale, options, into: groups, acceptsNil: acceptsNil, loader)
    }

    /// Returns the value of a key and its source, and loads it into the groups if there is no valid one.
    public func load(
        _ key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await self.load(key, maxAge, stale, options, acceptsNil: false, .plain(load))
        guard let value = answer.value else { preconditionFailure("A store must not return nil to a reader that does not accept it.") }
        return Loaded(value, answer.source)
    }

    /// Returns the value of a key and its source, and loads it into the groups if there is no valid one, with a loader that may return `nil`:
    /// then the groups are those of the remembered miss.
    @_disfavoredOverload  // A closure without a declared type returns a value.
    public func load(
        _ key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await self.load(key, maxAge, (staleWhileRevalidate, staleIfError), options, acceptsNil: true, .plain(load))
    }

    /// Returns the value of a key and its source. If there is no valid one, a loader gets the one that is there, however old, and what it returns
    /// is in the groups.
    public func load(
        _ key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Loaded<Value?> {
        try await self.load(key, maxAge, (staleWhileRevalidate, staleIfError), options, acceptsNil: true, .informed(load))
    }
}

extension MiniCache {
    /// Returns this cache with groups for what it loads.
    ///
    /// ```swift
    /// let page = try await cache.loading(into: ["user:42"]).value(
    ///     forKey: url
    /// ) { try await download(url) }
    /// ```
    ///
    /// A value that is loaded, or the fact that there is none, is in the groups until the key is written again. When a group is removed, a load
    /// of the group that runs stores nothing, and what is remembered of its failures ends. Everything else is as in the loading methods of the
    /// cache. Blocks for nothing.
    ///
    /// - Parameter groups: The names of the groups. A load throws ``VellumError/Code/keyTooLong`` if one has more than 1,024 bytes.
    public func loading(into groups: Set<String>) -> GroupedCache<Key, Value> { GroupedCache(self, groups) }
}

/// A cache whose values may be in groups.
package protocol CacheWithGroups<Key, Value>: Sendable {
    associatedtype Key
    associatedtype Value

    /// Returns the value of a key, and loads it into the groups if there is no valid one.
    func load(
        _ key: Key, _ stale: (whileRevalidate: Duration, ifError: Duration), _ options: LoadOptions, into groups: Set<String>,
        acceptsNil: Bool, _ loader: Loader<Value>
    ) async throws -> Loaded<Value?>
}

extension MiniCache: CacheWithGroups {
    package func load(
        _ key: Key, _ stale: (whileRevalidate: Duration, ifError: Duration), _ options: LoadOptions, into groups: Set<String>,
        acceptsNil: Bool, _ loader: Loader<Value>
    ) async throws -> Loaded<Value?> {
        let (entryKey, groups) = (try entryKey(of: key), try core.groups(groups))
        var isDue = false
        if let present = try hit(entryKey, stale, options.refreshAhead, &isDue) {
            if isDue { try refresh(entryKey, options, loader, groups) }
            return Loaded(present, .cached)
        }
        return try await answer(entryKey, stale, options, acceptsNil: acceptsNil, loader, groups)
    }
}
