public import VellumCore
public import VellumEngine

/// How long past its age a caller accepts a stale object.
@usableFromInline
typealias StaleDurations = (whileRevalidate: Duration, ifError: Duration)

extension ArchiveStore where Archive: Sendable {
    // MARK: Loading

    /// Returns the object with the key. If there is no valid one, it is loaded and recorded. The
    /// object becomes the most recently used.
    ///
    /// ```swift
    /// let user = try await users.value(
    ///     forKey: "ann", staleWhileRevalidate: .seconds(600)
    /// ) {
    ///     try await download("ann")
    /// }
    /// ```
    ///
    /// At most one loader runs per key in one process (*single-flight*): the loader of the first
    /// caller. The others wait for its result. Different keys do not wait for one another. The
    /// loader runs in an unstructured task, on no actor. Cancelling one waiter does not affect the
    /// others; when the last is cancelled, ``LoadOptions/onLastWaiterCancelled`` decides whether
    /// the loader is cancelled.
    ///
    /// A loaded object is recorded, with its archivable properties, before any caller receives it.
    /// It is not recorded if an object was recorded or deleted under the key while the loader ran;
    /// the callers receive it all the same. If recording fails, the object is still returned and
    /// the failure is reported to ``events``.
    ///
    /// A loader may load other keys, of any archive. A loader that waits for its own key, directly
    /// or through other loaders, receives ``VellumError/Code/recursiveLoad``. A task that a loader
    /// starts with `Task { }` counts as part of the loader; a `Task.detached` does not.
    ///
    /// Blocks no thread that runs tasks. An object that
    /// cannot be decoded, or whose entry is damaged, is reported and loaded again.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background. This does not affect the eviction order. A failure of
    ///     that load is reported to ``events``.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails. The failure is reported to ``events``.
    ///   - options: How the result is cached. An `expiration` of `nil` is that of this handle.
    ///   - load: Loads the object. The object must have the requested key.
    /// - Complexity: O(1) if memory has the object, O(log n) if the disk has it; else the cost of
    ///   the loader.
    /// - Throws: The error of the loader, to all callers that waited. The next call runs a loader
    ///   again, unless ``LoadOptions/errorMaxAge`` is set. `CancellationError` if the caller's task
    ///   is cancelled while it waits. ``VellumError`` if the disk fails, an age is NaN, or the
    ///   loaded object has another key (``VellumError/Code/otherKey``).
    @inlinable
    public func value(
        forKey key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Archive
    ) async throws -> Archive {
        try await self.load(
            key,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }

    /// Returns the object with the key. If there is no valid one, a loader that may return `nil`
    /// loads it.
    ///
    /// Otherwise as `value(forKey:staleWhileRevalidate:staleIfError:options:orLoad:)` with a loader
    /// that returns an object.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails.
    ///   - options: How the result is cached. `nil` is cached only if
    ///     ``LoadOptions/negativeMaxAge`` is set.
    ///   - load: Loads the object, or returns `nil` if there is none.
    /// - Throws: The error of the loader, `CancellationError`, or ``VellumError``.
    @_disfavoredOverload  // A closure without an explicit type returns an object, not an optional.
    @inlinable
    public func value(
        forKey key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Archive? {
        try await self.load(
            key,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }

    /// Returns the object with the key. If there is no valid one, a loader gets the one that is
    /// there, however old, and says for how long its result is valid.
    ///
    /// ```swift
    /// let rate = try await rates.value(forKey: "USD") { previous in
    ///     let answer = try await bank.rate(
    ///         of: "USD", ifNoneMatch: previous?.etag)
    ///     if answer.isUnchanged { return .unchanged(maxAge: answer.age) }
    ///     return .value(answer.rate, maxAge: answer.age)
    /// }
    /// ```
    ///
    /// Otherwise as `value(forKey:staleWhileRevalidate:staleIfError:options:orLoad:)` with a loader
    /// that returns an object. An object that is unchanged gets a new date and is not written
    /// again, nor are its archivable properties.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails.
    ///   - options: How the result is cached, where the loader does not say it.
    ///   - load: Receives the object under the key, valid or not; `nil` if there is none, or it
    ///     cannot be decoded.
    /// - Throws: The error of the loader, `CancellationError`, or ``VellumError``.
    @inlinable
    public func value(
        forKey key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Archive?) async throws -> LoadResult<Archive>
    ) async throws -> Archive? {
        try await self.load(
            key,
            staleWhileRevalidate: staleWhileRevalidate,
            staleIfError: staleIfError,
            options: options,
            orLoad: load
        ).value
    }

    /// Returns the object with the key and its source. If there is no valid one, it is loaded and
    /// recorded.
    ///
    /// Otherwise as `value(forKey:staleWhileRevalidate:staleIfError:options:orLoad:)`. Use it to
    /// tell stale objects from valid ones.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails.
    ///   - options: How the result is cached.
    ///   - load: Loads the object. The object must have the requested key.
    /// - Throws: The error of the loader, `CancellationError`, or ``VellumError``.
    @inlinable
    public func load(
        _ key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Archive
    ) async throws -> Loaded<Archive> {
        let stale = (staleWhileRevalidate, staleIfError)
        if let object = try hit(key, stale, options, refresh(key, options, .plain(load))) {
            return Loaded(object, .cached)
        }
        // Here and below the result has a name: without one, the optimizer of Swift 6.3 crashes in
        // a program that calls this and then anything that throws.
        let result = try await loaded(key, stale, options, load)
        return result
    }

    /// Returns the object with the key and its source. If there is no valid one, a loader that may
    /// return `nil` loads it.
    ///
    /// Otherwise as `value(forKey:staleWhileRevalidate:staleIfError:options:orLoad:)`. Use it to
    /// tell stale objects from valid ones.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails.
    ///   - options: How the result is cached. `nil` is cached only if
    ///     ``LoadOptions/negativeMaxAge`` is set.
    ///   - load: Loads the object, or returns `nil` if there is none.
    /// - Throws: The error of the loader, `CancellationError`, or ``VellumError``.
    @_disfavoredOverload  // A closure without an explicit type returns an object, not an optional.
    @inlinable
    public func load(
        _ key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Loaded<Archive?> {
        let stale = (staleWhileRevalidate, staleIfError)
        if let object = try hit(key, stale, options, refresh(key, options, .plain(load))) {
            return Loaded(object, .cached)
        }
        let result = try await answer(key, stale, options, acceptsNil: true, .plain(load))
        return result
    }

    /// Returns the object with the key and its source. If there is no valid one, a loader gets the
    /// one that is there, however old, and says for how long its result is valid.
    ///
    /// Otherwise as `value(forKey:staleWhileRevalidate:staleIfError:options:orLoad:)` with such a
    /// loader. Use it to tell stale objects from valid ones.
    ///
    /// - Parameters:
    ///   - key: The key of the object.
    ///   - staleWhileRevalidate: For how long after its expiration an object is returned while it
    ///     is loaded again in the background.
    ///   - staleIfError: For how long after its expiration an object is returned if the loader
    ///     fails.
    ///   - options: How the result is cached, where the loader does not say it.
    ///   - load: Receives the object under the key, valid or not; `nil` if there is none, or it
    ///     cannot be decoded.
    /// - Throws: The error of the loader, `CancellationError`, or ``VellumError``.
    @inlinable
    public func load(
        _ key: String,
        staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(),
        orLoad load: @escaping @Sendable (_ previous: Archive?) async throws -> LoadResult<Archive>
    ) async throws -> Loaded<Archive?> {
        let stale = (staleWhileRevalidate, staleIfError)
        if let object = try hit(key, stale, options, refresh(key, options, .informed(load))) {
            return Loaded(object, .cached)
        }
        let result = try await answer(key, stale, options, acceptsNil: true, .informed(load))
        return result
    }

    // MARK: Steps

    /// Returns the valid object that memory has. A caller that takes expired ones goes on to load,
    /// which looks for both at once.
    ///
    /// - Parameter refresh: Called if it is time to load the object again.
    @inlinable
    func hit(
        _ key: String,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        _ refresh: @autoclosure () throws(VellumError) -> Void
    ) throws(VellumError) -> Archive? {
        do throws(VellumError) {
            guard !mark.isClosed else { throw .closed }
            guard stale.whileRevalidate == .zero, stale.ifError == .zero else { return nil }
            guard let part = options.refreshAhead else {
                return try store.hit(forKey: EntryKey(key), under: .never)
            }
            var isDue = false
            let object = try store.hit(
                forKey: EntryKey(key),
                under: .never,
                refreshAhead: part,
                isDue: &isDue
            )
            if isDue { try refresh() }
            return object
        } catch {
            throw store.located(error)
        }
    }

    /// Loads an object in the background that is still valid.
    @usableFromInline
    func refresh(
        _ key: String,
        _ options: LoadOptions,
        _ loader: Loader<Archive>
    ) throws(VellumError) {
        store.refreshAhead(
            try request(EntryKey(key), (.zero, .zero), options, loader),
            adding: addNested
        )
    }

    @usableFromInline
    func loaded(
        _ key: String,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Archive
    ) async throws -> Loaded<Archive> {
        let answer = try await answer(key, stale, options, acceptsNil: false, .plain(loader))
        guard let object = answer.value else {
            preconditionFailure("A caller that does not accept nil received nil.")
        }
        return Loaded(object, answer.source)
    }

    @usableFromInline
    func answer(
        _ key: String,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        acceptsNil: Bool,
        _ loader: Loader<Archive>
    ) async throws -> Loaded<Archive?> {
        do {
            var request = try request(EntryKey(key), stale, options, loader)
            request.acceptsNil = acceptsNil
            return try await store.load(request, adding: addNested)
        } catch let error as VellumError {
            throw store.located(error)
        }
    }

    private func request(
        _ key: EntryKey,
        _ stale: StaleDurations,
        _ options: LoadOptions,
        _ loader: Loader<Archive>
    ) throws(VellumError) -> LoadRequest<Archive> {
        var options = options
        options.expiration = options.expiration ?? expiration
        let staleness = Staleness(whileRevalidate: stale.whileRevalidate, ifError: stale.ifError)
        return try LoadRequest(
            key: key,
            under: .never,
            staleness: staleness,
            options: options,
            loader: loader.checkingKey(key)
        )
    }

    /// Records the archivable properties of a loaded object.
    private var addNested: StoreLoader<Archive>.Addition {
        { [self] (object, transaction) throws(VellumError) in
            guard !mark.isClosed else { throw .closed }
            try nestedArchives.add(propertiesOf: object, to: &transaction, factory)
        }
    }
}

extension Loader where Value: Archivable {
    /// The same loader, which fails if it returns an object with another key.
    fileprivate func checkingKey(_ key: EntryKey) -> Loader {
        switch self {
        case .plain(let load):
            .plain {
                guard let object = try await load() else { return nil }
                guard EntryKey(object.primaryKey) == key else { throw VellumError.otherKey }
                return object
            }
        case .informed(let load):
            .informed { previous in
                let result = try await load(previous)
                if case .value(let object, _) = result, EntryKey(object.primaryKey) != key {
                    throw VellumError.otherKey
                }
                return result
            }
        }
    }
}

extension VellumError.Code {
    /// A loader returned, or the closure of an update left, an object whose key is not the
    /// requested one.
    public static let otherKey = VellumError.Code("otherKey")
}

extension VellumError {
    fileprivate static var otherKey: VellumError {
        VellumError(
            .otherKey,
            """
            A loader returned an object with another `primaryKey`. Return the object with the \
            requested key.
            """
        )
    }
}
