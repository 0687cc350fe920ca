public import VellumCore
public import VellumEngine

extension ArchiveStore where Archive: Sendable {
    // MARK: Loading

    /// The object under the key, loaded if there is no valid one. A use of it.
    ///
    /// ```swift
    /// let user = try await users.value(forKey: "ann", staleWhileRevalidate: .seconds(600)) {
    ///     try await download("ann")
    /// }
    /// ```
    ///
    /// However many tasks ask for one key at a time, one loader runs, that of the first (*single-flight*); the others wait for
    /// what it returns. Different keys do not wait for one another. The loader runs in a task of its own, on no actor. A task that
    /// is cancelled stops waiting at once, and no other does; when the last one stops, the loader is cancelled, or goes on, as
    /// ``LoadOptions/onLastWaiterCancelled`` says.
    ///
    /// What was loaded is recorded before anyone gets it, with its archivable properties, on a thread that may wait. It is not
    /// recorded if something was recorded or deleted under the key while the loader ran; everyone who waited gets it all the same.
    /// That it cannot be recorded is told to observers and does not spoil the answer.
    ///
    /// A loader may ask for other keys, of any archive. One that waits for its own, directly or by way of other loaders, gets
    /// ``StoreError/Code/recursiveLoad``. Whatever a loader starts with `Task { }` counts as part of it; a `Task.detached` does not.
    ///
    /// Looking for what is there blocks as ``access(archiveWithKey:)`` does, and nothing else here blocks. An object that cannot be decoded, or whose
    /// entry is damaged, is reported and loaded anew.
    ///
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - staleWhileRevalidate: For how long past its age the caller takes an old object at once, while it is loaded anew behind it. That is
    ///     no use of it. A loader that fails then is told to observers.
    ///   - staleIfError: For how long past its age the caller takes an old object if the loader fails, which observers are told.
    ///   - options: What becomes of what is loaded; an age that is not said is that of this handle.
    ///   - load: Asks the source. The object must have the key that is asked for.
    /// - Complexity: O(1) in memory, O(log n) on disk, and what the loader costs.
    /// - Throws: What the loader throws, to everyone who waited; it is asked again next time, unless ``LoadOptions/errorMaxAge`` says
    ///   otherwise. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the disk cannot be
    ///   read, a duration is negative, or the loaded object has another key (``StoreError/Code/otherKey``).
    @inlinable
    public func value(
        forKey key: String, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Archive
    ) async throws -> Archive {
        try checked(options)
        if let object = try hit(key, staleWhileRevalidate, staleIfError) { return object }
        return try await loaded(key, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The same, with a loader that may find that there is nothing, which ``LoadOptions/negativeMaxAge`` remembers: `nil`.
    @_disfavoredOverload  // A closure whose type does not say is one that finds an object.
    @inlinable
    public func value(
        forKey key: String, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Archive? {
        try checked(options)
        if let object = try hit(key, staleWhileRevalidate, staleIfError) { return object }
        return try await loadedIfAny(key, staleWhileRevalidate, staleIfError, options, load).value
    }

    /// The object under the key, loaded if there is no valid one, and where it came from.
    ///
    /// `value(forKey:)` with a loader, for who wants to know whether it is old.
    @inlinable
    public func load(
        _ key: String, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Archive
    ) async throws -> Loaded<Archive> {
        try checked(options)
        if let object = try hit(key, staleWhileRevalidate, staleIfError) { return Loaded(object, .cached) }
        return try await loaded(key, staleWhileRevalidate, staleIfError, options, load)
    }

    /// The same, with a loader that may find that there is nothing.
    @_disfavoredOverload  // A closure whose type does not say is one that finds an object.
    @inlinable
    public func load(
        _ key: String, staleWhileRevalidate: Duration = .zero, staleIfError: Duration = .zero,
        options: LoadOptions = LoadOptions(), orLoad load: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Loaded<Archive?> {
        try checked(options)
        if let object = try hit(key, staleWhileRevalidate, staleIfError) { return Loaded(object, .cached) }
        return try await loadedIfAny(key, staleWhileRevalidate, staleIfError, options, load)
    }

    // MARK: Steps

    @inlinable
    func checked(_ options: LoadOptions) throws(VellumError) {
        try strictly { () throws(StoreError) in try options.check() }
    }

    @inlinable
    func hit(_ key: String, _ staleWhileRevalidate: Duration, _ staleIfError: Duration) throws(VellumError) -> Archive? {
        do throws(StoreError) {
            guard !mark.isClosed else { throw .closed }
            return try engine.hit(
                forKey: EntryKey(key), under: .never, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError)
        } catch {
            throw VellumError(error)
        }
    }

    @usableFromInline
    func loaded(
        _ key: String, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Archive
    ) async throws -> Loaded<Archive> {
        let answer = try await load(key, staleWhileRevalidate, staleIfError, options, takesNothing: false, loader)
        guard let object = answer.value else { preconditionFailure("A reader who takes no nil was given one.") }
        return Loaded(object, answer.source)
    }

    @usableFromInline
    func loadedIfAny(
        _ key: String, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        _ loader: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Loaded<Archive?> {
        try await load(key, staleWhileRevalidate, staleIfError, options, takesNothing: true, loader)
    }

    private func load(
        _ key: String, _ staleWhileRevalidate: Duration, _ staleIfError: Duration, _ options: LoadOptions,
        takesNothing: Bool, _ loader: @escaping @Sendable () async throws -> Archive?
    ) async throws -> Loaded<Archive?> {
        let key = EntryKey(key)
        var options = options
        options.expiration = options.expiration ?? expiration
        do {
            return try await engine.load(
                key, under: .never, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError, options: options, absence: nil,
                takesNothing: takesNothing,
                additions: { [self] (object, transaction) throws(StoreError) in
                    guard !mark.isClosed else { throw .closed }
                    try nesting.add(propertiesOf: object, to: &transaction, factory)
                }
            ) {
                guard let object = try await loader() else { return nil }
                // It would be recorded where nobody looks for it.
                guard EntryKey(object.primaryKey) == key else { throw StoreError.otherKey }
                return object
            }
        } catch let error as StoreError {
            throw VellumError(error)
        }
    }
}

extension StoreError.Code {
    /// A loader returned an object with another key than was asked for.
    public static let otherKey = StoreError.Code("otherKey")
}

extension StoreError {
    fileprivate static var otherKey: StoreError {
        StoreError(.otherKey, "A loader returned an object whose `primaryKey` is not the key that was asked for.")
    }
}
