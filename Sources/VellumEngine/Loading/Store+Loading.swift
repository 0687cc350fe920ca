public import VellumCore

// Loading: a missing value is requested from its source, once for all waiting callers. The faces
// say the contract, and `LoadingStore` decides what a caller gets.

extension Store where Value: Sendable {
    /// Returns the valid value under the key if memory has it. Allocates nothing.
    ///
    /// A value that cannot be read counts as missing: it was reported.
    ///
    /// - Parameter isDue: Set if the given part of the value's age is over.
    @inlinable
    package func hit(
        forKey key: EntryKey,
        under expiration: Expiration,
        refreshAhead part: Double? = nil,
        isDue: UnsafeMutablePointer<Bool>? = nil
    ) throws(VellumError) -> Value? {
        do throws(VellumError) {
            return try valueInMemory(
                forKey: key,
                under: expiration,
                ahead: RefreshAhead(part, isDue: isDue)
            )
        } catch {
            if error.concernsOneEntry { return nil }
            throw error
        }
    }

    /// Returns the value under the key, and loads it if there is no valid one.
    ///
    /// - Parameters:
    ///   - hasLooked: Whether the caller has just found no value in memory and on the disk.
    ///   - addition: What is recorded with a loaded value, in the same transaction. Runs outside
    ///     every lock.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled
    ///   while it waits. ``VellumError`` if the disk cannot be read, or
    ///   ``VellumError/Code/recursiveLoad`` if the load would wait for itself.
    package func load(
        _ request: LoadRequest<Value>,
        hasLooked: Bool = false,
        adding addition: StoreLoader<Value>.Addition? = nil
    ) async throws -> Loaded<Value?> {
        let staleness = request.staleness
        if staleness.window > 0 {
            keepExpired(under: request.expiration, forMilliseconds: staleness.window)
        }
        let loader = StoreLoader(self, adding: addition)
        let first =
            hasLooked
            ? loader.lookForTombstone(request)
            : try await loader.look(request, within: staleness.whileRevalidate, afterFailure: false)
        return try await loader.answer(to: request, after: first)
    }

    /// Loads a value in the background that is still valid.
    package func refreshAhead(
        _ request: LoadRequest<Value>,
        adding addition: StoreLoader<Value>.Addition? = nil
    ) {
        StoreLoader(self, adding: addition).refreshAhead(request)
    }
}

extension Store {
    /// Keeps expired entries for so many milliseconds, for callers with this expiration. The
    /// longest window holds, and is stored in the file when it grows.
    @usableFromInline
    func keepExpired(under expiration: Expiration, forMilliseconds milliseconds: Int64) {
        let isLonger = staleWindows.withLock { staleWindows in
            guard milliseconds > staleWindows[expiration] ?? 0 else { return false }
            staleWindows[expiration] = milliseconds
            return true
        }
        guard isLonger else { return }
        // In the background: the caller may be about to take a hit.
        lanes.visits.start { [weak self] in
            self?.keepExpired(under: expiration, for: .milliseconds(milliseconds))
        }
    }
}
