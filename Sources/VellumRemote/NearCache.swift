internal import Synchronization
public import VellumCore

/// The values of a cache on a server that a process keeps in memory, and returns without asking the
/// server while ``Trust`` lasts (decision 57).
///
/// In a cluster, what comes of one primary is forgotten without the others (``Trusts``), at once
/// but for its room, which is that of the oldest entries.
///
/// The server notifies the process of keys that others change. The connection's thread removes such
/// a key before any caller gets a reply that the server sent later. A reader takes a ticket before
/// it asks the server. Its reply is stored only if the key did not change since: the reply and the
/// notification may arrive at the same time.
///
/// - Complexity: O(1) for every call, except ``begin(_:)`` and forgetting everything, which are
///   O(n).
@usableFromInline package final class NearCache<Value: Sendable>: MemoryHolder {
    /// Shows that nothing of a key, and of the groups of its value, changed since it was taken.
    package struct Ticket: Sendable {
        fileprivate let key: Memory.FillTicket
        /// Of ``groups``.
        let changes: UInt64
        fileprivate let source: Trusts.Source
        /// The primary of the key.
        let place: Int?
    }

    /// A value, or that there is none, and who says it.
    @usableFromInline struct Known: Sendable {
        @usableFromInline let value: Value?
        @usableFromInline var source: Trusts.Source
        /// By the clock of its primary.
        var written: WallInstant
    }

    @usableFromInline typealias Memory = MemoryCache<Known>

    /// By the steady clock: those of the primaries differ.
    @usableFromInline let memory: Memory
    package let trusts: Trusts
    /// The trust in a server alone; `nil` in a cluster.
    @usableFromInline let trust: Trust?
    let places: Places
    /// What this process has loaded while the server was out of reach. Forgotten with everything
    /// else when the server is back.
    let outage: Memory
    /// Whether ``outage`` may hold something.
    private let hasOutage = Atomic(false)
    /// How often ``memory`` counted a hit that was none.
    private let uncounted = Atomic(0)
    /// Locked before a memory cache. Values without groups do not need it.
    let groups = Locked(NearGroups())

    /// - Parameter capacity: The limit of memory, in bytes on the server. In an outage, a quarter
    ///   of it may be used besides.
    package init(capacity: Capacity, trusts: Trusts, places: Places = .one) {
        memory = MemoryCache(capacity: capacity)
        outage = MemoryCache(
            capacity: Capacity(bytes: max(capacity.bytes / 4, 1), entries: capacity.entries)
        )
        self.trusts = trusts
        self.places = places
        trust = trusts.isOne ? trusts[0] : nil
        MemoryHolders.shared.insert(self)
    }

    /// The near cache of a server alone.
    package convenience init(capacity: Capacity, trust: Trust) {
        self.init(capacity: capacity, trusts: Trusts(trust))
    }

    /// Forgets answers of the server, the least recently used first, because the system is short of
    /// memory. What was loaded in an outage stays.
    package func release(under pressure: MemoryPressure) {
        release(memory.trim(toBytes: Int(Double(usage.bytes) * pressure.keptFraction)))
    }

    // MARK: Reading

    /// Returns the answer that memory has for the key, which was the server's less than the trust's
    /// duration ago: `.some(nil)` if there is nothing under the key, `nil` if the server must be
    /// asked. Affects the eviction order.
    @inlinable
    package func hit(forKey key: EntryKey) -> Value?? {
        guard let trust else { return hitInCluster(key) }
        guard let now = trust.timeIfTrusted() else { return nil }
        var notifiesDisk = false
        return memory.use(key, at: now, notifiesDisk: &notifiesDisk) { .some($0.value) }
    }

    /// The same, and whether the given part of the answer's age is over.
    @inlinable
    package func hit(
        forKey key: EntryKey,
        refreshAhead part: Double,
        isDue: UnsafeMutablePointer<Bool>
    ) -> Value?? {
        guard let trust else { return hitInCluster(key, ahead: .init(part, isDue: isDue)) }
        guard let now = trust.timeIfTrusted() else { return nil }
        var notifiesDisk = false
        return memory.use(
            key,
            at: now,
            notifiesDisk: &notifiesDisk,
            ahead: .init(part, isDue: isDue)
        ) { .some($0.value) }
    }

    @usableFromInline func hitInCluster(
        _ key: EntryKey,
        ahead: RefreshAhead? = nil
    ) -> Value?? {
        var notifiesDisk = false
        var isKnown = false
        let value = memory.use(key, at: trusts.now, notifiesDisk: &notifiesDisk, ahead: ahead) {
            known -> Value?? in
            isKnown = true
            return trusts.isTrusted(known.source) ? .some(known.value) : nil
        }
        if isKnown, value == nil { uncounted.add(1, ordering: .relaxed) }
        return value
    }

    /// Returns a ticket for a caller that is about to ask the server.
    package func ticket(forKey key: EntryKey) -> Ticket {
        ticket(key, memory)
    }

    private func ticket(_ key: EntryKey, _ memory: Memory) -> Ticket {
        let (source, place) = trusts.source(of: key, places)
        return Ticket(
            key: memory.ticket(forMissed: key),
            changes: groups.withLock { $0.changes },
            source: source,
            place: place
        )
    }

    /// Stores the reply of the server, unless the key may have changed since the ticket was taken.
    ///
    /// - Parameters:
    ///   - value: `nil` if there is nothing under the key.
    ///   - record: The record that the value was decoded from.
    package func fill(_ value: Value?, _ record: RemoteRecord, forKey key: EntryKey, ticket: Ticket)
    {
        if record.groups.isEmpty, isRemembered(record, key) { return }
        let validity = Validity(
            written: trusts.steady(record.written, at: ticket.place),
            expires: trusts.steady(record.expires, at: ticket.place)
        )
        fill(memory, value, record, validity, forKey: key, ticket)
    }

    /// Whether memory has what the server sent: nobody has changed it since it was remembered, or
    /// it would be forgotten. Affects the eviction order.
    ///
    /// Storing it again would take the locks of all readers.
    private func isRemembered(_ record: RemoteRecord, _ key: EntryKey) -> Bool {
        var notifiesDisk = false
        var isKnown = false
        let isSame = memory.use(key, at: trusts.now, notifiesDisk: &notifiesDisk) {
            known -> Bool? in
            isKnown = true
            return known.written == record.written && trusts.isCurrent(known.source)
        }
        if isKnown { uncounted.add(1, ordering: .relaxed) }
        return isSame == true
    }

    private func fill(
        _ cache: Memory,
        _ value: Value?,
        _ record: RemoteRecord,
        _ validity: Validity,
        forKey key: EntryKey,
        _ ticket: Ticket
    ) {
        var source = ticket.source
        if !record.groups.isEmpty, !trusts.isOne {
            let others = trusts.source {
                record.groups.map { places.ofGroup($0.name) ?? .max }
            }
            source.places =
                source.places == 0 || others.places == 0 ? 0 : source.places | others.places
        }
        // It would never be an answer. In an outage it depends on no primary.
        guard source.places != 0 || cache === outage else { return }
        let cost = record.groups.reduce(RemoteRecord.headerLength + (record.value?.count ?? 0)) {
            $0 + 12 + $1.name.normalized.utf8.count
        }
        let item = Memory.Item(
            payload: Known(value: value, source: source, written: record.written),
            cost: cost,
            entryID: 0,
            validity: validity
        )
        let now = trusts.now
        if record.groups.isEmpty {
            return release(cache.fill(item, forKey: key, ticket: ticket.key, at: now))
        }
        // In the lock, so that a change of a group finds the value, or is found here. In an outage
        // no epoch is known.
        let effects = groups.withLock { groups -> Memory.DeferredEffects? in
            guard
                cache === outage
                    ? groups.changes == ticket.changes : record.groups.allSatisfy(groups.knows)
            else { return nil }
            defer { groups.prune(isThere) }
            groups.insert(key, validity.written, into: record.groups)
            return cache.fill(item, forKey: key, ticket: ticket.key, at: now)
        }
        if let effects { release(effects) }
    }

    /// Remembers the epochs of groups, unless one changed since.
    func learn(_ epochs: [EntryKey: UInt64], since changes: UInt64) {
        groups.withLock { groups in
            groups.learn(epochs, of: places.ofGroup, since: changes)
            groups.prune(isThere)
        }
    }

    private func isThere(_ key: EntryKey, _ written: WallInstant) -> Bool {
        memory.peek(key)?.validity.written == written
            || outage.peek(key)?.validity.written == written
    }

    /// Returns the value in memory, even if it has expired or is not trusted any more. For callers
    /// that accept an old value.
    package func oldValue(forKey key: EntryKey) -> ExpiredValue<Value>? {
        guard let item = memory.peek(key), trusts.isCurrent(item.payload.source),
            let value = item.payload.value
        else { return nil }
        return ExpiredValue(value, end: item.validity.until)
    }

    // MARK: While the server is out of reach

    /// Returns what this process has loaded a moment ago; `.some(nil)` if there is nothing under
    /// the key.
    ///
    /// - Parameter now: By the steady clock, as in the fill.
    func outageValue(forKey key: EntryKey, at now: WallInstant) -> Value?? {
        var notifiesDisk = false
        return outage.use(key, at: now, notifiesDisk: &notifiesDisk) { known in
            trusts.isCurrent(known.source) || known.source.places == 0
                ? .some(known.value)
                : nil
        }
    }

    /// Returns a ticket for a caller that is about to load without the server.
    func outageTicket(forKey key: EntryKey) -> Ticket {
        ticket(key, outage)
    }

    /// Remembers a loaded value, unless the key was written, a group was removed, or the server
    /// came back, since the ticket was taken.
    func fillInOutage(
        _ value: Value?,
        _ record: RemoteRecord,
        forKey key: EntryKey,
        ticket: Ticket
    ) {
        hasOutage.store(true, ordering: .relaxed)
        fill(
            outage,
            value,
            record,
            Validity(written: record.written, expires: record.expires),
            forKey: key,
            ticket
        )
    }

    /// Forgets what was loaded under the key while the server was out of reach, because it has
    /// answered.
    func forgetOutage(_ key: EntryKey) {
        if hasOutage.load(ordering: .relaxed) { release(outage.remove(key)) }
    }

    var usage: StorageUsage { memory.totals() }

    /// How many near hits there were.
    var hits: Int { memory.hits - uncounted.load(ordering: .relaxed) }

    // MARK: Forgetting

    /// Removes keys that changed: those that the server names, and those that this process wrote or
    /// may have written.
    ///
    /// - Parameters:
    ///   - keys: `nil` for all keys.
    ///   - isWrite: Whether a caller of this process wrote them. Then remembered failures of their
    ///     loaders end, too.
    func forget(_ keys: [EntryKey]?, isWrite: Bool = false) {
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

    /// Forgets what depends on a primary of a cluster, which may have changed it, or has lost a
    /// slot.
    ///
    /// - Parameter isMoved: Whether loads of any key are overtaken, because it is not known which
    ///   keys it had.
    func forget(place: Int, isMoved: Bool) {
        trusts.beginAnew(place)
        forgetOutages()
        memory.recordChange { isMoved || places.ofKey($0) == place }
        groups.withLock { $0.removeAll(of: place) }
    }

    /// Forgets what this process has loaded while a server was out of reach.
    func forgetOutages() {
        guard hasOutage.load(ordering: .relaxed) else { return }
        hasOutage.store(false, ordering: .relaxed)
        release(outage.removeAll())
    }

    /// Removes the values of groups that changed. Loads of such values are overtaken, and
    /// remembered failures end.
    func forget(groups names: [EntryKey]) {
        // In the lock: who does not find a group any more does not find its values either.
        let effects = groups.withLock {
            $0.remove(names).flatMap {
                [outage.remove($0), memory.remove($0, isWrite: true)]
            }
        }
        effects.forEach(release)
        for name in names { memory.recordRemoval(ofGroup: name) }
    }

    /// Released outside the locks; nothing is on a disk, so nothing else follows.
    private func release(_ effects: Memory.DeferredEffects) { withExtendedLifetime(effects) {} }
}
