/// Options for caching the result of a loader.
///
/// ```swift
/// let options = LoadOptions(expiration: .after(.seconds(60)), errorMaxAge: .seconds(5))
/// let user = try await store.value(forKey: "ann", options: options) { try await download("ann") }
/// ```
///
/// The options of the caller that starts a load apply. Callers that join it wait for the same result.
@frozen
public struct LoadOptions: Sendable {
    /// How long a loaded value is valid for every reader; `nil` leaves that to each reader.
    public var expiration: Expiration?
    /// How long the result `nil` is cached. `nil` or zero: not cached.
    public var negativeMaxAge: Duration?
    /// How long a failure is cached and thrown again without calling the loader. `nil` or zero: not cached.
    public var errorMaxAge: Duration?
    /// What happens to the loader when its last waiter is cancelled.
    public var onLastWaiterCancelled: UnawaitedLoad

    /// Creates options. Durations are checked when they are used: a negative one throws ``VellumError/Code/invalidDuration``.
    @inlinable
    public init(
        expiration: Expiration? = nil, negativeMaxAge: Duration? = nil, errorMaxAge: Duration? = nil,
        onLastWaiterCancelled: UnawaitedLoad = .cancel
    ) {
        self.expiration = expiration
        self.negativeMaxAge = negativeMaxAge
        self.errorMaxAge = errorMaxAge
        self.onLastWaiterCancelled = onLastWaiterCancelled
    }
}

extension LoadOptions {
    /// Throws ``VellumError/Code/invalidDuration`` if a duration is negative, even if nothing is loaded.
    @inlinable
    package func check() throws(VellumError) {
        if negativeMaxAge == nil, errorMaxAge == nil { return }
        if let negativeMaxAge { _ = try Expiration.milliseconds(negativeMaxAge, as: "negativeMaxAge") }
        if let errorMaxAge { _ = try Expiration.milliseconds(errorMaxAge, as: "errorMaxAge") }
    }
}

/// What happens to a loader when the last task that waits for it is cancelled.
@frozen
public enum UnawaitedLoad: Hashable, Sendable {
    /// The loader's task is cancelled, and its result is not recorded. The next caller starts another load without waiting for this one to
    /// end.
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

    /// Whether the value has expired and was returned all the same: it is being reloaded, or its loader failed.
    ///
    /// ```swift
    /// let prices = try await cache.load("prices", staleIfError: .seconds(600)) { try await download() }
    /// label.isDimmed = prices.isStale
    /// ```
    @inlinable
    public var isStale: Bool {
        switch source {
        case .cached, .loaded: false
        case .staleWhileRevalidate, .staleIfError: true
        }
    }
}

extension Loaded: Sendable where Value: Sendable {}
extension Loaded: Equatable where Value: Equatable {}

/// Where a value that may have been loaded came from.
@frozen
public enum LoadSource: Hashable, Sendable {
    /// The value was cached, and is valid.
    case cached
    /// The value was cached and has expired; it is being reloaded: *stale-while-revalidate* (RFC 5861, section 3).
    case staleWhileRevalidate
    /// The loader returned it.
    case loaded
    /// The value was cached and has expired, and the loader failed: *stale-if-error* (RFC 5861, section 4).
    case staleIfError
}
