public import VellumCore
internal import VellumEngine

// Loading: a missing value is requested from its source, once for all waiting callers.

extension MiniCache {
    /// Returns the value of a key, and loads it if there is no valid one.
    ///
    /// ```swift
    /// let rate = try await cache.value(
    ///     forKey: "USD", staleWhileRevalidate: .seconds(600),
    ///     staleIfError: .seconds(86_400)
    /// ) {
    ///     try await server.rate(of: "USD")
    /// }
    /// ```
    ///
    /// At most one loader runs per key in one process: the first caller's. The others wait for its
    /// result. Loads of different keys are independent. Cancelling one waiter does not affect the
    /// others; when the last one is cancelled, the loader is cancelled or goes on, as
    /// ``LoadOptions/onLastWaiterCancelled`` says. If the value is set or removed while the loader
    /// runs, that stays, and the waiters get what was loaded. A loader may load other keys; one
    /// that waits for its own key gets ``VellumError/Code/recursiveLoad``.
    ///
    /// Blocks no thread that runs tasks. The value becomes the most recently used one. A value that
    /// cannot be decoded is reported once, and loaded. One that a newer version of its type
    /// recorded (``VersionedArchive``) is not replaced: it throws
    /// ``VellumError/Code/newerVersion``.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - maxAge: How long a loaded value is valid for every reader; `nil` leaves that to each
    ///     reader.
    ///   - staleWhileRevalidate: How long past its age a stale value is returned immediately, while
    ///     it is loaded again in the background. This does not affect the eviction order.
    ///   - staleIfError: How long past its age a stale value is returned if the loader fails.
    ///   - options: How long failures and misses are remembered, and what happens to a load without
    ///     waiters.
    ///   - load: Requests the value from its source. Runs in a task of its own, on no actor.
    /// - Complexity: O(1) in memory, O(log n) on disk, and the cost of the loader.
    /// - Throws: The error of the loader, to all waiters; the next call loads again, unless
    ///   ``LoadOptions/errorMaxAge`` says otherwise. `CancellationError` if the caller's task is
    ///   cancelled while it waits. ``MiniCacheError`` if the key is invalid, the disk cannot be
    ///   read or an age is NaN. A file that cannot be opened is reported, and each caller's loader
    ///   runs in its task, without timeouts.
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
    ///
    /// ``LoadOptions/negativeMaxAge`` says how long `nil` is remembered, also in the file.
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
    ///
    /// ```swift
    /// let token = try await cache.value(forKey: "token") { _ in
    ///     let answer = try await issuer.token()
    ///     return .value(answer.token, maxAge: .seconds(answer.life))
    /// }
    /// ```
    ///
    /// Works like `value(forKey:orLoad:)` otherwise. A value that is unchanged gets a new date and
    /// is not written again.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - maxAge: How long a loaded value is valid, where the loader does not say it.
    ///   - staleWhileRevalidate: How long past its age a stale value is returned immediately, while
    ///     it is loaded again in the background.
    ///   - staleIfError: How long past its age a stale value is returned if the loader fails.
    ///   - options: How long failures and misses are remembered, and how long a caller waits.
    ///   - load: Receives the value under the key, valid or not; `nil` if there is none, it cannot
    ///     be decoded, or another version of the cache has set it.
    /// - Throws: The error of the loader, `CancellationError`, or ``MiniCacheError``.
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

