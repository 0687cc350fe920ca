/// Options for caching the result of a loader, and for waiting for it.
///
/// ```swift
/// let options = LoadOptions(
///     expiration: .after(.seconds(60)), errorMaxAge: .seconds(5),
///     softTimeout: .milliseconds(200))
/// let user = try await store.value(
///     forKey: "ann", staleIfError: .seconds(600), options: options
/// ) { try await download("ann") }
/// ```
///
/// ``softTimeout`` and ``timeout`` are those of each caller. Everything else belongs to the load:
/// the options of the caller that starts it apply, and callers that join it wait for the same
/// result.
@frozen
public struct LoadOptions: Sendable {
    /// How long a loaded value is valid for every reader; `nil` leaves that to each reader.
    public var expiration: Expiration?
    /// How long the result `nil` is cached. `nil`, zero or less: not cached.
    public var negativeMaxAge: Duration?
    /// How long a failure is cached and thrown again without calling the loader. `nil`, zero or
    /// less: not cached.
    public var errorMaxAge: Duration?
    /// What happens to the loader when its last waiter is cancelled.
    public var onLastWaiterCancelled = UnawaitedLoad.cancel
    /// After how long a caller takes a stale value that `staleIfError` allows, if there is one. The
    /// load goes on and is recorded, even if nobody waits for it any more. Not shorter than
    /// ``timeout``, it has no effect.
    public var softTimeout: Duration?
    /// After how long a caller stops waiting; zero or less: immediately. It takes a stale value
    /// that `staleIfError` allows, or throws ``VellumError/Code/loadTimedOut``. What happens to a
    /// loader that nobody waits for any more, ``onLastWaiterCancelled`` says.
    public var timeout: Duration?
    /// After how long a load ends whose loader has not returned: 30 seconds unless set; `nil`:
    /// never. Zero or less ends it immediately.
    ///
    /// The loader's task is cancelled, and what it returns is not stored. Who waits takes a stale
    /// value that `staleIfError` allows, or gets ``VellumError/Code/loadTimedOut``; the next caller
    /// starts another load. A loader that does not notice its cancellation keeps nothing but its
    /// own task.
    public var loadTimeout: Duration? = .seconds(30)
    /// After which part of its age a value is loaded again in the background when it is read, such
    /// as 0.8: at most one load at a time, and the reader gets the value at once. `nil`: only when
    /// it has expired.
    ///
    /// Failures of such loads are reported, and throttled by ``errorMaxAge``. The value stays until
    /// its age ends. Ages that count from the last use, and values that never expire, have no such
    /// part: an error.
    public var refreshAhead: Double?

    /// Creates options. A negative duration counts as zero. They are checked when a value is
    /// loaded: an expiration of NaN throws ``VellumError/Code/invalidDuration``, and so does a
    /// ``refreshAhead`` that is not between 0 and 1.
    @inlinable
    public init(
        expiration: Expiration? = nil,
        negativeMaxAge: Duration? = nil,
        errorMaxAge: Duration? = nil,
        onLastWaiterCancelled: UnawaitedLoad = .cancel,
        softTimeout: Duration? = nil,
        timeout: Duration? = nil,
        loadTimeout: Duration? = .seconds(30),
        refreshAhead: Double? = nil
    ) {
        self.expiration = expiration
        self.negativeMaxAge = negativeMaxAge
        self.errorMaxAge = errorMaxAge
        self.onLastWaiterCancelled = onLastWaiterCancelled
        self.softTimeout = softTimeout
        self.timeout = timeout
        self.loadTimeout = loadTimeout
        self.refreshAhead = refreshAhead
    }
}

extension LoadOptions {
    /// Throws ``VellumError/Code/invalidDuration`` if ``refreshAhead`` is no part of an age. Not on
    /// hits, which follow a load.
    ///
    /// - Parameter expiration: The age of loaded values; `nil` if the loader may say it.
    func checkPart(of expiration: Expiration?) throws(VellumError) {
        guard let part = refreshAhead else { return }
        if part > 0,
            part < 1,
            expiration.map({ $0.idle == .max && $0.age != .max }) ?? true
        {
            return
        }
        throw VellumError(
            .invalidDuration,
            """
            A refreshAhead of \(part) is not possible. Give the part of the age after which a \
            value is loaded again, such as 0.8, and an age that counts from the writing: values \
            that never expire, or whose age counts from the last use, have no last part.
            """
        )
    }
}

/// What happens to a loader when the last task that waits for it is cancelled.
@frozen
public enum UnawaitedLoad: Hashable, Sendable {
    /// The loader's task is cancelled, and its result is not recorded. The next caller starts
    /// another load without waiting for this one to end.
    case cancel
    /// The loader continues, and its result is recorded. One waiter with this option is enough.
    case finish
}

/// A value and its source.
@frozen
public struct Loaded<Value> {
    /// The value.
    public let value: Value
    /// Where the value came from.
    public let source: LoadSource

    /// Creates a value with its source.
    @inlinable
    public init(_ value: Value, _ source: LoadSource) {
        self.value = value
        self.source = source
    }

    /// Whether the value has expired and was returned all the same: it is being reloaded, or its
    /// loader failed or is slow.
    ///
    /// ```swift
    /// let prices = try await cache.load(
    ///     "prices", staleIfError: .seconds(600)
    /// ) { try await download() }
    /// label.isDimmed = prices.isStale
    /// ```
    @inlinable
    public var isStale: Bool {
        switch source {
        case .cached, .loaded, .loadedInOutage: false
        case .staleWhileRevalidate, .staleIfError, .staleIfSlow: true
        }
    }
}

extension Loaded: Sendable where Value: Sendable {}
extension Loaded: Equatable where Value: Equatable {}
