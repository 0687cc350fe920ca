internal import Foundation
internal import Synchronization
package import VellumCore
package import VellumEngine

// Loading: one loader of the fleet runs for a missing value, while its lease lasts. The faces say the contract.

extension SharedStore {
    /// A value whose age ended, or may have.
    struct Old: Sendable {
        var value: Value
        var expires: WallInstant

        func isWithin(_ staleness: Int64, at now: WallInstant) -> Bool { now < expires.advanced(byMilliseconds: staleness) }
    }

    /// How a load ended.
    enum LoadOutcome: Sendable {
        /// The server has a valid entry. `nil`: it says that there is no value.
        case found(Value?)
        /// The value is old enough to be loaded again, which goes on.
        case stale(Old)
        /// The loader returned.
        case loaded(Value?)
        /// The loader or the cache failed. The old value is for callers that accept one then.
        case failed(any Error, old: Old?)
        /// The server cannot be reached, and the starter accepts the old value instead of loading.
        case unreachable(Old)
    }

    /// Returns the value of a key, and loads it if there is no valid one.
    ///
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the key
    ///   was recorded by a newer version of the type, or the load would wait for itself.
    package func load(_ request: LoadRequest<Value>) async throws -> Loaded<Value?> {
        let (key, staleness) = (request.key, request.staleness)
        keepExpired(forMilliseconds: staleness.window)
        while true {
            switch near.hit(forKey: key) {
            case .value(let value): return Loaded(value, .cached)
            case .nothing where request.acceptsNil: return Loaded(nil, .cached)
            case .nothing, nil: break
            }
            if let error = rememberedFailure(of: key) {
                return try Self.oldValue(near.old(forKey: key).map(Old.init), insteadOf: error, staleness, now)
            }
            switch await loads.wait(for: key, keepsRunning: request.isKept, start: { start($0, request) }) {
            case .cancelled: throw CancellationError()
            case .recursive: throw VellumError.recursiveLoad
            case .finished(.found(let value), _):
                if value != nil || request.acceptsNil { return Loaded(value, .cached) }
            case .finished(.loaded(let value), let isStarter):
                if isStarter || value != nil || request.acceptsNil { return Loaded(value, .loaded) }
            case .finished(.stale(let old), _):
                if old.isWithin(staleness.whileRevalidate, at: now) {
                    return Loaded(old.value, .staleWhileRevalidate)
                }
            case .finished(.unreachable(let old), _):
                // A caller that accepts no old value loads by itself.
                if old.isWithin(staleness.ifError, at: now) { return Loaded(old.value, .staleIfError) }
            case .finished(.failed(let error, let old), let isStarter):
                let answer = try Self.oldValue(old, insteadOf: error, staleness, now)
                if isStarter { report(error) }
                return answer
            }
        }
    }

    private static func oldValue(
        _ old: Old?, insteadOf error: any Error, _ staleness: Staleness, _ now: WallInstant
    ) throws -> Loaded<Value?> {
        guard let old, old.isWithin(staleness.ifError, at: now) else { throw error }
        return Loaded(old.value, .staleIfError)
    }

    package func report(_ error: any Error) {
        let error = (error as? VellumError) ?? VellumError(.loadFailed, "A loader failed.", cause: error)
        failures.send(error.located(archive: name, path: nil))
    }

    // MARK: Failures that are remembered

    private func rememberedFailure(of key: EntryKey) -> (any Error)? {
        let now = WallInstant(rawValue: times.clock.now())
        guard let item = failedLoads.withLock({ $0.item(key) }), item.isValid(at: now), case .failure(let error) = item.answer else {
            return nil
        }
        return error
    }

    private func remember(_ error: any Error, _ request: LoadRequest<Value>) {
        // A cancelled loader says nothing about its source.
        guard request.errorMaxAge > 0, !(error is CancellationError) else { return }
        let now = WallInstant(rawValue: times.clock.now())
        let item = NegativeCache.Item(
            answer: .failure(error), since: now, until: now.advanced(byMilliseconds: request.errorMaxAge), version: 0)
        failedLoads.withLock { _ = $0.insert(item, forKey: request.key) }
    }

    func forgetFailure(of key: EntryKey) { failedLoads.withLock { _ = $0.remove(key, version: 0) } }

    // MARK: One load

    private func start(_ load: UInt64, _ request: LoadRequest<Value>) {
        let task = Task {
            let outcome = await run(load, request)
            let waiters = loads.finish(load, outcome)
            if case .failed(let error, _) = outcome, waiters == nil || waiters == 0 { report(error) }
        }
        loads.onCancel(load) { task.cancel() }
    }

