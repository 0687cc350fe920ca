public import VellumCore

// Expired values, for callers that take them while a new one is loaded, or if that fails.

extension Store {
    /// Keeps expired entries for so many milliseconds, for callers with this expiration. The longest window holds, and is stored in the file
    /// when it grows.
    @usableFromInline
    func keepExpired(under expiration: Expiration, forMilliseconds milliseconds: Int64) {
        let isLonger = staleWindows.withLock { staleWindows in
            guard milliseconds > staleWindows[expiration] ?? 0 else { return false }
            staleWindows[expiration] = milliseconds
            return true
        }
        guard isLonger else { return }
        // In the background: the caller may be about to take a hit.
        BlockingPool.start { [weak self] in
            guard let self else { return }
            do throws(VellumError) {
                try self.disk.setRetention(expiration, staleWindow: milliseconds)
            } catch {
                // Expired values may be removed sooner than they are asked for.
                self.report(error)
            }
        }
    }
}

extension Store where Value: Sendable {
    /// Returns the value under the key if its age ended less than so many milliseconds ago. Does not affect the eviction order, which would
    /// prolong a sliding age.
    func staleValue(for request: LoadRequest<Value>, within window: Int64, at now: WallInstant) throws(VellumError) -> Value? {
        guard window > 0 else { return nil }
        if memory.peek(request.key) != nil { return try staleValueInMemory(for: request, within: window, at: now) }
        do throws(VellumError) {
            return try expired(try entryOnDisk(forKey: request.key), request, within: window, at: now)
        } catch {
            // It was reported where it was found.
            guard error.concernsOneEntry else { throw error }
            return nil
        }
    }

    /// The same, for a caller that has just looked at the disk.
    func staleValueInMemory(for request: LoadRequest<Value>, within window: Int64, at now: WallInstant) throws(VellumError) -> Value? {
        guard window > 0, let item = memory.peek(request.key),
            hasEnded(item.validity, request, within: window, lastUse: item.stamp, at: now)
        else { return nil }
        switch item.payload {
        case .value(let value): return meaningful(value, request)
        case .bytes(let bytes):
            do throws(VellumError) {
                return meaningful(try decode(bytes, of: request.key), request)
            } catch {
                return nil  // It was reported where it was found.
            }
        }
    }

    /// The value of an entry that was read from the disk, if its age ended less than so many milliseconds ago.
    func expired(_ entry: Entry?, _ request: LoadRequest<Value>, within window: Int64, at now: WallInstant) throws(VellumError) -> Value? {
        guard window > 0, let entry,
            hasEnded(entry.validity, request, within: window, lastUse: try lastUse(of: entry, request.key), at: now)
        else { return nil }
        return try decode(entry, of: request.key).flatMap { meaningful($0, request) }
    }

    private func hasEnded(
        _ validity: Validity, _ request: LoadRequest<Value>, within window: Int64, lastUse: UseStamp, at now: WallInstant
    ) -> Bool {
        validity.hasEnded(within: window, before: now, request.key, lastUse: lastUse, under: request.expiration)
    }

    /// A recorded `nil` is not worth keeping beyond its age.
    private func meaningful(_ value: Value, _ request: LoadRequest<Value>) -> Value? {
        if case .value = request.tombstone?.meaning(value, request.key) ?? .value { value } else { nil }
    }
}
