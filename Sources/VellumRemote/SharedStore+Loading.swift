internal import Foundation
internal import Synchronization
package import VellumCore

// Loading: one loader of all machines runs for a missing value, while its lease lasts. The faces say the contract, and `LoadingStore` decides
// what a caller gets.

extension SharedStore: LoadingStore {
    /// The server's time. Before the first connection there are no old values, and none is valid.
    package var instant: WallInstant { trust.time() ?? .never }

    package func look(_ request: LoadRequest<Value>, within window: Int64, afterFailure: Bool) -> Look<Value> {
        let found = near.hit(forKey: request.key).flatMap { request.answer(of: $0.value) }
        // The server may have a newer value; if it was asked in vain, an old one is better than none.
        return Look(found: found, expired: afterFailure ? near.oldValue(forKey: request.key) : nil)
    }

    /// The server has them.
    package func recordsNil(of request: LoadRequest<Value>) -> Bool { true }

    package func report(_ error: VellumError) { failures.send(error.located(archive: name, path: nil)) }
}

extension SharedStore {
    /// Returns the value of a key, and loads it if there is no valid one.
    ///
    /// - Parameter hasLooked: Whether ``near`` has just had no answer.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled while it waits. ``VellumError`` if the key
    ///   was recorded by a newer version of the type, or the load would wait for itself.
    package func load(_ request: LoadRequest<Value>, hasLooked: Bool = false) async throws -> Loaded<Value?> {
        keepExpired(forMilliseconds: request.staleness.window)
        let first = hasLooked ? Look() : look(request, within: 0, afterFailure: false)
        return try await answer(to: request, after: first) { load in
            start(load, request) { await self.run(load, request, version: $0) }
        }
    }

    // MARK: One load

    private func run(_ load: UInt64, _ request: LoadRequest<Value>, version: UInt64) async -> LoadOutcome<Value> {
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
                if error.mayBeExecuted { Task { await giveBack(token, key) } }
                if error == .cancelled { return .failed(CancellationError(), old: nil, isNew: false) }
                return await loadAlone(load, request, insteadOf: VellumError(error, cache: name))
            }
            switch answer {
            case .found(let entry):
                if let outcome = outcome(ofFound: entry, request, ticket) { return outcome }
                ignoresEntry = true
            case .granted(let entry):
                let old = old(entry, key)
                guard let old, old.isWithin(request.staleness.whileRevalidate, at: instant) else {
                    return await loadHolding(token, load, request, old)
                }
                // The callers have their answer; this task goes on without waiters.
                loads.finish(load, .expired(old, .staleWhileRevalidate))
                let outcome = await loadHolding(token, nil, request, old)
                remember(outcome, request, version)
                if case .failed(let error, _, _) = outcome { report(.loadFailed(error)) }
                return outcome
            case .busy(let rest, let entry):
                if let old = old(entry, key), old.isWithin(request.staleness.whileRevalidate, at: instant) {
                    return .expired(old, .staleWhileRevalidate)
                }
                let remaining = end - times.clock.now()
                if remaining <= 0 || Task.isCancelled { return await call(load, request, old: old(entry, key)) }
                // Waiters whose lease ends at once ask one after another.
                let jitter = Int64.random(in: 1...20)
                await changes.wait(atMost: min(min(max(rest, 0), remaining) + jitter, remaining), sleep: times.sleep)
            }
        }
    }

    /// - Returns: `nil` if the entry is not an answer, and the value is loaded.
    private func outcome(ofFound entry: RemoteEntry, _ request: LoadRequest<Value>, _ ticket: NearCache<Value>.Ticket) -> LoadOutcome<
        Value
    >? {
        do throws(VellumError) {
            let answer = try receive(entry, request.key, ticket).flatMap { request.answer(of: $0) }
            return answer.map { .found($0, forEveryReader: true) }
        } catch {
            // No loader may replace what a newer version wrote.
            if error.code == .newerVersion { return .failed(error, old: nil, isNew: false) }
            failures.send(error)
            return nil
        }
    }

    private func old(_ entry: RemoteEntry, _ key: EntryKey) -> ExpiredValue<Value>? {
        guard case .record(let record) = entry else { return nil }
        do throws(VellumError) {
            return try decode(record, key).map { ExpiredValue($0, end: record.expires) }
        } catch {
            return nil  // It has expired, and is loaded now.
        }
    }

    // MARK: Calling the loader

    /// Loads without the server, or takes what this process remembers.
    private func loadAlone(_ load: UInt64, _ request: LoadRequest<Value>, insteadOf error: VellumError) async -> LoadOutcome<Value> {
        failures.send(error)
        // A caller that accepts no old value loads by itself.
        if let old = near.oldValue(forKey: request.key), old.isWithin(request.staleness.ifError, at: instant) {
            return .expired(old, .staleIfError)
        }
        return await call(load, request, old: nil)
    }

    /// Calls the loader. What it returns is stored by the caller, if at all.
    private func call(_ load: UInt64?, _ request: LoadRequest<Value>, old: ExpiredValue<Value>?) async -> LoadOutcome<Value> {
        loaderCalls.add(1, ordering: .relaxed)
        let outcome = await callLoader(of: request, load ?? LoadCoordinator<EntryKey, LoadOutcome<Value>>.newNumber())
        guard case .failed(let error, _, let isNew) = outcome else { return outcome }
        return .failed(error, old: old, isNew: isNew)
    }

    /// Calls the loader while the lease is held, and stores what it returns, if nobody set or removed the key meanwhile.
    ///
    /// - Parameter load: `nil` if the load has ended, because its callers took an old value.
    private func loadHolding(
        _ token: LeaseToken, _ load: UInt64?, _ request: LoadRequest<Value>, _ old: ExpiredValue<Value>?
    ) async -> LoadOutcome<Value> {
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
        _ outcome: LoadOutcome<Value>, _ token: LeaseToken, _ load: UInt64?, _ request: LoadRequest<Value>, _ old: ExpiredValue<Value>?
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
                // The server has it, with its own dates: the next read takes it from there.
                near.forget([key])
            } else {
                declinedFills.add(1, ordering: .relaxed)
            }
        } catch let failure as RemoteFailure {
            failures.send(VellumError(failure, cache: name))
        } catch {
            report(VellumError(.notEncodable, "A loaded value cannot be encoded, and was not stored.", cause: error))
        }
    }
}
