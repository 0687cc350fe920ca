internal import VellumCore

// One load, from start to end: look again, call the loader, record its result, resume the waiters.

extension Store where Value: Sendable {
    /// Starts the task of a load. Unstructured: cancelling its starter does not cancel it.
    func start(_ load: UInt64, _ request: LoadRequest<Value>) {
        let task = Task { await run(load, request) }
        loads.onCancel(load) { task.cancel() }
    }

    private func run(_ load: UInt64, _ request: LoadRequest<Value>) async {
        // From here on, writes and removals of the key are noticed.
        let version = memory.watch(request.key)
        let answer: LoadAnswer<Value>
        switch lookAgain(request) {
        case .answer(let present): answer = present
        case .nothing(let basis): answer = await ask(load, request, Origin(basis: basis, version: version))
        }
        finish(load, request, answer, version)
    }

    /// The state of the key when the load began.
    private struct Origin: Sendable {
        var basis: WriteCondition.Basis
        var version: UInt64
    }

    // MARK: Looking again

    private enum SecondLook {
        case answer(LoadAnswer<Value>)
        case nothing(WriteCondition.Basis)
    }

    /// Another load may have ended between the caller's look and the start of this one. Counts no miss.
    private func lookAgain(_ request: LoadRequest<Value>) -> SecondLook {
        let (key, now) = (request.key, clock.now())
        do throws(VellumError) {
            if let value = try valueInMemory(forKey: key, now, request.expiration), let answer = request.answer(of: value) {
                return .answer(answer)
            }
            let ticket = memory.ticket(forMissed: key)
            let entry = try entryOnDisk(forKey: key)
            if let entry, try isValid(entry, of: key, at: now, request.expiration),
                let value = try take(entry, forKey: key, ticket, at: now), let answer = request.answer(of: value)
            {
                return .answer(answer)
            }
            if let answer = rememberedAnswer(for: request, at: now) { return .answer(answer) }
            return .nothing(.version(entry?.version))
        } catch {
            // A damaged entry is replaced by the loaded value. A failing disk must not look like an empty one.
            return error.concernsOneEntry || error.code == .cacheVersionChanged
                ? .nothing(.unreadable) : .answer(.failed(error, isNew: false))
        }
    }

    // MARK: Calling the loader

    private func ask(_ load: UInt64, _ request: LoadRequest<Value>, _ origin: Origin) async -> LoadAnswer<Value> {
        do {
            let running = ReentrancyGuard(.load(load))
            defer { running.end() }
            let answer = try await running.run { try await request.load() }
            // The result of an abandoned load is not recorded.
            if loads.isRunning(load) { await record(answer, request, origin) }
            return .loaded(answer)
        } catch {
            return .failed(error, isNew: true)
        }
    }

    /// Records the result on a thread that may block. If that fails, it is reported, and the waiters still get the result.
    private func record(_ answer: Value?, _ request: LoadRequest<Value>, _ origin: Origin) async {
        do {
            if let answer {
                try await BlockingPool.run { try self.fill(answer, request.ownExpiration, request, origin) }
            } else if let tombstone = request.tombstone, request.negativeMaxAge > 0 {
                let age = Expiration(age: request.negativeMaxAge)
                try await BlockingPool.run { try self.fill(tombstone.value, age, request, origin) }
            } else {
                // An expired value must not be served as stale any more.
                try await BlockingPool.run { try self.removeOld(request, origin) }
            }
        } catch let error as VellumError where error.code == .cacheVersionChanged {
            // Each handle reports it once.
        } catch let error as VellumError {
            report(error)
        } catch {
            report(.loadFailed(error))
        }
    }

    /// Records the value, unless something was written or removed under the key since the load began.
    private func fill(
        _ value: Value, _ expiration: Expiration?, _ request: LoadRequest<Value>, _ origin: Origin
    ) throws(VellumError) {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: request.key, in: self, expiration: expiration)
        if let add = request.addition { try add(value, &transaction) }
        transaction.setCondition(condition(request, origin))
        try transaction.commit()
    }

    /// Removes the expired entry under the key.
    private func removeOld(_ request: LoadRequest<Value>, _ origin: Origin) throws(VellumError) {
        var isThere = memory.peek(request.key) != nil
        if !isThere { isThere = try entryOnDisk(forKey: request.key) != nil }
        guard isThere else { return }
        var transaction = StoreTransaction()
        transaction.removeExpired(request.key, in: self)
        transaction.setCondition(condition(request, origin))
        try transaction.commit()
    }

    private func condition(_ request: LoadRequest<Value>, _ origin: Origin) -> WriteCondition {
        WriteCondition(unchangedSince: origin.basis, at: clock.now(), under: request.expiration) { [key = request.key, memory] in
            !memory.isUnchanged(key, since: origin.version)
        }
    }

    // MARK: Finishing

    private func finish(_ load: UInt64, _ request: LoadRequest<Value>, _ answer: LoadAnswer<Value>, _ version: UInt64) {
        // Before the load ends: a caller in between would start another.
        let item = item(of: answer, request, version)
        let isCached = item != nil && loads.isRunning(load)
        let unwatched = if isCached, let item { negativeCache.withLock { $0.insert(item, forKey: request.key) } } else { [request.key] }
        let waiters = loads.finish(load, answer)
        for key in unwatched { memory.unwatch(key) }
        if case .failed(let error, _) = answer, waiters == 0 { report(.loadFailed(error)) }
    }

    /// The answer to remember, if it is not a value.
    private func item(
        of answer: LoadAnswer<Value>, _ request: LoadRequest<Value>, _ version: UInt64
    ) -> NegativeCache.Item? {
        let now = clock.now()
        func item(_ negative: NegativeCache.Answer, for milliseconds: Int64) -> NegativeCache.Item? {
            guard milliseconds > 0 else { return nil }
            return .init(answer: negative, since: now, until: now.advanced(byMilliseconds: milliseconds), version: version)
        }
        return switch answer {
        case .loaded(nil) where request.tombstone == nil: item(.nothing, for: request.negativeMaxAge)
        // A cancelled loader says nothing about its source.
        case .failed(let error, isNew: true) where !(error is CancellationError): item(.failure(error), for: request.errorMaxAge)
        case .found, .loaded, .failed: nil
        }
    }
}
