internal import Foundation
internal import Synchronization
package import VellumCore

// Loading: one loader of all machines runs for a missing value, while its lease lasts. The faces
// say the contract, and `LoadingStore` decides what a caller gets.

extension SharedStore: LoadingStore {
    /// That of the steady clock, by which the dates of old values are.
    package var instant: WallInstant { near.trusts.now }

    package var timer: LoadTimer {
        LoadTimer(clock: times.clock) { [sleep = times.sleep] milliseconds, _ in
            try await sleep(milliseconds)
            return nil
        }
    }

    package func look(
        _ request: LoadRequest<Value>,
        within window: Int64,
        afterFailure: Bool
    ) -> Look<Value> {
        // The server may have a newer value; if it was asked in vain, an old one is better than
        // none.
        let old = afterFailure ? near.oldValue(forKey: request.key) : nil
        guard let part = request.refreshAhead else {
            return Look(
                found: near.hit(forKey: request.key).flatMap { request.answer(of: $0) },
                expired: old
            )
        }
        var isDue = false
        let found = near.hit(forKey: request.key, refreshAhead: part, isDue: &isDue)
        return Look(
            found: found.flatMap { request.answer(of: $0) },
            isDue: isDue,
            expired: old
        )
    }

    /// The server has a value that is still valid.
    package var joinsLoadsAhead: Bool { false }

    /// The server has them.
    package func recordsNil(of request: LoadRequest<Value>) -> Bool { true }

    package func report(_ error: VellumError) {
        failures.send(error.located(archive: name, path: nil))
    }
}

extension SharedStore {
    /// Returns the value of a key, and loads it if there is no valid one.
    ///
    /// - Parameter hasLooked: Whether ``near`` has just had no answer.
    /// - Throws: What the loader throws. `CancellationError` if the caller's task is cancelled
    ///   while it waits. ``VellumError`` if the key was recorded by a newer version of the type,
    ///   the load would wait for itself, or the limits contradict each other.
    package func load(
        _ request: LoadRequest<Value>,
        hasLooked: Bool = false
    ) async throws -> Loaded<Value?> {
        if let loadTimeout = request.loadTimeout {
            try times.check(loadTimeout, lease: backend.leaseDuration)
        }
        keepExpired(forMilliseconds: request.staleness.window)
        return try await answer(
            to: request,
            after: hasLooked ? Look() : look(request, within: 0, afterFailure: false)
        )
    }

    // MARK: One load

