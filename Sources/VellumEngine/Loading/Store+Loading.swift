public import VellumCore

// Loading: a missing value is requested from its source, once for all waiting callers. The faces say the contract.
//
// A load that misses looks twice at the disk: once before it asks for a loader, and once inside the load, because another load may have
// ended in between.

extension Store where Value: Sendable {
    /// Returns the valid value under the key. Allocates nothing.
    ///
    /// A value that cannot be read counts as missing: it was reported.
    ///
    /// - Throws: ``VellumError`` if the disk cannot be read.
    @inlinable
    package func hit(forKey key: EntryKey, under expiration: Expiration) throws(VellumError) -> Value? {
        try valueIgnoringCorruption(key, under: expiration)
    }

    /// Returns the value under the key, and loads it if there is no valid one.
    ///
    /// - Parameter hasLooked: Whether ``hit(forKey:under:)`` has just found nothing.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the disk
    ///   cannot be read, or ``VellumError/Code/recursiveLoad`` if the load would wait for itself.
    package func load(_ request: LoadRequest<Value>, hasLooked: Bool) async throws -> Loaded<Value?> {
        if request.staleness.window > 0 { keepExpired(under: request.expiration, forMilliseconds: request.staleness.window) }
        let first = hasLooked ? try lookForTombstone(request) : try look(request)
        if case .found(let value) = first.answer { return Loaded(value, .cached) }
        var expired = first.expired
        while true {
            let now = clock.now()
            switch rememberedAnswer(for: request, at: now) {
            case .found: return Loaded(nil, .cached)
            case .failed(let error, _): return try staleValue(insteadOf: error, request, revalidating: true, at: now)
            case .loaded, nil: break
            }
            if let old = try expired ?? staleValueInMemory(for: request, within: request.staleness.whileRevalidate, at: now) {
                // At most one refresh at a time, and none while a load is running.
                if let load = loads.refresh(request.key) { start(load, request) }
                return Loaded(old, .staleWhileRevalidate)
            }
            switch await loads.wait(for: request.key, keepsRunning: request.isKept, start: { start($0, request) }) {
            case .cancelled: throw CancellationError()
            case .recursive: throw VellumError.recursiveLoad
            case .finished(.failed(let error, _), let isStarter):
                let answer = try staleValue(insteadOf: error, request, revalidating: false, at: clock.now())
                // Every waiter gets a stale value or the error. The caller that started the loader reports it for all.
                if isStarter { report(.loadFailed(error)) }
                return answer
            case .finished(.loaded(let value), let isStarter) where isStarter || takes(value, request): return Loaded(value, .loaded)
            case .finished(.found(let value), true): return Loaded(value, .cached)
            // What another caller accepts as an answer may be none for this one, which takes no `nil` or has another age.
            case .finished(.found, false), .finished(.loaded, _): break
            }
            let next = try look(request)
            if case .found(let value) = next.answer { return Loaded(value, .cached) }
            expired = next.expired
        }
    }

    // MARK: Looking

    /// What one look at memory and disk found.
    private struct CallersLook {
        var answer: LoadAnswer<Value>?
        /// A value whose age ended within ``Staleness/whileRevalidate``.
        var expired: Value?
    }

    /// Looks once in memory and once on the disk. A miss is counted.
    private func look(_ request: LoadRequest<Value>) throws(VellumError) -> CallersLook {
        let (key, now) = (request.key, clock.now())
        do throws(VellumError) {
            if let value = try valueInMemory(forKey: key, now, request.expiration) { return CallersLook(answer: request.answer(of: value)) }
            let ticket = memory.ticket(forMissed: key)
            let entry = try entryOnDisk(forKey: key)
            if let entry, try isValid(entry, of: key, at: now, request.expiration) {
                guard let value = try take(entry, forKey: key, ticket, at: now) else { return CallersLook() }
                return CallersLook(answer: request.answer(of: value))
            }
            countMiss()
            return CallersLook(expired: try expired(entry, request, within: request.staleness.whileRevalidate, at: now))
        } catch {
            // A cache that was opened with another version has nothing: the loader runs, and its value is not stored.
            guard error.concernsOneEntry || error.code == .cacheVersionChanged else { throw error }
            return CallersLook()
        }
    }

    /// Looks for a tombstone in memory: the caller has looked for values, and takes a tombstone for a miss.
    private func lookForTombstone(_ request: LoadRequest<Value>) throws(VellumError) -> CallersLook {
        guard request.tombstone != nil, let item = memory.peek(request.key), case .value(let value) = item.payload,
            item.isValid(at: clock.now(), request.key, under: request.expiration)
        else { return CallersLook() }
        return CallersLook(answer: request.answer(of: value))
    }

    /// The remembered answer for the key, if it still holds and this caller takes it.
    func rememberedAnswer(for request: LoadRequest<Value>, at now: WallInstant) -> LoadAnswer<Value>? {
        let key = request.key
        guard let item = negativeCache.withLock({ $0.item(key) }) else { return nil }
        guard item.isValid(at: now), memory.isUnchanged(key, since: item.version) else {
            if negativeCache.withLock({ $0.remove(key, version: item.version) }) { memory.unwatch(key) }
            return nil
        }
        return switch item.answer {
        case .nothing: request.acceptsNil ? .found(nil) : nil
        case .failure(let error): .failed(error, isNew: false)
        }
    }

    /// Whether what another caller's loader returned is an answer to this one.
    private func takes(_ value: Value?, _ request: LoadRequest<Value>) -> Bool {
        guard let value else { return request.acceptsNil }
        return if case .found = request.answer(of: value) { true } else { false }
    }

    /// What a caller gets if the loader failed: a valid value that was recorded meanwhile, or an old one, or the error.
    private func staleValue(
        insteadOf error: any Error, _ request: LoadRequest<Value>, revalidating: Bool, at now: WallInstant
    ) throws -> Loaded<Value?> {
        let whileRevalidate = revalidating ? request.staleness.whileRevalidate : 0
        guard request.staleness.ifError > 0 || whileRevalidate > 0 else { throw error }
        do throws(VellumError) {
            if let value = try valueIgnoringCorruption(request.key, under: request.expiration),
                case .found(let found) = request.answer(of: value)
            {
                return Loaded(found, .cached)
            }
            if let old = try staleValue(for: request, within: whileRevalidate, at: now) { return Loaded(old, .staleWhileRevalidate) }
            if let old = try staleValue(for: request, within: request.staleness.ifError, at: now) { return Loaded(old, .staleIfError) }
        } catch let other {
            // The loader's error says more than that no stale value could be read.
            report(other)
        }
        throw error
    }
}

extension VellumError {
    package static var recursiveLoad: VellumError {
        VellumError(
            .recursiveLoad,
            "A loader asks for the key that it loads, directly or through other loaders, and would wait forever. Load other keys only.")
    }

    static func loadFailed(_ cause: any Error) -> VellumError {
        VellumError(.loadFailed, "A loader failed and no caller received its error. What was recorded before is still there.", cause: cause)
    }
}
