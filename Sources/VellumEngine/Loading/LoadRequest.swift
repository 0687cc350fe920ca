internal import VellumCore

/// What one reader asks for who would have a missing value loaded.
struct LoadRequest<Value: Sendable>: Sendable {
    var key: EntryKey
    /// For how long the reader takes entries that have no age of their own.
    var expiration: Expiration
    /// For how many milliseconds past its end the reader takes a value while it is loaded anew.
    var staleWhileRevalidate: Int64
    /// For how many milliseconds past its end the reader takes a value when the loader fails.
    var staleIfError: Int64
    /// How long the loaded value is valid, whoever reads.
    var ownExpiration: Expiration?
    /// For how many milliseconds `nil` and a failure are remembered; 0 for not at all.
    var negativeMaxAge: Int64
    var errorMaxAge: Int64
    /// Whether the loader goes on when nobody waits any more.
    var isKept: Bool
    /// What stands for nothing in this store, if such answers are written down.
    var absence: Tombstone<Value>?
    /// Whether the reader takes `nil` for an answer.
    var takesNothing: Bool
    /// What else is recorded with a value, in the same transaction.
    var additions: (@Sendable (Value, inout StoreTransaction) throws(VellumError) -> Void)?
    var load: @Sendable () async throws -> Value?

    init(
        key: EntryKey, under expiration: Expiration, staleWhileRevalidate: Duration, staleIfError: Duration, options: LoadOptions,
        absence: Tombstone<Value>?, takesNothing: Bool, additions: (@Sendable (Value, inout StoreTransaction) throws(VellumError) -> Void)?,
        load: @escaping @Sendable () async throws -> Value?
    ) throws(VellumError) {
        self.key = key
        self.expiration = expiration
        self.staleWhileRevalidate = try Expiration.milliseconds(staleWhileRevalidate)
        self.staleIfError = try Expiration.milliseconds(staleIfError)
        ownExpiration = options.expiration
        negativeMaxAge = if let age = options.negativeMaxAge { try Expiration.milliseconds(age) } else { 0 }
        errorMaxAge = if let age = options.errorMaxAge { try Expiration.milliseconds(age) } else { 0 }
        isKept = options.onLastWaiterCancelled == .finish
        self.absence = absence
        self.takesNothing = takesNothing
        self.additions = additions
        self.load = load
    }

    /// What a value that was found says to this reader; `nil` if it is as good as none.
    func answer(of value: Value) -> LoadAnswer<Value>? {
        switch absence?.meaning(value) ?? .value {
        case .value: .found(value)
        case .nothing: takesNothing ? .found(nil) : nil
        case .unreadable: nil
        }
    }
}
