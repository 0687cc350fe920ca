public import VellumCore

// Values past their age, for those who would rather have an old one than none or than wait.

extension Store {
    /// Says that entries are still of use for so many milliseconds past their ends, to readers that take them for as long as
    /// `expiration` says. The longest that was ever asked for holds, and the disk is told when it grows.
    @usableFromInline
    func keepExpired(under expiration: Expiration, forMilliseconds milliseconds: Int64) {
        let isLonger = staleWindows.withLock { staleWindows in
            guard milliseconds > staleWindows[expiration] ?? 0 else { return false }
            staleWindows[expiration] = milliseconds
            return true
        }
        guard isLonger else { return }
        // Written down behind the caller, who may have been about to take a hit.
        BlockingPool.start { [weak self] in
            guard let self else { return }
            do throws(VellumError) {
                try self.disk.setRetention(expiration, staleWindow: milliseconds)
            } catch {
                // Old values may be gone sooner than they are asked for.
                self.report(error)
            }
        }
    }
}

extension Store where Value: Sendable {
    /// The value under the key, if its age ended less than so many milliseconds ago. Not a use: it would prolong an age that slides.
    func oldValue(for request: LoadRequest<Value>, within staleWindow: Int64, at now: WallInstant) throws(VellumError) -> Value? {
        guard staleWindow > 0, let value = try oldValue(forKey: request.key, within: staleWindow, at: now, request.expiration) else {
            return nil
        }
        // That there was nothing is no value that anyone would rather have.
        return if case .value = request.absence?.meaning(value) ?? .value { value } else { nil }
    }

    private func oldValue(
        forKey key: EntryKey, within staleWindow: Int64, at now: WallInstant, _ expiration: Expiration
    ) throws(VellumError) -> Value? {
        do throws(VellumError) {
            if let item = memory.peek(key) {
                guard item.validity.hasEnded(within: staleWindow, before: now, key, lastUse: item.stamp, under: expiration) else {
                    return nil
                }
                return switch item.payload {
                case .value(let value): value
                case .bytes(let bytes): try decode(bytes, of: key)
                }
            }
            guard let entry = try entryOnDisk(forKey: key),
                entry.validity.hasEnded(within: staleWindow, before: now, key, lastUse: try lastUse(of: entry, key), under: expiration)
            else { return nil }
            return try decode(entry.bytes, of: key)
        } catch {
            // It was reported where it was found.
            guard error.concernsOneEntry else { throw error }
            return nil
        }
    }
}
