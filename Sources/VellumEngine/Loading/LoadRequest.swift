package import VellumCore

/// How long past its age a caller accepts a stale value (RFC 5861), in milliseconds.
package struct Staleness: Hashable, Sendable {
    /// While the value is loaded again in the background.
    package var whileRevalidate: Int64 = 0
    /// If the loader fails.
    package var ifError: Int64 = 0

    /// The longer of the two.
    package var window: Int64 { max(whileRevalidate, ifError) }

    /// - Throws: ``VellumError/Code/invalidDuration`` if a duration is negative.
    package init(whileRevalidate: Duration, ifError: Duration) throws(VellumError) {
        self.whileRevalidate = try Expiration.milliseconds(whileRevalidate, as: "staleWhileRevalidate")
        self.ifError = try Expiration.milliseconds(ifError, as: "staleIfError")
    }
}

/// A request to return a value, or to load it if it is missing.
package struct LoadRequest<Value: Sendable>: Sendable {
    package typealias Addition = @Sendable (Value, inout StoreTransaction) throws(VellumError) -> Void

    package var key: EntryKey
    /// How long the caller accepts entries that have no age of their own.
    package var expiration: Expiration
    package var staleness: Staleness
    /// How long the loaded value is valid for every caller.
    package var ownExpiration: Expiration?
    /// For how many milliseconds `nil` and a failure are cached; 0 for not at all.
    package var negativeMaxAge: Int64
    package var errorMaxAge: Int64
    /// Whether the loader goes on without waiters.
    package var isKept: Bool
    /// The value that stands for `nil` in this store, if such answers are recorded.
    package var tombstone: Tombstone<Value>?
    /// Whether `nil` is an answer to this caller. If not, the loader must return a value.
    package var acceptsNil = false
    /// What is recorded with the value, in the same transaction. Runs outside every lock.
    package var addition: Addition?
    package var load: @Sendable () async throws -> Value?

    /// - Throws: ``VellumError/Code/invalidDuration`` if a duration is negative.
    package init(
        key: EntryKey, under expiration: Expiration, staleness: Staleness, options: LoadOptions,
        load: @escaping @Sendable () async throws -> Value?
    ) throws(VellumError) {
        self.key = key
        self.expiration = expiration
        self.staleness = staleness
        ownExpiration = options.expiration
        negativeMaxAge = if let age = options.negativeMaxAge { try Expiration.milliseconds(age, as: "negativeMaxAge") } else { 0 }
        errorMaxAge = if let age = options.errorMaxAge { try Expiration.milliseconds(age, as: "errorMaxAge") } else { 0 }
        isKept = options.onLastWaiterCancelled == .finish
        self.load = load
    }

    /// What a value that was found means to this caller; `nil` if it counts as missing.
    func answer(of value: Value) -> LoadAnswer<Value>? {
        switch tombstone?.meaning(value, key) ?? .value {
        case .value: .found(value)
        case .nothing: acceptsNil ? .found(nil) : nil
        case .unreadable: nil
        }
    }
}