    private func run(_ load: UInt64, _ request: LoadRequest<Value>) async -> LoadOutcome {
        let key = request.key
        let end = times.clock.now() + times.longestWait
        var ignoresEntry = false
        while true {
            // Before the server is asked, so that no change is missed.
            let changes = signals.subscribe(to: key)
            defer { signals.end(changes) }
            let (ticket, token) = (near.ticket(forKey: key), LeaseToken.random())
            let answer: LeaseAnswer
            do throws(RemoteFailure) {
                try await finishRemovals(of: key)
                answer = try await backend.entryOrLease(forKey: key, token: token, ignoresEntry: ignoresEntry)
            } catch {
                // The lease may have been granted. A task of its own, because this one may be cancelled.
                if error != error.beforeSending || error == .cancelled { Task { await giveBack(token, key) } }
                if error == .cancelled { return .failed(CancellationError(), old: nil) }
                return await loadAlone(load, request, insteadOf: VellumError(error, cache: name))
            }
            switch answer {
            case .found(let entry):
                do throws(VellumError) {
                    if let found = try receive(entry, key, ticket), found != nil || request.acceptsNil { return .found(found) }
                } catch {
                    // No loader may replace what a newer version wrote.
                    if error.code == .newerVersion { return .failed(error, old: nil) }
                    failures.send(error)
                }
                ignoresEntry = true
            case .granted(let entry):
                let old = old(entry, key)
                if let old, old.isWithin(request.staleness.whileRevalidate, at: now) {
                    // The caller has its answer; this task goes on without waiters.
                    loads.finish(load, .stale(old))
                    return await loadHolding(token, nil, request, old)
                }
                return await loadHolding(token, load, request, old)
            case .busy(let rest, let entry):
                if let old = old(entry, key), old.isWithin(request.staleness.whileRevalidate, at: now) {
                    return .stale(old)
                }
                let remaining = end - times.clock.now()
                if remaining <= 0 || Task.isCancelled { return await call(load, request, old: old(entry, key)) }
                // Waiters whose lease ends at once ask one after another.
                let jitter = Int64.random(in: 1...20)
                await changes.wait(atMost: min(min(max(rest, 0), remaining) + jitter, remaining), sleep: times.sleep)
            }
        }
    }

    private func old(_ entry: RemoteEntry, _ key: EntryKey) -> Old? {
        guard case .record(let record) = entry else { return nil }
        do throws(VellumError) {
            return try decode(record, key).map { Old(value: $0, expires: record.expires) }
        } catch {
            return nil  // It has expired, and is loaded now.
        }
    }

    // MARK: Calling the loader

    /// Loads without the server, or takes what this process remembers.
    private func loadAlone(_ load: UInt64, _ request: LoadRequest<Value>, insteadOf error: VellumError) async -> LoadOutcome {
        failures.send(error)
        if request.staleness.ifError > 0 {
            let remembered = near.old(forKey: request.key).map(Old.init)
            if let old = remembered, old.isWithin(request.staleness.ifError, at: now) { return .unreachable(old) }
        }
        return await call(load, request, old: nil)
    }

    /// The server's time. Before the first connection there are no old values, and none is valid.
    private var now: WallInstant { trust.time() ?? .never }

    /// Calls the loader. What it returns is stored by the caller, if at all.
    private func call(_ load: UInt64?, _ request: LoadRequest<Value>, old: Old?) async -> LoadOutcome {
        do {
            let running = ReentrancyGuard(.load(load ?? LoadCoordinator<EntryKey, LoadOutcome>.newNumber()))
            defer { running.end() }
            loaderCalls.add(1, ordering: .relaxed)
            return .loaded(try await running.run { try await request.load() })
        } catch {
            remember(error, request)
            return .failed(error, old: old)
        }
    }

    /// Calls the loader while the lease is held, and stores what it returns, if nobody set or removed the key meanwhile.
    ///
    /// - Parameter load: `nil` if the load has ended, because its callers took an old value.
    private func loadHolding(_ token: LeaseToken, _ load: UInt64?, _ request: LoadRequest<Value>, _ old: Old?) async -> LoadOutcome {
        let key = request.key
        let renewal = Task { [backend, times] in
            do {
                while true {
                    try await times.sleep(max(1, backend.leaseDuration / 3))
                    guard try await backend.renew(token, forKey: key) else { return }
                }
            } catch {}  // The loader has ended; or the server is out of reach, and the lease ends by itself.
        }
        let outcome = await call(load, request, old: old)
        renewal.cancel()
        // A task of its own, because a cancelled one cannot tell the server that its lease has ended.
        await Task { await store(outcome, token, load, request, old) }.value
        return outcome
    }

    private func giveBack(_ token: LeaseToken, _ key: EntryKey) async {
        do throws(RemoteFailure) {
            try await backend.giveBack(token, forKey: key)
        } catch {}  // The lease ends by itself.
    }

    private func store(
        _ outcome: LoadOutcome, _ token: LeaseToken, _ load: UInt64?, _ request: LoadRequest<Value>, _ old: Old?
    ) async {
        let key = request.key
        do {
            // The result of an abandoned load is not stored.
            guard case .loaded(let value) = outcome, load.map(loads.isRunning) ?? true else {
                return try await backend.giveBack(token, forKey: key)
            }
            guard value != nil || request.negativeMaxAge > 0 || old != nil else { return try await backend.giveBack(token, forKey: key) }
            let age = value == nil ? Expiration(age: request.negativeMaxAge) : request.ownExpiration ?? request.expiration
            var (record, lifetime) = try record(value.map(coding.encode), key, age)
            // There is no value any more: the old one must not be returned.
            if value == nil, request.negativeMaxAge == 0 { lifetime = 1 }
            if try await backend.fill(record, forKey: key, lifetime: lifetime, token: token) {
                near.forget([key])
            } else {
                declinedFills.add(1, ordering: .relaxed)
            }
        } catch let failure as RemoteFailure {
            failures.send(VellumError(failure, cache: name))
        } catch {
            report(error)
        }
    }
}