    package func run(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        version: UInt64,
        isAhead: Bool
    ) async -> LoadOutcome<Value> {
        let key = request.key
        let end = times.clock.now() + times.longestWait(for: request.loadTimeout)
        // An entry that is damaged, or of which a group was removed.
        var ignored: RemoteEntry?
        var polls = 0
        while true {
            // Before the server is asked, so that no change is missed.
            let changes = signals.subscribe(to: key)
            defer { signals.end(changes) }
            let ticket = near.ticket(forKey: key)
            let token = LeaseToken.random()
            let read = VersionAtReply(version)
            let answer: LeaseAnswer
            var sent = RemoteEntry.missing
            var entry = RemoteEntry.missing
            var epochs = [GroupEpoch]()
            var isAnswered = false
            // Before the epochs are taken, so that no removal is missed.
            if !request.groups.isEmpty {
                leases.withLock { $0[token] = (key, request.groups) }
            }
            defer { if !request.groups.isEmpty { leases.withLock { $0[token] = nil } } }
            do throws(RemoteFailure) {
                try await finishRemovals(of: key)
                // The entry of a load ahead of its end is valid, and counts as missing.
                let ignoresEntry = isAhead || ignored != nil
                answer = try await backend.entryOrLease(
                    forKey: key,
                    token: token,
                    ignoresEntry: ignoresEntry
                ) { [answers] in
                    // What the server says of writes before the reply, such as those of this
                    // program, is older than the entry.
                    read.set(answers.version(of: key))
                }
                isAnswered = true
                switch answer {
                case .found(let found), .busy(_, let found), .granted(let found):
                    sent = found
                }
                entry = try await withoutRemoved([sent], of: [key], ticket.changes)[0]
                if case .granted = answer {
                    epochs = try await takeEpochs(
                        of: request.groups,
                        key,
                        request.ownExpiration ?? request.expiration
                    )
                }
            } catch {
                // The lease may have been granted. A task of its own, because this one may be
                // cancelled.
                if isAnswered || error.mayBeExecuted { Task { await giveBack(token, key) } }
                if error == .cancelled {
                    return .failed(CancellationError(), old: nil, isNew: false)
                }
                // The value that is there is good enough.
                if isAhead {
                    return .failed(VellumError(error, cache: name), old: nil, isNew: false)
                }
                return await loadAlone(
                    load,
                    request,
                    version,
                    insteadOf: VellumError(error, cache: name)
                )
            }
            switch answer {
            case .found:
                if let outcome = outcome(ofFound: entry, request, ticket) { return outcome }
                ignored = sent
            case .granted:
                near.forgetOutage(key)
                if let ignored, ignored != sent,
                    let outcome = outcome(ofFound: entry, request, ticket)
                {
                    // Another has loaded it meanwhile.
                    await giveBack(token, key)
                    return outcome
                }
                if isAhead, !mayLoadAhead(entry, request) {
                    await giveBack(token, key)
                    return .found(nil, forEveryReader: false, isDue: false)
                }
                let held = Held(
                    entry: entry,
                    old: old(entry, key),
                    version: read.version,
                    epochs: epochs
                )
                let isWithin =
                    held.old?.isWithin(request.staleness.whileRevalidate, at: instant) ?? false
                // The callers have their answer then, and the load goes on without them.
                loads.note(
                    held.old.map { .expired($0, isWithin ? .staleWhileRevalidate : .staleIfSlow) },
                    of: load,
                    answersAll: isWithin && !isAhead
                )
                return await loadHolding(token, held, load, request)
            case .busy(let rest, _):
                near.forgetOutage(key)
                if isAhead {
                    // Another machine loads it ahead of its end.
                    pauseAhead(request, version, for: max(rest, 1))
                    return .found(nil, forEveryReader: false, isDue: false)
                }
                let old = old(entry, key)
                if let old, old.isWithin(request.staleness.whileRevalidate, at: instant) {
                    return .expired(old, .staleWhileRevalidate)
                }
                loads.note(old.map { .expired($0, .staleIfSlow) }, of: load)
                let remaining = end - times.clock.now()
                if remaining <= 0 || Task.isCancelled {
                    if !Task.isCancelled { counts.loadsAfterLongestWait.add(1, ordering: .relaxed) }
                    let held = Held(entry: entry, old: old, version: read.version)
                    return outcome(of: await call(load, request, held), held, key)
                }
                // Waiters whose lease ends at once ask one after another.
                let jitter = Int64.random(in: 1...20)
                // Without trust the server need not say when a lease ends.
                polls += 1
                let longest = near.trusts.duration > 0 ? .max : Int64(25) << min(polls, 4)
                await changes.wait(
                    atMost: min(min(max(rest, 0), remaining) + jitter, remaining, longest),
                    sleep: times.sleep
                )
                // Nobody has to take the lease to see that it is another.
                ignored = nil
            }
        }
    }

    /// What the server had when a load began.
    private struct Held: Sendable {
        var entry: RemoteEntry
        /// The expired value.
        var old: ExpiredValue<Value>?
        /// The version of the key.
        var version: UInt64
        /// Under which the value is recorded.
        var epochs: [GroupEpoch] = []
    }

    /// Whether an entry may be loaded ahead of its end: no other machine has removed it or loaded
    /// it since, and this program can read it.
    private func mayLoadAhead(_ entry: RemoteEntry, _ request: LoadRequest<Value>) -> Bool {
        guard case .record(let record) = entry, record.typeVersion <= coding.typeVersion else {
            return false
        }
        return instant >= steady(record.expires, of: request.key) || isDue(record, request)
    }