    /// Returns the value of a key and its source, and loads it if there is no valid one.
    ///
    /// Works like `value(forKey:orLoad:)`, and says whether the value is stale.
    @inlinable
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let entryKey = try entryKey(of: key)
        let stale = (staleWhileRevalidate, staleIfError)
        var isDue = false
        if let present = try hit(entryKey, stale, options.refreshAhead, &isDue) {
            if isDue { try refresh(entryKey, aged(options, maxAge), .plain(load)) }
            return Loaded(present, .cached)
        }
        // Here and below the result has a name: without one, the optimizer of Swift 6.3 crashes in
        // a program that calls this and then anything that throws.
        let result = try await loaded(entryKey, stale, aged(options, maxAge), load)
        return result
    }

    /// Returns the value of a key and its source, and loads it if there is no valid one, with a
    /// loader that may return `nil`.
    @_disfavoredOverload  // A closure without a declared type returns a value.
    @inlinable
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        let entryKey = try entryKey(of: key)
        let stale = (staleWhileRevalidate, staleIfError)
        var isDue = false
        if let present = try hit(entryKey, stale, options.refreshAhead, &isDue) {
            if isDue { try refresh(entryKey, aged(options, maxAge), .plain(load)) }
            return Loaded(present, .cached)
        }
        let result = try await answer(
            entryKey,
            stale,
            aged(options, maxAge),
            acceptsNil: true,
            .plain(load)
        )
        return result
    }

    /// Returns the value of a key and its source. If there is no valid one, a loader gets the one
    /// that is there, however old, and says for how long its result is valid.
    @inlinable
    public func load(
        _ key: Key,
        maxAge: CacheMaxAge? = nil,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Value?) async throws -> LoadResult<Value>
    ) async throws -> Loaded<Value?> {
        let entryKey = try entryKey(of: key)
        let stale = (staleWhileRevalidate, staleIfError)
        var isDue = false
        if let present = try hit(entryKey, stale, options.refreshAhead, &isDue) {
            if isDue { try refresh(entryKey, aged(options, maxAge), .informed(load)) }
            return Loaded(present, .cached)
        }
        let result = try await answer(
            entryKey,
            stale,
            aged(options, maxAge),
            acceptsNil: true,
            .informed(load)
        )
        return result
    }

    // MARK: Groups

    /// Returns this cache with groups for what it loads.
    ///
    /// ```swift
    /// let page = try await cache.loading(into: ["user:42"]).value(
    ///     forKey: url
    /// ) { try await download(url) }
    /// ```
    ///
    /// A value that is loaded, or the fact that there is none, is in the groups until the key is
    /// written again. When a group is removed, a load of the group that runs stores nothing, and
    /// what is remembered of its failures ends. Everything else is as in the loading methods of the
    /// cache. Blocks for nothing.
    ///
    /// - Parameter groups: The names of the groups. A load throws ``VellumError/Code/keyTooLong``
    ///   if one has more than 1,024 bytes.
    public func loading(into groups: Set<String>) -> GroupedCache<Key, Value> {
        GroupedCache(self, groups)
    }

    // MARK: Steps

    /// Returns the options with the age.
    @usableFromInline
    func aged(_ options: LoadOptions, _ maxAge: CacheMaxAge?) -> LoadOptions {
        var options = options
        if let maxAge { options.expiration = maxAge.expiration }
        return options
    }

    /// Returns the valid value of a key that memory has. A caller that takes expired ones goes on
    /// to load, which looks for both at once.
    ///
    /// - Parameters:
    ///   - part: After which part of its age it is time to load the value again.
    ///   - isDue: Set if it is.
    @inlinable
    func hit(
        _ entryKey: EntryKey,
        _ stale: StaleDurations,
        _ part: Double?,
        _ isDue: inout Bool
    ) throws(MiniCacheError) -> Value? {
        guard stale.whileRevalidate == .zero, stale.ifError == .zero else { return nil }
        do throws(MiniCacheError) {
            return part == nil
                ? try findInMemory(entryKey)
                : try findInMemory(entryKey, refreshAhead: part, isDue: &isDue)
        } catch {
            try reportUnreadable(error, entryKey)
            return nil
        }
    }

    @usableFromInline
    func reportUnreadable(_ error: MiniCacheError, _ entryKey: EntryKey) throws(MiniCacheError) {
        // If the file cannot be opened, `answer` reports it and runs the loader.
        if core.opened == nil, isValid { return }
        // The loader runs, and its value is not stored.
        if error.code == .cacheVersionChanged { return report(error, "value") }
        guard error.concernsOneEntry else { throw error }
        report(error, entryKey, "value")
    }

    /// Loads a value in the background that is still valid.
    @usableFromInline
    func refresh(
        _ entryKey: EntryKey,
        _ options: LoadOptions,
        _ loader: Loader<Value>,
        _ groups: [EntryKey] = []
    ) throws(MiniCacheError) {
        let store = try openStore()
        try core.locatingErrors { () throws(VellumError) in
            var request = try request(entryKey, (.zero, .zero), options, loader)
            request.groups = groups
            store.refreshAhead(request)
        }
    }

    @usableFromInline
    func loaded(
        _ entryKey: EntryKey,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let answer = try await answer(entryKey, stale, options, acceptsNil: false, .plain(loader))
        guard let value = answer.value else {
            preconditionFailure(
                "The store must not return nil to a reader that does not accept it."
            )
        }
        return Loaded(value, answer.source)
    }

    @usableFromInline
    func answer(
        _ entryKey: EntryKey,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        acceptsNil: Bool,
        _ loader: Loader<Value>,
        _ groups: [EntryKey] = []
    ) async throws -> Loaded<Value?> {
        let store: Store<CachedValue>
        do {
            store =
                if let openedStore { openedStore } else {
                    try await core.lanes.visits.run(openStore)
                }
        } catch let error as MiniCacheError {
            // A file that cannot be opened does not keep the caller from the source.
            guard isValid, error.code != .closed else { throw error }
            report(error, "load")
            return Loaded(try await loader.valueWithoutCache(), .loaded)
        }
        let looks = stale.whileRevalidate == .zero && stale.ifError == .zero
        if looks {
            let look = DiskLook(cache: self, key: entryKey, part: options.refreshAhead)
            if let hit = try await lanes.reads.run(look.find) {
                if hit.isDue { try refresh(entryKey, options, loader, groups) }
                return Loaded(hit.value, .cached)
            }
        }
        do {
            var request = try request(entryKey, stale, options, loader)
            request.acceptsNil = acceptsNil
            request.groups = groups
            let answer = try await store.load(request, hasLooked: looks)
            if answer.source == .loaded { core.didWrite(entryKey) }
            if store.isReplaced { report(core.located(.cacheVersionChanged), "load") }
            return Loaded(
                try answer.value.flatMap { cached in try self.value(of: cached, entryKey) },
                answer.source
            )
        } catch let error as VellumError {
            throw core.located(error)
        }
    }

    private func request(
        _ entryKey: EntryKey,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        _ loader: Loader<Value>
    ) throws(VellumError) -> LoadRequest<CachedValue> {
        let forms = LoadedForms(
            key: entryKey,
            coding: coding,
            keepsDecoded: keepsDecoded,
            isSendable: isSendable
        )
        let staleness = Staleness(whileRevalidate: stale.whileRevalidate, ifError: stale.ifError)
        var request = try LoadRequest<CachedValue>(
            key: entryKey,
            under: expiration,
            staleness: staleness,
            options: options,
            loader: map(loader, to: forms.stored, from: forms.value)
        )
        request.tombstone = Tombstone(.tombstone, meaning: forms.meaning)
        return request
    }
}

