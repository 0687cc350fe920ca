/// What becomes of an answer that was loaded.
///
/// ```swift
/// let options = LoadOptions(expiration: .after(.seconds(60)), errorMaxAge: .seconds(5))
/// let user = try await store.value(forKey: "ann", options: options) { try await download("ann") }
/// ```
///
/// The caller that starts a load decides. Callers that join it wait for the same answer.
@frozen
public struct LoadOptions: Sendable {
    /// How long a loaded value is valid, whoever reads; `nil` leaves that to each reader.
    public var expiration: Expiration?
    /// How long `nil` is remembered as the answer; `nil`: not at all. Zero is not at all, too.
    public var negativeMaxAge: Duration?
    /// How long a failure is remembered and thrown again without asking the loader; `nil`: not at all.
    public var errorMaxAge: Duration?
    /// What becomes of the loader when its last waiter was cancelled.
    public var onLastWaiterCancelled: UnawaitedLoad

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
    /// Refuses durations that are none, also where nothing is loaded.
    @inlinable
    package func check() throws(VellumError) {
        if negativeMaxAge == nil, errorMaxAge == nil { return }
        if let negativeMaxAge { _ = try Expiration.milliseconds(negativeMaxAge) }
        if let errorMaxAge { _ = try Expiration.milliseconds(errorMaxAge) }
    }
}

/// What becomes of a loader when the last task that waited for it was cancelled.
@frozen
public enum UnawaitedLoad: Hashable, Sendable {
    /// The loader's task is cancelled, and what it still returns is not recorded. The next caller starts another load, without waiting for
    /// this one to end.
    case cancel
    /// The loader goes on, and what it returns is recorded. It is enough that one waiter asked for that.
    case finish
}

/// A value, and where it came from.
@frozen
public struct Loaded<Value> {
    public let value: Value
    public let source: LoadSource

    @inlinable
    public init(_ value: Value, _ source: LoadSource) {
        self.value = value
        self.source = source
    }
}

extension Loaded: Sendable where Value: Sendable {}
extension Loaded: Equatable where Value: Equatable {}

/// Where a value came from that may have been loaded.
@frozen
public enum LoadSource: Hashable, Sendable {
    /// It was there, and valid.
    case cached
    /// It was there, but past its age; it is being loaded anew: *stale-while-revalidate* (RFC 5861, section 3).
    case staleWhileRevalidate
    /// The loader returned it.
    case loaded
    /// It was there, but past its age; the loader failed: *stale-if-error* (RFC 5861, section 4).
    case staleIfError
}
