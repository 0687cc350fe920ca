package import VellumCore

/// The loads of a store: looks for values in memory and on the disk, calls loaders, and records
/// what they return.
///
/// A load that misses looks twice at the disk: once before it asks for a loader, and once inside
/// the load, because another load may have ended in between.
package struct StoreLoader<Value: Sendable>: LoadingStore {
    /// Adds to the transaction that records a loaded value.
    package typealias Addition =
        @Sendable (Value, inout StoreTransaction) throws(VellumError) -> Void

    private let store: Store<Value>
    private let addition: Addition?

    init(_ store: Store<Value>, adding addition: Addition?) {
        self.store = store
        self.addition = addition
    }

    package var name: String { Log.displayed(store.name) }
    package var loads: LoadCoordinator<EntryKey, LoadOutcome<Value>> { store.loads }
    package var answers: RememberedAnswers { store.answers }
    package var instant: WallInstant { store.clock.now() }
    package var timer: LoadTimer { store.clock.timer }

    /// The loader is the only one that has a newer value.
    package var joinsLoadsAhead: Bool { true }

    package func recordsNil(of request: LoadRequest<Value>) -> Bool { request.tombstone != nil }

    package func report(_ error: VellumError) { store.report(error) }

    // MARK: Looking

    package func look(
        _ request: LoadRequest<Value>,
        within window: Int64,
        afterFailure: Bool
    ) async throws(VellumError) -> Look<Value> {
        let now = store.clock.now()
        if let look = try hit(request, now)?.look { return look }
        return try await read { () throws(VellumError) in
            try lookForWriting(request, within: window, countsMiss: !afterFailure).look
        }
    }

    /// Runs a read on a thread that may block.
    private func read<Result: Sendable>(
        _ work: @escaping @Sendable () throws(VellumError) -> Result
    ) async throws(VellumError) -> Result {
        do {
            return try await store.lanes.reads.run(work)
        } catch {
            throw error as? VellumError ?? .loadFailed(error)
        }
    }

    /// What is on the disk under a key that is loaded.
    private struct Present: Sendable {
        /// What a write must find there to replace it.
        var basis: WriteCondition.Basis
        var entry: Entry?
    }

    /// What a look finds for callers, and for a load.
    private typealias Found = (look: Look<Value>, present: Present)

    /// Looks in memory.
    private func hit(
        _ request: LoadRequest<Value>,
        _ now: WallInstant
    ) throws(VellumError) -> Found? {
        let value: Value?
        do throws(VellumError) {
            value = try store.valueInMemory(forKey: request.key, now, request.expiration)
        } catch {
            guard error.concernsOneEntry else { throw error }
            return nil
        }
        guard let value, let found = request.answer(of: value) else { return nil }
        return (
            Look(found: found, isDue: isDue(request, value, nil, at: now)),
            Present(basis: .unreadable)
        )
    }

    /// Looks once in memory and once on the disk.
    private func lookForWriting(
        _ request: LoadRequest<Value>,
        within window: Int64,
        countsMiss: Bool
    ) throws(VellumError) -> Found {
        let key = request.key
        let now = store.clock.now()
        do throws(VellumError) {
            if let found = try hit(request, now) { return found }
            let (value, entry) = try store.lookOnDisk(forKey: key, now, request.expiration)
            let present = Present(basis: .version(entry?.version), entry: entry)
            if let value, let found = request.answer(of: value) {
                return (
                    Look(found: found, isDue: isDue(request, value, entry, at: now)),
                    present
                )
            }
            if countsMiss { store.countMiss(key, now, request.expiration) }
            let expired = try expiredValue(for: request, entry, within: window, at: now)
            return (Look(expired: expired), present)
        } catch {
            // A damaged entry is replaced by the loaded value. A failing disk must not look like an
            // empty one. A cache that was opened with another version has nothing: the loader runs,
            // and its value is not stored.
            guard error.concernsOneEntry || error.code == .cacheVersionChanged else { throw error }
            return (Look(), Present(basis: .unreadable))
        }
    }

    /// Whether it is time to load the valid value again.
    private func isDue(
        _ request: LoadRequest<Value>,
        _ value: Value,
        _ entry: Entry?,
        at now: WallInstant
    ) -> Bool {
        guard let part = request.refreshAhead, !isNewer(value, request),
            let validity = entry?.validity ?? store.memory.peek(request.key)?.validity
        else {
            return false
        }
        return validity.isPast(part, of: request.key, at: now, under: request.expiration)
    }

    /// Whether the value is of a newer version of its type, which no loader may replace.
    private func isNewer(_ value: Value, _ request: LoadRequest<Value>) -> Bool {
        if case .newer = request.tombstone?.meaning(value, request.key) { true } else { false }
    }

    /// Looks for a value that is loaded ahead of its end.
    ///
    /// - Returns: `nil` if it was loaded, written or removed meanwhile, or may not be replaced.
    private func lookAhead(_ request: LoadRequest<Value>) throws(VellumError) -> Present? {
        let key = request.key
        let now = store.clock.now()
        do throws(VellumError) {
            let entry = try store.entryOnDisk(forKey: key)
            let item = store.memory.peek(key)
            guard let validity = item?.validity ?? entry?.validity,
                let value = try value(item, entry, key)
            else { return nil }
            let isFresh = validity.contains(now, key, lastUse: .never, under: request.expiration)
            guard !isFresh || isDue(request, value, item == nil ? entry : nil, at: now),
                !isNewer(value, request)
            else { return nil }
            return Present(basis: .version(entry?.version), entry: entry)
        } catch {
            if error.code == .newerVersion { return nil }
            guard error.concernsOneEntry || error.code == .cacheVersionChanged else { throw error }
            return Present(basis: .unreadable)
        }
    }

    /// Decodes what memory has, or else the disk.
    private func value(
        _ item: MemoryCache<MemoryPayload<Value>>.Item?,
        _ entry: Entry?,
        _ key: EntryKey
    ) throws(VellumError) -> Value? {
        if let item { return try store.value(of: item, key) }
        return if let entry { try store.decode(entry, of: key) } else { nil }
    }

    /// Returns the value under the key for a loader, however old; `nil` if there is none that this
    /// program can read.
    private func previousValue(for request: LoadRequest<Value>, _ entry: Entry?) -> Value? {
        guard request.loader.takesPrevious else { return nil }
        do throws(VellumError) {
            let value = try value(store.memory.peek(request.key), entry, request.key)
            guard let value, case .value = request.tombstone?.meaning(value, request.key) ?? .value
            else { return nil }
            return value
        } catch {
            return nil  // It was reported, and is replaced by what is loaded.
        }
    }

    /// Looks for a tombstone in memory: the caller has looked for values, and takes a tombstone for
    /// a miss.
    func lookForTombstone(_ request: LoadRequest<Value>) -> Look<Value> {
        guard request.tombstone != nil, let item = store.memory.peek(request.key),
            case .value(let value) = item.payload,
            item.isValid(at: store.clock.now(), request.key, under: request.expiration)
        else { return Look() }
        return Look(found: request.answer(of: value))
    }

    /// Returns the value under the key if its age ended less than so many milliseconds ago. Does
    /// not affect the eviction order, which would prolong a sliding age.
    ///
    /// - Parameter entry: The entry under the key, which the caller has just read from the disk.
    private func expiredValue(
        for request: LoadRequest<Value>,
        _ entry: Entry?,
        within window: Int64,
        at now: WallInstant
    ) throws(VellumError) -> ExpiredValue<Value>? {
        guard window > 0 else { return nil }
        func end(_ validity: Validity, _ lastUse: UseStamp) -> WallInstant? {
            validity.end(
                within: window,
                before: now,
                request.key,
                lastUse: lastUse,
                under: request.expiration
            )
        }
        let value: Value?
        let expired: WallInstant
        if let item = store.memory.peek(request.key) {
            guard let end = end(item.validity, item.stamp) else { return nil }
            expired = end
            value = try store.value(of: item, request.key)
        } else {
            guard let entry,
                let end = end(entry.validity, try store.lastUse(of: entry, request.key))
            else { return nil }
            expired = end
            value = try store.decode(entry, of: request.key)
        }
        // A recorded `nil` is not worth keeping beyond its age.
        guard let value, case .value = request.tombstone?.meaning(value, request.key) ?? .value
        else { return nil }
        return ExpiredValue(value, end: expired)
    }

    // MARK: One load

    package func run(
        _ load: UInt64,
        _ request: LoadRequest<Value>,
        version: UInt64,
        isAhead: Bool
    ) async -> LoadOutcome<Value> {
        let present: Present
        do throws(VellumError) {
            if isAhead {
                guard let due = try await read({ () throws(VellumError) in try lookAhead(request) })
                else {
                    return .found(nil, forEveryReader: false, isDue: false)
                }
                present = due
            } else {
                // Another load may have ended between the caller's look and the start of this one.
                let (look, here) = try await read { () throws(VellumError) in
                    try lookForWriting(request, within: 0, countsMiss: false)
                }
                if let found = look.found {
                    return .found(found, forEveryReader: false, isDue: look.isDue)
                }
                present = here
            }
        } catch {
            return .failed(error, old: nil, isNew: false)
        }
        if let remembered = rememberedOutcome(for: request) { return remembered }
        switch await callLoader(of: request, load, previousValue(for: request, present.entry)) {
        case .failure(let error): return .failed(error, old: nil, isNew: true)
        case .success(let answer):
            // The result of an abandoned load is not recorded.
            if loads.isRunning(load) {
                await record(answer, request, Origin(present: present, version: version))
            }
            return .loaded(answer.value, nothingFor: answer.nothingFor)
        }
    }

    /// The state of the key when the load began.
    private struct Origin: Sendable {
        var present: Present
        var version: UInt64
    }

    /// Records the result on a thread that may block. If that fails, it is reported, and the
    /// waiters still get the result.
    private func record(
        _ answer: LoaderAnswer<Value>,
        _ request: LoadRequest<Value>,
        _ origin: Origin
    ) async {
        let visits = store.lanes.visits
        do {
            if let value = answer.value {
                try await visits.run {
                    if answer.isUnchanged, try self.renew(value, answer.expiration, request, origin)
                    {
                        return
                    }
                    try self.fill(value, answer.expiration, request, origin)
                }
            } else if let tombstone = request.tombstone, answer.nothingFor > 0 {
                let age = Expiration(age: answer.nothingFor)
                try await visits.run { try self.fill(tombstone.value, age, request, origin) }
            } else {
                // An expired value must not be served as stale any more.
                try await visits.run { try self.removeOld(request, origin) }
            }
        } catch let error as VellumError where error.code == .cacheVersionChanged {
            // Each handle reports it once.
        } catch let error as VellumError {
            report(error)
        } catch {
            report(.loadFailed(error))
        }
    }

    /// Records the value, unless something was written or removed under the key since the load
    /// began.
    private func fill(
        _ value: Value,
        _ expiration: Expiration?,
        _ request: LoadRequest<Value>,
        _ origin: Origin
    ) throws(VellumError) {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: request.key, in: store, expiration: expiration)
        try transaction.group(in: request.groups, of: store)
        if let addition { try addition(value, &transaction) }
        transaction.setCondition(condition(request, origin))
        try transaction.commit()
    }

    /// Gives the entry that was there when the load began a new date.
    ///
    /// - Returns: Whether it is still there.
    private func renew(
        _ value: Value,
        _ expiration: Expiration?,
        _ request: LoadRequest<Value>,
        _ origin: Origin
    ) throws(VellumError) -> Bool {
        guard let entry = origin.present.entry else { return false }
        var transaction = StoreTransaction()
        try transaction.renew(
            entry,
            of: value,
            forKey: request.key,
            in: store,
            expiration: expiration
        )
        try transaction.group(in: request.groups, of: store)
        transaction.setCondition(condition(request, origin))
        return try transaction.commit()[0]
    }

    /// Removes the expired entry under the key.
    private func removeOld(_ request: LoadRequest<Value>, _ origin: Origin) throws(VellumError) {
        var isThere = store.memory.peek(request.key) != nil
        if !isThere { isThere = try store.entryOnDisk(forKey: request.key) != nil }
        guard isThere else { return }
        var transaction = StoreTransaction()
        transaction.removeExpired(request.key, in: store)
        transaction.setCondition(condition(request, origin))
        try transaction.commit()
    }

    private func condition(_ request: LoadRequest<Value>, _ origin: Origin) -> WriteCondition {
        let key = request.key
        let memory = store.memory
        return WriteCondition(
            unchangedSince: origin.present.basis,
            at: store.clock.now(),
            under: request.expiration
        ) {
            memory.standing(of: key, since: origin.version)
        }
    }
}
