internal import Synchronization
public import VellumCore

/// The values of a cache on a server that a process keeps in memory, and returns without asking the server while ``Trust`` lasts (decision 57).
///
/// The server notifies the process of keys that others change. The connection's thread removes such a key before any caller gets a reply that
/// the server sent later. A reader takes a ticket before it asks the server. Its reply is stored only if the key did not change since: the
/// reply and the notification may arrive at the same time.
///
/// - Complexity: O(1) for every call, except ``begin(_:)`` and forgetting everything, which are O(n).
@usableFromInline package final class NearCache<Value: Sendable>: MemoryHolder {
    /// Shows that nothing of a key, and of the groups of its value, changed since it was taken.
    package struct Ticket: Sendable {
        fileprivate let key: MemoryCache<Value?>.FillTicket
        /// Of ``groups``.
        let changes: UInt64
    }

    @usableFromInline let memory: MemoryCache<Value?>
    @usableFromInline package let trust: Trust
    /// What this process has loaded while the server was out of reach. Forgotten with everything else when the server is back.
    let outage: MemoryCache<Value?>
    /// Whether ``outage`` may hold something.
    private let hasOutage = Atomic(false)
    /// Locked before a memory cache. Values without groups do not need it.
    let groups = Locked(NearGroups())

    /// - Parameter capacity: The limit of memory, in bytes on the server. In an outage, a quarter of it may be used besides.
    package init(capacity: Capacity, trust: Trust) {
        memory = MemoryCache(capacity: capacity)
        outage = MemoryCache(capacity: Capacity(bytes: max(capacity.bytes / 4, 1), entries: capacity.entries))
        self.trust = trust
        MemoryHolders.shared.insert(self)
    }

    /// Forgets answers of the server, the least recently used first, because the system is short of memory. What was loaded in an outage stays.
    package func release(under pressure: MemoryPressure) {
        release(memory.trim(toBytes: Int(Double(usage.bytes) * pressure.keptFraction)))
    }

    // MARK: Reading

    /// Returns the answer that memory has for the key, which was the server's less than the trust's duration ago: `.some(nil)` if there is
    /// nothing under the key, `nil` if the server must be asked. Affects the eviction order.
    @inlinable
    package func hit(forKey key: EntryKey) -> Value?? {
        guard let now = trust.timeIfTrusted() else { return nil }
        var notifiesDisk = false
        return memory.use(key, at: now, notifiesDisk: &notifiesDisk)
    }

    /// The same, and whether the given part of the answer's age is over.
    @inlinable
    package func hit(forKey key: EntryKey, refreshAhead part: Double, isDue: UnsafeMutablePointer<Bool>) -> Value?? {
        guard let now = trust.timeIfTrusted() else { return nil }
        var notifiesDisk = false
        return memory.use(key, at: now, notifiesDisk: &notifiesDisk, ahead: .init(part, isDue: isDue)) { .some(copy $0) }
    }

    /// Returns a ticket for a caller that is about to ask the server.
    package func ticket(forKey key: EntryKey) -> Ticket {
        Ticket(key: memory.ticket(forMissed: key), changes: groups.withLock { $0.changes })
    }

    /// Stores the reply of the server, unless the key may have changed since the ticket was taken.
    ///
    /// - Parameters:
    ///   - value: `nil` if there is nothing under the key.
    ///   - record: The record that the value was decoded from.
    package func fill(_ value: Value?, _ record: RemoteRecord, forKey key: EntryKey, ticket: Ticket) {
        guard let now = trust.time() else { return }
        fill(memory, value, record, forKey: key, ticket, at: now)
    }

    private func fill(
        _ cache: MemoryCache<Value?>, _ value: Value?, _ record: RemoteRecord, forKey key: EntryKey, _ ticket: Ticket, at now: WallInstant
    ) {
        let item = item(value, record)
        if record.groups.isEmpty { return release(cache.fill(item, forKey: key, ticket: ticket.key, at: now)) }
        // In the lock, so that a change of a group finds the value, or is found here. In an outage no epoch is known.
        let effects = groups.withLock { groups -> MemoryCache<Value?>.DeferredEffects? in
            guard cache === outage ? groups.changes == ticket.changes : record.groups.allSatisfy(groups.knows) else { return nil }
            defer { groups.prune(isThere) }
            groups.insert(key, record.written, into: record.groups)
            return cache.fill(item, forKey: key, ticket: ticket.key, at: now)
        }
        if let effects { release(effects) }
    }

    /// Remembers the epochs of groups, unless one changed since.
    func learn(_ epochs: [EntryKey: UInt64], since changes: UInt64) {
        groups.withLock { groups in
            groups.learn(epochs, since: changes)
            groups.prune(isThere)
        }
    }

    private func isThere(_ key: EntryKey, _ written: WallInstant) -> Bool {
        memory.peek(key)?.validity.written == written || outage.peek(key)?.validity.written == written
    }

    private func item(_ value: Value?, _ record: RemoteRecord) -> MemoryCache<Value?>.Item {
        let validity = Validity(written: record.written, expires: record.expires)
        let cost = record.groups.reduce(RemoteRecord.headerLength + (record.value?.count ?? 0)) { $0 + 12 + $1.name.normalized.utf8.count }
        return .init(payload: value, cost: cost, entryID: 0, validity: validity)
    }

    /// Returns the value in memory, even if it has expired or is not trusted any more. For callers that accept an old value.
    package func oldValue(forKey key: EntryKey) -> ExpiredValue<Value>? {
        guard let item = memory.peek(key), let value = item.payload else { return nil }
        return ExpiredValue(value, end: item.validity.until)
    }

    // MARK: While the server is out of reach

    /// Returns what this process has loaded a moment ago; `.some(nil)` if there is nothing under the key.
    ///
    /// - Parameter now: By the steady clock, as in the fill.
    package func outageValue(forKey key: EntryKey, at now: WallInstant) -> Value?? {
        var notifiesDisk = false
        return outage.use(key, at: now, notifiesDisk: &notifiesDisk)
    }

    /// Returns a ticket for a caller that is about to load without the server.
    package func outageTicket(forKey key: EntryKey) -> Ticket {
        Ticket(key: outage.ticket(forMissed: key), changes: groups.withLock { $0.changes })
    }

    /// Remembers a loaded value, unless the key was written, a group was removed, or the server came back, since the ticket was taken.
    package func fillInOutage(_ value: Value?, _ record: RemoteRecord, forKey key: EntryKey, ticket: Ticket) {
        hasOutage.store(true, ordering: .relaxed)
        fill(outage, value, record, forKey: key, ticket, at: record.written)
    }

    /// Forgets what was loaded under the key while the server was out of reach, because it has answered.
    package func forgetOutage(_ key: EntryKey) {
        if hasOutage.load(ordering: .relaxed) { release(outage.remove(key)) }
    }

    package var usage: StorageUsage { memory.totals() }

    /// How many near hits there were.
    package var hits: Int { memory.hits }

    // MARK: Forgetting

    /// Removes keys that changed: those that the server names, and those that this process wrote or may have written.
    ///
    /// - Parameters:
    ///   - keys: `nil` for all keys.
    ///   - isWrite: Whether a caller of this process wrote them. Then remembered failures of their loaders end, too.
    package func forget(_ keys: [EntryKey]?, isWrite: Bool = false) {
        guard let keys else {
            hasOutage.store(false, ordering: .relaxed)
            let effects = groups.withLock { groups in
                groups.removeAll()
                return [outage.removeAll(), memory.removeAll(isWrite: isWrite)]
            }
            return effects.forEach(release)
        }
        for key in keys {
            release(outage.remove(key))
            release(memory.remove(key, isWrite: isWrite))
        }
    }

    /// Removes the values of groups that changed. Loads of such values are overtaken, and remembered failures end.
    package func forget(groups names: [EntryKey]) {
        // In the lock: who does not find a group any more does not find its values either.
        let effects = groups.withLock { $0.remove(names).flatMap { [outage.remove($0), memory.remove($0, isWrite: true)] } }
        effects.forEach(release)
        for name in names { memory.recordRemoval(ofGroup: name) }
    }

    /// Released outside the locks; nothing is on a disk, so nothing else follows.
    private func release(_ effects: MemoryCache<Value?>.DeferredEffects) { withExtendedLifetime(effects) {} }
}
