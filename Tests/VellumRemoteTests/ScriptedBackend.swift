import VellumCore
import VellumRemote

/// A server in memory, whose time is a test's, and whose answers a test replaces.
final class ScriptedBackend: RemoteBackend {
    struct State: Sendable {
        var entries: [EntryKey: RemoteRecord] = [:]
        /// For how long the server was asked to keep the entry that was sent last.
        var lifetime: Int64?
        var leases: [EntryKey: (token: LeaseToken, end: Int64)] = [:]
        /// The epochs of groups, and for how long each is kept at least.
        var epochs: [EntryKey: UInt64] = [:]
        var epochLifetimes: [EntryKey: Int64?] = [:]
        var epochFailure: RemoteFailure?
        var failure: RemoteFailure?
        var calls: [String] = []
        var beforeDrop: (@Sendable () async -> Void)?
        var beforeLease: (@Sendable () async -> Void)?
        var beforeEpoch: (@Sendable () async -> Void)?
        var clients: [@Sendable (_ keys: [EntryKey]?, _ areLeases: Bool) -> Void] = []
        var groupClients: [@Sendable (_ groups: [EntryKey]) -> Void] = []
    }

    private let state = Locked(State())
    private let clock: CoarseClock
    let leaseDuration: Int64

    init(clock: CoarseClock, leaseDuration: Int64 = 1000) {
        (self.clock, self.leaseDuration) = (clock, leaseDuration)
    }

    /// From now on every call fails with this.
    func fail(_ failure: RemoteFailure?) { state.withLock { $0.failure = failure } }

    /// Runs before each removal of keys.
    func beforeDrop(_ body: (@Sendable () async -> Void)?) {
        state.withLock { $0.beforeDrop = body }
    }

    /// Runs before each answer to a caller that would load.
    func beforeLease(_ body: (@Sendable () async -> Void)?) {
        state.withLock { $0.beforeLease = body }
    }

    /// Runs before each answer to a reader that compares an epoch.
    func beforeEpoch(_ body: (@Sendable () async -> Void)?) {
        state.withLock { $0.beforeEpoch = body }
    }

    func failEpochs(_ failure: RemoteFailure?) { state.withLock { $0.epochFailure = failure } }

    func epochLifetime(_ group: EntryKey) -> Int64?? { state.withLock { $0.epochLifetimes[group] } }

    /// The server evicts the epoch of a group, or someone writes another one.
    func setEpoch(_ epoch: UInt64?, of group: EntryKey) {
        state.withLock { $0.epochs[group] = epoch }
        pushGroups([group])
    }

    /// Tells a client of every change of a group's epoch.
    func pushGroups(to client: @escaping @Sendable (_ groups: [EntryKey]) -> Void) {
        state.withLock { $0.groupClients.append(client) }
    }

    private func pushGroups(_ groups: [EntryKey]) {
        for client in state.withLock({ $0.groupClients }) { client(groups) }
    }

    var lifetime: Int64? { state.withLock { $0.lifetime } }

    /// Tells a client of every change, as a server does that keeps track of what each has read: of
    /// its own changes, too.
    func push(to client: @escaping @Sendable (_ keys: [EntryKey]?, _ areLeases: Bool) -> Void) {
        state.withLock { $0.clients.append(client) }
    }

    private func push(_ keys: [EntryKey]?, areLeases: Bool = false) {
        for client in state.withLock({ $0.clients }) { client(keys, areLeases) }
    }

    var calls: [String] { state.withLock { $0.calls } }

    func record(_ key: EntryKey) -> RemoteRecord? { state.withLock { $0.entries[key] } }

    func lease(_ key: EntryKey) -> LeaseToken? { state.withLock { $0.leases[key]?.token } }

    private func call<Result>(
        _ name: String,
        _ body: (inout State) -> Result
    ) throws(RemoteFailure) -> Result {
        let (result, failure) = state.withLock { state -> (Result?, RemoteFailure?) in
            state.calls.append(name)
            if let failure = state.failure { return (nil, failure) }
            return (body(&state), nil)
        }
        if let failure { throw failure }
        guard let result else { throw .failed("No result.") }
        return result
    }

    func entry(forKey key: EntryKey) async throws(RemoteFailure) -> RemoteEntry {
        try call("entry") { $0.entries[key].map(RemoteEntry.record) ?? .missing }
    }

    func entries(forKeys keys: [EntryKey]) async throws(RemoteFailure) -> [RemoteEntry] {
        try call("entries") { state in
            keys.map { state.entries[$0].map(RemoteEntry.record) ?? .missing }
        }
    }

