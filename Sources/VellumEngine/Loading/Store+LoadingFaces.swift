public import VellumCore

// Loading, for the faces.

extension Store where Value: Sendable {
    /// The value under the key, loaded if there is no valid one; `nil` where there is none, which may be written down.
    ///
    /// - Parameters:
    ///   - absence: What stands for nothing in this store. A valid one that is found is the answer `nil`, and is none to a reader
    ///     who takes no `nil`; one that is past its age is never served for stale.
    ///   - takesNothing: Whether `nil` is an answer to this reader. If not, the loader must return a value.
    ///   - additions: What else is recorded with a loaded value, in the same transaction, or not if the value is not. Runs outside
    ///     every lock.
    /// - Throws: As `value(forKey:)` with a loader does.
    package func load(
        _ key: EntryKey, under expiration: Expiration, staleWhileRevalidate: Duration, staleIfError: Duration, options: LoadOptions,
        absence: Tombstone<Value>?, takesNothing: Bool,
        additions: (@Sendable (Value, inout StoreTransaction) throws(VellumError) -> Void)? = nil,
        orLoad load: @escaping @Sendable () async throws -> Value?
    ) async throws -> Loaded<Value?> {
        try announce(expiration, staleWhileRevalidate, staleIfError)
        let request = try LoadRequest(
            key: key, under: expiration, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError, options: options,
            absence: absence,
            takesNothing: takesNothing, additions: additions, load: load)
        if case .found(let value) = try answerAtHand(request) { return Loaded(value, .cached) }
        return try await self.load(request)
    }

    /// The value under the key, without anything that waits: what a face looks for before it asks for a load.
    ///
    /// - Throws: ``VellumError`` if the disk cannot be read or a duration is negative. An entry that cannot be read is reported and
    ///   as good as none.
    @inlinable
    package func hit(
        forKey key: EntryKey, under expiration: Expiration, staleWhileRevalidate: Duration, staleIfError: Duration
    ) throws(VellumError) -> Value? {
        try hit(key, expiration, staleWhileRevalidate, staleIfError)
    }
}
