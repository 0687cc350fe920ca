public import VellumCore

// Loading: a value that is missing is asked of its source, once for all who want it.

extension Store where Value: Sendable {
    /// The value under the key, loaded if there is no valid one. A use of it.
    ///
    /// ```swift
    /// let user = try await store.value(forKey: "ann", under: .after(.seconds(60)), staleWhileRevalidate: .seconds(600)) {
    ///     try await download("ann")
    /// }
    /// ```
    ///
    /// However many tasks ask for one key at a time, one loader runs, that of the first (*single-flight*); the others wait for
    /// what it returns. Different keys do not wait for one another. The loader runs in a task of its own, on no actor, with the
    /// priority and task-local values of the first. A task that is cancelled stops waiting at once, and no other does; when the
    /// last one stops, the loader is cancelled, or goes on, as ``LoadOptions/onLastWaiterCancelled`` says. A loader that never returns
    /// holds only those who want its key: give it a time limit.
    ///
    /// What was loaded is recorded before anyone gets it, encoded and written on a thread that may wait, as durably as the store
    /// is. It is not recorded if something was written or removed under the key while the loader ran, by this process, or
    /// overwritten by another; everyone who waited gets it all the same. That it cannot be recorded, because it is too large or the
    /// disk fails, is told to observers as ``StoreEvent/failure(_:)`` and does not spoil the answer.
    ///
    /// A loader may ask for other keys, of any store. One that waits for its own, directly or by way of other loaders, gets
    /// ``VellumError/Code/recursiveLoad``. That goes by task-local values: whatever a loader starts with `Task { }` counts as part of
    /// it, also where it does not wait for that, and a `Task.detached` never does, also where it waits.
    ///
    /// Looking for what is there blocks as ``value(forKey:under:)`` does, and nothing else here blocks. An entry that cannot be decoded, or does not
    /// match its checksum, is reported and loaded anew.
    ///
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - expiration: For how long the caller takes entries that have no age of their own.
    ///   - staleWhileRevalidate: For how long past its age the caller takes an old value at once, while it is loaded anew behind it. That is no
    ///     use of it. A loader that fails then is told to observers.
    ///   - staleIfError: For how long past its age the caller takes an old value if the loader fails, which observers are told.
    ///   - options: What becomes of what is loaded.
    ///   - load: Asks the source.
    /// - Complexity: O(1) in memory, O(log n) on disk, and what the loader costs.
    /// - Throws: What the loader throws, to everyone who waited; it is asked again next time, unless ``LoadOptions/errorMaxAge`` says
    ///   otherwise. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the disk cannot be read
    ///   or a duration is negative.
    @inlinable
    package func value(
        forKey key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try options.check()
        if let value = try hit(key, expiration, staleWhileRevalidate, staleIfError) { return value }
        return try await loaded(key, expiration, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The same, with a loader that may find that there is nothing, which ``LoadOptions/negativeMaxAge`` remembers: `nil`.
    ///
    /// What was there before and is past its age is removed then. CachedForm in memory, for some thousand keys, until something
    /// is written or removed under the key.
    @_disfavoredOverload  // A closure whose type does not say is one that finds a value.
    @inlinable
    package func value(
        forKey key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Value? {
        try options.check()
        if let value = try hit(key, expiration, staleWhileRevalidate, staleIfError) { return value }
        return try await loadedIfAny(key, expiration, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The value under the key, loaded if there is no valid one, and where it came from.
    ///
    /// `value(forKey:)` with a loader, for who wants to know whether it is old.
    @inlinable
    package func load(
        _ key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        try options.check()
        if let value = try hit(key, expiration, staleWhileRevalidate, staleIfError) { return Loaded(value, .cached) }
        return try await loaded(key, expiration, staleWhileRevalidate, staleIfError, options, load)
    }

    /// The same, with a loader that may find that there is nothing.
    @_disfavoredOverload  // A closure whose type does not say is one that finds a value.
    @inlinable
    package func load(
        _ key: EntryKey, under expiration: Expiration = .never, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try options.check()
        if let value = try hit(key, expiration, staleWhileRevalidate, staleIfError) { return Loaded(value, .cached) }
        return try await loadedIfAny(key, expiration, staleWhileRevalidate, staleIfError, options, load)
    }

    // MARK: Steps

    /// A valid value, without anything that waits. Allocates nothing.
    @inlinable
    func hit(_ key: EntryKey, _ expiration: Expiration, _ staleWhileRevalidate: Duration, _ staleIfError: Duration) throws(VellumError)
        -> Value?
    {
        if staleWhileRevalidate != .zero || staleIfError != .zero { try announce(expiration, staleWhileRevalidate, staleIfError) }
        return try valueIgnoringCorruption(key, under: expiration)
    }

    /// Says for how long expired entries are of use: also on a hit, so that the entry is still there when it expires.
    @usableFromInline
    func announce(_ expiration: Expiration, _ staleWhileRevalidate: Duration, _ staleIfError: Duration) throws(VellumError) {
        let staleWindow = max(try Expiration.milliseconds(staleWhileRevalidate), try Expiration.milliseconds(staleIfError))
        keepExpired(under: expiration, forMilliseconds: staleWindow)
    }

    @usableFromInline
    func loaded(
        _ key: EntryKey, _ expiration: Expiration, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Value
    ) async throws -> Loaded<Value> {
        let request = try LoadRequest<Value>(
            key: key, under: expiration, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError, options: options,
            absence: nil, takesNothing: false,
            additions: nil, load: loader)
        let answer = try await load(request)
        guard let value = answer.value else { preconditionFailure("A reader who takes no nil was given one.") }
        return Loaded(value, answer.source)
    }

    @usableFromInline
    func loadedIfAny(
        _ key: EntryKey, _ expiration: Expiration, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try await load(
            LoadRequest(
                key: key, under: expiration, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError, options: options,
                absence: nil, takesNothing: true,
                additions: nil, load: loader))
    }
}