    func entryOrLease(
        forKey key: EntryKey,
        token: LeaseToken,
        ignoresEntry: Bool,
        atReply: @escaping @Sendable () -> Void
    ) async throws(RemoteFailure) -> LeaseAnswer {
        defer { atReply() }
        await state.withLock { $0.beforeLease }?()
        let now = clock.now()
        let answer = try call("entryOrLease") { state -> LeaseAnswer in
            let entry = state.entries[key]
            if let entry, !ignoresEntry, entry.expires.rawValue > now {
                return .found(.record(entry))
            }
            let old = entry.map(RemoteEntry.record) ?? .missing
            if let lease = state.leases[key], lease.end > now {
                return .busy(rest: lease.end - now, old: old)
            }
            state.leases[key] = (token, now + leaseDuration)
            return .granted(old: old)
        }
        if case .granted = answer { push([key], areLeases: true) }
        return answer
    }

    func put(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?
    ) async throws(RemoteFailure) {
        try call("put") { ($0.entries[key], $0.leases[key], $0.lifetime) = (record, nil, lifetime) }
        push([key])
    }

    func putIfAbsent(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        replacing removed: RemoteRecord?
    ) async throws(RemoteFailure) -> Bool? {
        let now = clock.now()
        let isPut = try call("putIfAbsent") { state -> Bool? in
            if let entry = state.entries[key], entry.value != nil, entry.expires.rawValue > now,
                entry != removed
            {
                return entry.groups.isEmpty ? false : nil
            }
            (state.entries[key], state.leases[key]) = (record, nil)
            return true
        }
        if isPut == true { push([key]) }
        return isPut
    }

    func epochs(
        of groups: [EntryKey],
        orMake new: (epoch: UInt64, lifetime: Int64?)?
    ) async throws(RemoteFailure) -> [EntryKey: UInt64] {
        if new == nil { await state.withLock { $0.beforeEpoch }?() }
        if let failure = state.withLock({ $0.epochFailure }) { throw failure }
        return try call(new == nil ? "epochs" : "takeEpochs") { state in
            for group in groups {
                if let new {
                    (state.epochs[group], state.epochLifetimes[group]) = (
                        state.epochs[group] ?? new.epoch, .some(new.lifetime)
                    )
                }
            }
            return state.epochs.filter { groups.contains($0.key) }
        }
    }

    func removeGroups(_ groups: [EntryKey], epoch: UInt64) async throws(RemoteFailure) {
        await state.withLock { $0.beforeDrop }?()
        let removed = try call("removeGroups") { state in
            groups.filter { group in
                if state.epochs[group] == nil { return false }
                state.epochs[group] = epoch
                return true
            }
        }
        if !removed.isEmpty { pushGroups(removed) }
    }

    func drop(_ keys: [EntryKey]) async throws(RemoteFailure) {
        await state.withLock { $0.beforeDrop }?()
        try call("drop") { for key in keys { ($0.entries[key], $0.leases[key]) = (nil, nil) } }
        push(keys)
    }

    func dropAll(at places: Set<Int>) async -> [Int: RemoteFailure] {
        await state.withLock { $0.beforeDrop }?()
        do throws(RemoteFailure) {
            let keys = try call("dropAll") { state in
                defer { (state.entries, state.leases) = ([:], [:]) }
                return Array(Set(state.entries.keys).union(state.leases.keys))
            }
            push(keys)
            return [:]
        } catch {
            return [0: error]
        }
    }

    func fill(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool {
        let isFilled = try call("fill") { state in
            guard state.leases[key]?.token == token else { return false }
            (state.entries[key], state.leases[key]) = (record, nil)
            return true
        }
        if isFilled { push([key]) }
        return isFilled
    }

    func renewEntry(
        _ record: RemoteRecord,
        forKey key: EntryKey,
        lifetime: Int64?,
        token: LeaseToken
    ) async throws(RemoteFailure) -> Bool {
        try call("renewEntry") { state in
            guard state.leases[key]?.token == token, let present = state.entries[key],
                present.value?.count == record.value?.count
            else {
                return false
            }
            (state.entries[key], state.leases[key]) = (record, nil)
            return true
        }
    }

    func renew(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) -> Bool {
        let end = clock.now() + leaseDuration
        return try call("renew") { state in
            guard state.leases[key]?.token == token else { return false }
            state.leases[key]?.end = end
            return true
        }
    }

    func giveBack(_ token: LeaseToken, forKey key: EntryKey) async throws(RemoteFailure) {
        let isGiven = try call("giveBack") { state in
            if state.leases[key]?.token != token { return false }
            state.leases[key] = nil
            return true
        }
        if isGiven { push([key], areLeases: true) }
    }
}
