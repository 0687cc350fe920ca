public import Tiers

// Loading: a value that is missing is asked of its source, once for all who want it.

extension MiniCache where Value: Sendable {
    /// The value under the key, loaded if there is no valid one. A use of it.
    ///
    /// ```swift
    /// let rate = try await cache.value(forKey: "USD", staleWhileRevalidate: .seconds(600), staleIfError: .seconds(86_400)) {
    ///     try await server.rate(of: "USD")
    /// }
    /// ```
    ///
    /// However many tasks ask for one key at a time, one loader runs, that of the first (*single-flight*); the others wait for
    /// what it returns. Different keys do not wait for one another. A task that is cancelled stops waiting, and no other does; when
    /// the last one stops, the loader is cancelled, or goes on, as ``LoadOptions/whenAbandoned`` says. A value that was set or
    /// removed while its loader ran stays as it is; who waited gets what was loaded. A loader may ask for other keys; one that waits
    /// for its own gets ``StoreError/Code/recursiveLoad``.
    ///
    /// Looking for a value blocks as the subscript does, and nothing else here blocks. A value that cannot be decoded is told of once, and loaded.
    ///
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - maxAge: How long what is loaded is valid, whoever reads; nil leaves that to each reader.
    ///   - staleWhileRevalidate: For how long past its age the caller takes an old value at once, while it is loaded anew behind it
    ///     (*stale-while-revalidate*). That is no use of it.
    ///   - staleIfError: For how long past its age the caller takes an old value if the loader fails (*stale-if-error*).
    ///   - options: For how long a failure, or that there is nothing, is remembered, and what becomes of a load that nobody waits for.
    ///   - load: Asks the source, in a task of its own, on no actor.
    /// - Complexity: O(1) in memory, O(log n) on disk, and what the loader costs.
    /// - Throws: What the loader throws, to everyone who waited; it is asked again next time, unless ``LoadOptions/errorMaxAge`` says
    ///   otherwise. `CancellationError` if the caller's task is cancelled while it waits. ``MiniCacheError`` if the key is none, the
    ///   disk cannot be read or a duration is negative. A file that cannot be opened is reported, and every caller's loader asked.
    @inlinable
    public func value(
        forKey key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let options = try checked(options, maxAge)
        if staleWhileRevalidate == .zero, staleIfError == .zero, let value = try findSound(key) { return value }
        return try await loaded(key, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The same, with a loader that may find that there is nothing: `nil`, which ``LoadOptions/negativeMaxAge`` remembers, in the file.
    @inlinable
    @_disfavoredOverload  // A closure whose type does not say is one that finds a value.
    public func value(
        forKey key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        let options = try checked(options, maxAge)
        if staleWhileRevalidate == .zero, staleIfError == .zero, let value = try findSound(key) { return value }
        return try await loadedIfAny(key, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The value under the key, loaded if there is no valid one, and where it came from.
    ///
    /// `value(forKey:orLoad:)` for who wants to know whether it is old.
    public func load(
        _ key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        try await loaded(key, staleWhileRevalidate, staleIfError, try checked(options, maxAge), load)
    }

    /// The same, with a loader that may find that there is nothing.
    @_disfavoredOverload  // A closure whose type does not say is one that finds a value.
    public func load(
        _ key: Key, maxAge: CacheMaxAge? = nil, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await loadedIfAny(key, staleWhileRevalidate, staleIfError, try checked(options, maxAge), load)
    }

    // MARK: Steps

    /// The options with the age in them. Durations that are none are refused also where nothing is loaded.
    @inlinable
    func checked(_ options: LoadOptions, _ maxAge: CacheMaxAge?) throws(MiniCacheError) -> LoadOptions {
        do throws(StoreError) {
            try options.check()
        } catch {
            throw MiniCacheError(error)
        }
        guard let maxAge else { return options }
        return aged(options, maxAge)
    }

    @usableFromInline
    func aged(_ options: LoadOptions, _ maxAge: CacheMaxAge) -> LoadOptions {
        var options = options
        options.expiration = maxAge.expiration
        return options
    }

    /// The valid value under the key. One that cannot be read is as good as none to whoever can load it.
    @inlinable
    func findSound(_ key: Key) throws(MiniCacheError) -> Value? {
        do throws(MiniCacheError) {
            return try find(key)
        } catch {
            try tolerate(error, key)
            return nil
        }
    }

    @usableFromInline
    func tolerate(_ error: MiniCacheError, _ key: Key) throws(MiniCacheError) {
        // The loader is asked where the file cannot be opened, and what is wrong with the file is told there.
        if core.opened == nil, isSound, error.code != .invalidKey { return }
        guard error.concernsOneEntry else { throw error }
        report(error, key, "value")
    }

    @usableFromInline
    func loaded(
        _ key: Key, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let answer = try await answer(key, staleWhileRevalidate, staleIfError, options, takesNothing: false, loader)
        guard let value = answer.value else { preconditionFailure("A reader who takes no nil was given one.") }
        return Loaded(value, answer.source)
    }

    @usableFromInline
    func loadedIfAny(
        _ key: Key, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await answer(key, staleWhileRevalidate, staleIfError, options, takesNothing: true, loader)
    }

    private func answer(
        _ key: Key, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions, takesNothing: Bool,
        _ loader: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        let entryKey = try CacheKey.of(key)
        let store: TieredStore<CachedValue>
        do throws(MiniCacheError) {
            store = try engine()
        } catch {
            // A file that cannot be opened must not come between the caller and the source.
            guard isSound, error.code != .closed else { throw error }
            report(error, "load")
            let value = try await loader()
            return Loaded(value, .loaded)
        }
        let (keepsValues, format) = (keepsValues, core.format)
        let absence = Absence(CachedValue(NothingBox())) { cached in
            if cached.box is NothingBox { return .nothing }
            if cached.typed(as: Value.self) != nil { return .value }
            // What this handle cannot decode is no answer to it.
            let value = Result { try ValueCoding.decode(Value.self, from: try cached.box.encoded()) }
            return if case .success = value { .value } else { .unreadable }
        }
        do {
            let answer = try await store.load(
                entryKey, under: expiration, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError, options: options,
                absence: absence,
                takesNothing: takesNothing
            ) {
                guard let value = try await loader() else { return nil }
                return CachedValue(keepsValues ? TypedBox(value, format) : bytesBox(value, format))
            }
            if answer.source == .loaded { core.didWrite(entryKey) }
            return Loaded(try answer.value.flatMap { cached in try read(cached, entryKey) }, answer.source)
        } catch let error as StoreError {
            throw MiniCacheError(error)
        }
    }

    private func read(_ cached: CachedValue, _ key: EntryKey) throws(MiniCacheError) -> Value? {
        if let box = cached.typed(as: Value.self) { return box.value }
        return try decoded(cached, key)
    }
}

/// The bytes of a value, which whoever reads it decodes anew; or the value, where it has none: then it is not recorded, and that is
/// told, but it is what was asked for.
private func bytesBox<Value: Codable & Sendable>(_ value: Value, _ format: CodableFormat) -> CacheBox {
    do {
        return BytesBox(try ValueCoding.encode(value, as: format))
    } catch {
        return TypedBox(value, format)
    }
}
