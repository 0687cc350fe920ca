package import Foundation
internal import Synchronization
public import VellumCore

/// A cache on a server, with its near cache in this process, and the loads of missing values
/// (decision 58).
///
/// Ages count by the server's clock. A read or a write sends one command; a near hit sends none.
/// Every call has a deadline.
@usableFromInline package final class SharedStore<Value: Sendable>: Sendable {
    /// How values become bytes.
    package struct Coding: Sendable {
        var encode: @Sendable (Value) throws -> Data
        var decode: @Sendable (Data, _ typeVersion: Int64, EntryKey) throws -> Value?
        var typeVersion: Int64

        /// - Parameter decode: Returns `nil` if a migration drops the value.
        package init(
            typeVersion: Int64,
            encode: @escaping @Sendable (Value) throws -> Data,
            decode: @escaping @Sendable (Data, _ typeVersion: Int64, EntryKey) throws -> Value?
        ) {
            self.typeVersion = typeVersion
            self.encode = encode
            self.decode = decode
        }
    }

    /// The waiting that tests replace.
    package struct Times: Sendable {
        /// After how many milliseconds a caller stops waiting for another process's loader, and
        /// runs its own; `nil`: a little after a loader must have ended.
        package var longestWait: Int64?
        /// For how many milliseconds a value is remembered that was loaded while the server was out
        /// of reach.
        package var outageMaxAge: Int64 = 10_000
        package var sleep: @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
        /// Waits before removals are sent again.
        package var pause: @Sendable (_ milliseconds: Int64) async throws -> Void = {
            try await Task.sleep(for: .milliseconds($0))
        }
        package var clock = CoarseClock.system

        package init() {}

        /// - Parameter loadTimeout: How long a loader may run; `nil` for any time.
        func longestWait(for loadTimeout: Int64?) -> Int64 {
            longestWait ?? (loadTimeout ?? 30_000) + 1000
        }

        /// Throws if a caller would stop waiting for another process's loader before that must have
        /// ended, or its lease.
        func check(_ loadTimeout: Int64, lease: Int64) throws(VellumError) {
            guard let longestWait, longestWait < max(loadTimeout, lease) else { return }
            throw VellumError(
                .contradiction,
                """
                A longestWait of \(longestWait) ms is shorter than the loadTimeout of \
                \(loadTimeout) ms or the lease of \(lease) ms: callers would load beside a loader \
                that may still run. Set a shorter loadTimeout in LoadOptions, or a longer \
                longestWait, or none.
                """
            )
        }
    }

    /// What ``statistics`` counts.
    struct Counts: ~Copyable, Sendable {
        let reads = Atomic(0)
        let declinedFills = Atomic(0)
        let loadsAfterLongestWait = Atomic(0)
    }

    package let name: String
    @usableFromInline package let near: NearCache<Value>
    let backend: any RemoteBackend
    let coding: Coding
    let times: Times
    package let loads = LoadCoordinator<EntryKey, LoadOutcome<Value>>()
    /// Failures of loaders that are remembered.
    package let answers: RememberedAnswers
    let signals = ChangeSignals()
    let pending = Locked(PendingRemovals())
    /// The leases of loads whose values are in groups.
    let leases = Locked<[LeaseToken: (key: EntryKey, groups: [EntryKey])]>([:])
    let removing = Locked<[PendingRemovals.Lot: Task<Result<Void, RemoteFailure>, Never>]>(
        [:])
    /// Failures that no caller receives.
    package let failures = EventHub<VellumError>()
    /// For how many milliseconds the server keeps entries past their age: the longest that a handle
    /// or a caller has asked for so far.
    private let longestStaleness = Atomic<Int64>(0)
    let counts = Counts()

    /// - Parameters:
    ///   - name: The name of the cache, for errors.
    ///   - near: The values in memory.
    package init(
        name: String,
        near: NearCache<Value>,
        backend: any RemoteBackend,
        coding: Coding,
        times: Times = Times()
    ) {
        self.name = name
        self.near = near
        self.backend = backend
        self.coding = coding
        self.times = times
        // Not by the server's clock, which is unknown before the first connection.
        answers = RememberedAnswers(watching: near.memory) {
            WallInstant(rawValue: times.clock.now())
        }
    }

    var places: Places { near.places }

    /// The time of the server that has the key; `nil` before the first connection to it.
    func time(of key: EntryKey) -> WallInstant? {
        near.trusts.time(at: places.ofKey(key))
    }

    /// A moment of that server by the steady clock.
    func steady(_ instant: WallInstant, of key: EntryKey) -> WallInstant {
        near.trusts.steady(instant, at: places.ofKey(key))
    }

    /// Counts since the store was made.
    package var statistics: SharedCacheStatistics {
        SharedCacheStatistics(
            nearHits: near.hits,
            serverReads: counts.reads.load(ordering: .relaxed),
            loading: loads.statistics.withLock { $0 },
            declinedFills: counts.declinedFills.load(ordering: .relaxed),
            loadsAfterLongestWait: counts.loadsAfterLongestWait.load(ordering: .relaxed),
            pendingRemovals: pending.withLock { $0.count },
            memory: near.usage
        )
    }

    // MARK: Reading

    /// Returns the valid value of a key; `nil` if there is none. Affects the eviction order of
    /// memory and server.
    ///
    /// - Parameter asksServer: Whether the server is asked even if there is a near hit.
    package func value(forKey key: EntryKey, asksServer: Bool) async throws(VellumError) -> Value? {
        if !asksServer, let hit = near.hit(forKey: key) { return hit }
        return try await valueOnServer(forKey: key)
    }

    /// Asks the server for the valid value of a key, whatever is remembered.
    @usableFromInline package func valueOnServer(
        forKey key: EntryKey
    ) async throws(VellumError) -> Value? {
        let ticket = near.ticket(forKey: key)
        var entry: RemoteEntry
        do throws(RemoteFailure) {
            if pending.withLock({ !$0.isEmpty }) { try await finishRemovals(of: key) }
            do throws(RemoteFailure) {
                entry = try await backend.entry(forKey: key)
                if entry.isInGroups {
                    entry = try await withoutRemoved([entry], of: [key], ticket.changes)[0]
                }
            } catch {
                throw error.beforeSending  // Reading leaves nothing open.
            }
        } catch {
            throw VellumError(error, cache: name)
        }
        return try receive(entry, key, ticket) ?? nil
    }

    /// Returns the valid values of the keys, in their order, and asks the server once for those
    /// that memory does not have. Affects the eviction order of memory and server.
    package func values(
        forKeys keys: [EntryKey],
        asksServer: Bool
    ) async throws(VellumError) -> [Value?] {
        var values: [Value?] = []
        var missed: [(index: Int, key: EntryKey, ticket: NearCache<Value>.Ticket)] = []
        for (index, key) in keys.enumerated() {
            let hit = asksServer ? nil : near.hit(forKey: key)
            values.append(hit ?? nil)
            if hit == nil { missed.append((index, key, near.ticket(forKey: key))) }
        }
        guard let first = missed.first else { return values }
        let asked = missed.map(\.key)
        let entries = try await remote { () throws(RemoteFailure) in
            for key in asked { try await finishRemovals(of: key) }
            do throws(RemoteFailure) {
                return try await withoutRemoved(
                    backend.entries(forKeys: asked),
                    of: asked,
                    first.ticket.changes
                )
            } catch {
                throw error.beforeSending  // Reading leaves nothing open.
            }
        }
        for (place, entry) in zip(missed, entries) {
            values[place.index] = try receive(entry, place.key, place.ticket) ?? nil
        }
        return values
    }

    /// Interprets the reply of the server: a value, a recorded `nil` (`.some(nil)`), or no valid
    /// entry (`nil`).
    func receive(
        _ entry: RemoteEntry,
        _ key: EntryKey,
        _ ticket: NearCache<Value>.Ticket
    ) throws(VellumError) -> Value?? {
        counts.reads.add(1, ordering: .relaxed)
        near.forgetOutage(key)
        switch entry {
        case .missing: return nil
        case .damaged:
            throw error(
                .damagedEntry,
                "The entry on the server does not match its checksum. Set the value again."
            )
        case .tooLarge:
            let most = RemoteRecord.longest >> 20
            throw error(
                .damagedEntry,
                """
                The entry on the server is larger than \(most) MiB, and was not read. Set the \
                value again.
                """
            )
        case .record(let record):
            guard let now = near.trusts.time(at: ticket.place), now < record.expires else {
                return nil
            }
            let value = try decode(record, key)
            near.fill(value, record, forKey: key, ticket: ticket)
            return .some(value)
        }
    }

    /// - Returns: `nil` if there is nothing under the key, or a migration dropped it.
    func decode(_ record: RemoteRecord, _ key: EntryKey) throws(VellumError) -> Value? {
        guard let bytes = record.value else { return nil }
        do {
            return try coding.decode(bytes, record.typeVersion, key)
        } catch let error as VellumError where error.code == .newerVersion {
            throw error.located(archive: name, path: nil)
        } catch {
            throw self.error(
                .notDecodable,
                """
                The entry on the server cannot be decoded as \(Value.self): \
                \(codingReason(error)). If the type has changed, use another version of the cache, \
                or set the value again.
                """,
                cause: error
            )
        }
    }

    func error(
        _ code: VellumError.Code,
        _ message: String,
        cause: (any Error)? = nil
    ) -> VellumError {
        VellumError(code, message, cause: cause).located(archive: name, path: nil)
    }

    // MARK: Writing

    /// Sets the value of a key. When the call returns, no read of this process returns an older
    /// one.
    package func set(
        _ value: Value,
        forKey key: EntryKey,
        under expiration: Expiration,
        groups: [EntryKey] = []
    ) async throws(VellumError) {
        _ = try await put(value, key, expiration, groups) {
            [backend] (record, lifetime) throws(RemoteFailure) in
            try await backend.put(record, forKey: key, lifetime: lifetime)
            return true
        }
    }

    /// Sets the value of a key unless the server has a valid one. Returns whether it was set.
    package func setIfAbsent(
        _ value: Value,
        forKey key: EntryKey,
        under expiration: Expiration
    ) async throws(VellumError) -> Bool {
        try await put(value, key, expiration) { (record, lifetime) throws(RemoteFailure) in
            var removed: RemoteRecord?
            // Each round but the first follows a write of another.
            for _ in 0..<64 {
                let isPut = try await backend.putIfAbsent(
                    record,
                    forKey: key,
                    lifetime: lifetime,
                    replacing: removed
                )
                if let isPut { return isPut }
                let ticket = near.ticket(forKey: key)
                let entry = try await backend.entry(forKey: key)
                guard try await withoutRemoved([entry], of: [key], ticket.changes) == [.missing]
                else { return false }
                if case .record(let old) = entry { removed = old }
            }
            throw .unexpectedReply
        }
    }

    private func put(
        _ value: Value,
        _ key: EntryKey,
        _ expiration: Expiration,
        _ groups: [EntryKey] = [],
        _ send: (RemoteRecord, _ lifetime: Int64?) async throws(RemoteFailure) -> Bool
    ) async throws(VellumError) -> Bool {
        try expiration.check()
        let bytes: Data
        do {
            bytes = try coding.encode(value)
        } catch {
            let reason =
                """
                A value of type \(Value.self) cannot be encoded: \(codingReason(error)). The old \
                value is still there.
                """
            throw self.error(.notEncodable, reason, cause: error)
        }
        defer { didWrite([key]) }
        return try await remote { () throws(RemoteFailure) in
            // The first command learns the server's time.
            if time(of: key) == nil { _ = try await backend.entry(forKey: key) }
            try await finishRemovals(of: key)
            let epochs = try await takeEpochs(of: groups, key, expiration)
            var (record, lifetime) = try record(bytes, key, expiration)
            record.groups = epochs
            return try await send(record, lifetime)
        }
    }

    /// Removes the value of a key. If the server cannot be reached, the removal is sent when it is
    /// there again, and until then the key is not read.
    package func removeValue(forKey key: EntryKey) async throws(VellumError) {
        defer { didWrite([key]) }
        pending.withLock { $0.insert(key, of: places) }
        try await remote { () throws(RemoteFailure) in try await finishRemovals(of: key) }
    }

    /// Removes every value. Values that others set during the call are removed or stay.
    package func removeAll() async throws(VellumError) {
        defer { didWrite(nil) }
        pending.withLock { $0.insertEverything(of: places) }
        try await remote { () throws(RemoteFailure) in
            try await finish { $0.lots(places).contains(.everything) ? .everything : nil }
        }
    }

    /// A caller wrote the keys: no later read gets what was there before, from memory or from a
    /// load that runs.
    private func didWrite(_ keys: [EntryKey]?) {
        near.forget(keys, isWrite: true)
    }

    /// Returns the bytes for the server and how long it keeps them.
    func record(
        _ value: Data?,
        _ key: EntryKey,
        _ expiration: Expiration
    ) throws(RemoteFailure) -> (RemoteRecord, lifetime: Int64?) {
        guard let now = time(of: key) else {
            throw .unreachable("The time of the server is not known.")
        }
        let age = expiration.age(of: key, written: now)
        let record = RemoteRecord(
            value: value,
            typeVersion: coding.typeVersion,
            written: now,
            expires: age == .max ? .never : now.advanced(byMilliseconds: age)
        )
        let (lifetime, isForever) = age.addingReportingOverflow(
            longestStaleness.load(ordering: .relaxed)
        )
        // The server refuses an end that its clock cannot count.
        return (record, age == .max || isForever || lifetime >= .max >> 1 ? nil : lifetime)
    }

    /// From now on, the server keeps new entries for so many milliseconds past their age.
    package func keepExpired(forMilliseconds staleness: Int64) {
        if longestStaleness.load(ordering: .relaxed) < staleness {
            longestStaleness.max(staleness, ordering: .relaxed)
        }
    }
}