/// Looks for the value of a key on a thread that may block.
///
/// A type, because a concurrent closure must not capture conformances that may be isolated to an
/// actor.
private struct DiskLook<Key: Codable, Value: Codable>: Sendable {
    let cache: MiniCache<Key, Value>
    let key: EntryKey
    let part: Double?

    /// Returns the valid value. One that cannot be read is reported and counts as a miss.
    func find() throws -> (value: Value, isDue: Bool)? {
        var isDue = false
        do throws(MiniCacheError) {
            return try cache.find(key, refreshAhead: part, isDue: &isDue).map {
                ($0, isDue)
            }
        } catch {
            try cache.reportUnreadable(error, key)
            return nil
        }
    }
}

extension MiniCache: CacheWithGroups {
    package func load(
        _ key: Key,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        into groups: Set<String>,
        acceptsNil: Bool,
        _ loader: Loader<Value>
    ) async throws -> Loaded<Value?> {
        let entryKey = try entryKey(of: key)
        let groups = try core.groups(groups)
        var isDue = false
        if let present = try hit(entryKey, stale, options.refreshAhead, &isDue) {
            if isDue { try refresh(entryKey, options, loader, groups) }
            return Loaded(present, .cached)
        }
        return try await answer(entryKey, stale, options, acceptsNil: acceptsNil, loader, groups)
    }
}

/// Returns a loader of what the store keeps.
///
/// Does not require `Codable`: a concurrent closure must not capture a conformance that may be
/// isolated to an actor.
private func map<Value>(
    _ loader: Loader<Value>,
    to stored: @escaping @Sendable (Value) throws -> CachedValue,
    from read: @escaping @Sendable (CachedValue) throws -> Value?
) -> Loader<CachedValue> {
    switch loader {
    case .plain(let load): .plain { try await load().map(stored) }
    case .informed(let load):
        .informed { previous in
            // A value of another program may be unreadable. The loader then gets nil.
            let old: Value?
            do { old = try previous.flatMap(read) } catch { old = nil }
            switch try await load(old) {
            case .value(let value, let age): return .value(try stored(value), maxAge: age)
            case .unchanged(let age):
                if old == nil { throw VellumError.nothingUnchanged }
                return .unchanged(maxAge: age)
            case .none(let age): return .none(maxAge: age)
            }
        }
    }
}

/// The forms of a loaded value: how a handle stores it, and how it reads the store's values.
private struct LoadedForms<Value: Codable>: Sendable {
    let key: EntryKey
    let coding: ValueCoding<Value>
    let keepsDecoded: Bool
    let isSendable: Bool

    /// Returns what the store keeps of a loaded value.
    func stored(_ value: Value) throws -> CachedValue {
        if keepsDecoded { return CachedValue(DecodedForm(value, coding)) }
        do {
            return CachedValue(try coding.encoded(value))
        } catch {
            // Recording it fails and is reported; the callers get the value itself, if it may have
            // several owners.
            guard isSendable else { throw error }
            return CachedValue(DecodedForm(value, coding))
        }
    }

    /// Returns a value of the store as this handle reads it; `nil` if a migration drops it.
    func value(of cached: CachedValue) throws -> Value? {
        if let decoded = cached.decoded(as: Value.self) { return decoded.value }
        return try coding.decode(cached.form, of: key)
    }

    /// Returns what a value of the store means to this handle.
    func meaning(of cached: CachedValue, key: EntryKey) -> Tombstone<CachedValue>.Meaning {
        if cached.isTombstone { return .nothing }
        if cached.decoded(as: Value.self) != nil { return .value }
        do {
            return try coding.decode(cached.form, of: key) == nil ? .unreadable : .value
        } catch let error as VellumError where error.code == .newerVersion {
            return .newer
        } catch {
            return .unreadable  // A value that this handle cannot decode is a miss.
        }
    }
}
