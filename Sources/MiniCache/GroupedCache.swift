public import VellumCore

/// A cache whose loads put their values into groups, so that `removeAll(group:)` removes them:
/// ``MiniCache/loading(into:)``.
///
/// Values that are there already stay in the groups that they have, and a load that runs already
/// puts its value into its own groups: a caller that joins it adds none. Name the same groups
/// wherever a key is loaded.
public struct GroupedCache<Key, Value>: LoadingCache {
    private let cache: any CacheWithGroups<Key, Value>
    private let groups: Set<String>

    package init(_ cache: any CacheWithGroups<Key, Value>, _ groups: Set<String>) {
        self.cache = cache
        self.groups = groups
    }

    private func load(
        _ key: Key,
        _ maxAge: CacheMaxAge?,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        acceptsNil: Bool,
        _ loader: Loader<Value>
    ) async throws -> Loaded<Value?> {
        var options = options
        if let maxAge { options.expiration = maxAge.expiration }
        return try await cache.load(
            key,
            stale,
            options,
            into: groups,
            acceptsNil: acceptsNil,
            loader
        )
    }

    /// Returns the value of a key and its source, and loads it into the groups if there is no valid
    /// one.
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let stale = (staleWhileRevalidate, staleIfError)
        let answer = try await self.load(
            key,
            maxAge,
            stale,
            options,
            acceptsNil: false,
            .plain(load)
        )
        guard let value = answer.value else {
            preconditionFailure("A store must not return nil to a reader that does not accept it.")
        }
        return Loaded(value, answer.source)
    }

    /// Returns the value of a key and its source, and loads it into the groups if there is no valid
    /// one, with a loader that may return `nil`: then the groups are those of the remembered miss.
    @_disfavoredOverload  // A closure without a declared type returns a value.
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await self.load(
            key,
            maxAge,
            (staleWhileRevalidate, staleIfError),
            options,
            acceptsNil: true,
            .plain(load)
        )
    }

    /// Returns the value of a key and its source. If there is no valid one, a loader gets the one
    /// that is there, however old, and what it returns is in the groups.
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Loaded<Value?> {
        try await self.load(
            key,
            maxAge,
            (staleWhileRevalidate, staleIfError),
            options,
            acceptsNil: true,
            .informed(load)
        )
    }
}

/// How long past its age a caller accepts a stale value.
@usableFromInline
package typealias StaleDurations = (whileRevalidate: Duration, ifError: Duration)

/// A cache whose values may be in groups.
package protocol CacheWithGroups<Key, Value>: Sendable {
    associatedtype Key
    associatedtype Value

    /// Returns the value of a key, and loads it into the groups if there is no valid one.
    func load(
        _ key: Key,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        into groups: Set<String>,
        acceptsNil: Bool,
        _ loader: Loader<Value>
    ) async throws -> Loaded<Value?>
}