    private func isDue(_ record: RemoteRecord, _ request: LoadRequest<Value>) -> Bool {
        guard let part = request.refreshAhead else { return false }
        guard let now = time(of: request.key) else { return false }
        return Validity(written: record.written, expires: record.expires).isPast(
            part,
            of: request.key,
            at: now
        )
    }

    /// - Returns: `nil` if the entry is not an answer, and the value is loaded.
    private func outcome(
        ofFound entry: RemoteEntry,
        _ request: LoadRequest<Value>,
        _ ticket: NearCache<Value>.Ticket
    ) -> LoadOutcome<Value>? {
        do throws(VellumError) {
            let answer = try receive(entry, request.key, ticket).flatMap {
                request.answer(of: $0)
            }
            let isDue =
                if case .record(let record) = entry { isDue(record, request) } else { false }
            return answer.map { .found($0, forEveryReader: true, isDue: isDue) }
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
            return try decode(record, key).map {
                ExpiredValue($0, end: steady(record.expires, of: key))
            }
        } catch {
            return nil  // It has expired, and is loaded now.
        }
    }

    // MARK: Calling the loader

    /// Loads without the server, or takes what this process remembers.
    private func loadAlone(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        _ version: UInt64,
        insteadOf error: VellumError
    ) async -> LoadOutcome<Value> {
        failures.send(error)
        let now = WallInstant(rawValue: times.clock.now())
        if let value = near.outageValue(forKey: request.key, at: now),
            let answer = request.answer(of: value)
        {
            return .rememberedInOutage(answer)
        }
        // A caller that accepts no old value loads by itself.
        if let old = near.oldValue(forKey: request.key),
            old.isWithin(request.staleness.ifError, at: instant)
        {
            return .expired(old, .staleIfError)
        }
        let ticket = near.outageTicket(forKey: request.key)
        let held = Held(
            entry: .missing,
            old: near.oldValue(forKey: request.key),
            version: version
        )
        let result = await call(load, request, held)
        if case .success(let answer) = result, loads.isRunning(load) {
            rememberInOutage(answer, request, ticket)
        }
        return outcome(of: result, held, request.key)
    }

    /// Remembers what was loaded while the server is out of reach, for a short while, and no longer
    /// than the value is valid.
    private func rememberInOutage(
        _ answer: LoaderAnswer<Value>,
        _ request: LoadRequest<Value>,
        _ ticket: NearCache<Value>.Ticket
    ) {
        let now = WallInstant(rawValue: times.clock.now())
        let age = min(
            answer.value == nil
                ? answer.nothingFor
                : (answer.expiration ?? request.expiration).age(of: request.key, written: now),
            times.outageMaxAge
        )
        guard age > 0 else { return }
        do {
            let record = RemoteRecord(
                value: try answer.value.map(coding.encode),
                typeVersion: coding.typeVersion,
                written: now,
                expires: now.advanced(byMilliseconds: age),
                groups: request.groups.map { GroupEpoch(name: $0, epoch: 0) }
            )
            near.fillInOutage(answer.value, record, forKey: request.key, ticket: ticket)
        } catch {
            report(.notEncodable(error))
        }
    }

    /// Calls the loader. What it returns is stored by the caller, if at all.
    private func call(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        _ held: Held
    ) async -> Result<LoaderAnswer<Value>, any Error> {
        // However old; `nil` if there is none that this program can read.
        let previous =
            request.loader.takesPrevious
            ? held.old?.value ?? old(held.entry, request.key)?.value : nil
        return await callLoader(of: request, load, previous)
    }

    private func outcome(
        of result: Result<LoaderAnswer<Value>, any Error>,
        _ held: Held,
        _ key: EntryKey
    ) -> LoadOutcome<Value> {
        switch result {
        case .success(let answer): .loaded(answer.value, nothingFor: answer.nothingFor)
        // What was set or removed since is not brought back.
        case .failure(let error):
            .failed(
                error,
                old: answers.isUnchanged(key, since: held.version) ? held.old : nil,
                isNew: true
            )
        }
    }

    /// Calls the loader while the lease is held, and stores what it returns, if nobody set or
    /// removed the key meanwhile.
    private func loadHolding(
        _ token: LeaseToken,
        _ held: Held,
        _ load: UInt64,
        _ request: LoadRequest<Value>
    ) async -> LoadOutcome<Value> {
        let key = request.key
        let renewal = Task { [backend, times, loads] in
            do {
                while true {
                    try await times.sleep(max(1, backend.leaseDuration / 3))
                    // Nobody waits for it any more, or it was late, and its loader does not end:
                    // another caller may load.
                    if !loads.isRunning(load) {
                        return try await backend.giveBack(token, forKey: key)
                    }
                    guard try await backend.renew(token, forKey: key) else { return }
                }
                // The loader has ended; or the server is out of reach, and the lease ends by
                // itself.
            } catch {}
        }
        let result = await call(load, request, held)
        renewal.cancel()
        // A task of its own, because a cancelled one cannot tell the server that its lease has
        // ended.
        await Task { await store(result, token, held, load, request) }.value
        return outcome(of: result, held, key)
    }

    func giveBack(_ token: LeaseToken, _ key: EntryKey) async {
        do throws(RemoteFailure) {
            try await backend.giveBack(token, forKey: key)
        } catch {}  // The lease ends by itself.
    }

    private func store(
        _ result: Result<LoaderAnswer<Value>, any Error>,
        _ token: LeaseToken,
        _ held: Held,
        _ load: UInt64,
        _ request: LoadRequest<Value>
    ) async {
        let key = request.key
        do {
            // The result of an abandoned load is not stored.
            guard case .success(let answer) = result, loads.isRunning(load),
                answer.value != nil || answer.nothingFor > 0 || held.entry != .missing
            else { return try await backend.giveBack(token, forKey: key) }
            let age =
                answer.value == nil
                ? Expiration(age: answer.nothingFor) : answer.expiration ?? request.expiration
            if answer.value == nil || answer.expiration != request.ownExpiration {
                // The epochs must last as long. If one is another now, the entry is not valid.
                _ = try await takeEpochs(of: request.groups, key, age)
            }
            if answer.isUnchanged, try await renew(answer, token, held, request) {
                return near.forget([key])
            }
            var (record, lifetime) = try record(answer.value.map(coding.encode), key, age)
            record.groups = held.epochs
            // There is no value any more: the old one must not be returned.
            if answer.value == nil, answer.nothingFor == 0 { lifetime = 1 }
            if try await backend.fill(record, forKey: key, lifetime: lifetime, token: token) {
                // The server has it, with its own dates: the next read takes it from there.
                near.forget([key])
            } else {
                counts.declinedFills.add(1, ordering: .relaxed)
            }
        } catch let failure as RemoteFailure {
            failures.send(VellumError(failure, cache: name))
        } catch {
            report(.notEncodable(error))
        }
    }

    /// Gives the entry of the server a new date. Its value is not sent.
    ///
    /// - Returns: Whether the entry and the lease are still there.
    private func renew(
        _ answer: LoaderAnswer<Value>,
        _ token: LeaseToken,
        _ held: Held,
        _ request: LoadRequest<Value>
    ) async throws(RemoteFailure) -> Bool {
        guard case .record(let old) = held.entry, old.value != nil,
            Set(old.groups) == Set(held.epochs)
        else { return false }
        var (renewed, lifetime) = try record(
            old.value,
            request.key,
            answer.expiration ?? request.expiration
        )
        renewed.typeVersion = old.typeVersion
        renewed.groups = old.groups
        return try await backend.renewEntry(
            renewed,
            forKey: request.key,
            lifetime: lifetime,
            token: token
        )
    }
}

extension VellumError {
    fileprivate static func notEncodable(_ cause: any Error) -> VellumError {
        VellumError(
            .notEncodable,
            "A loaded value cannot be encoded, and was not stored.",
            cause: cause
        )
    }
}

/// The version of a key when the server's reply has arrived, on the thread of the connection.
private final class VersionAtReply: Sendable {
    private let value: Atomic<UInt64>

    init(_ version: UInt64) { value = Atomic(version) }

    var version: UInt64 { value.load(ordering: .acquiring) }

    func set(_ version: UInt64) { value.store(version, ordering: .releasing) }
}
