public import VellumCore

/// What a process remembers of a cache on a server, and returns without asking it while it may be trusted (``Trust``).
///
/// The server says which keys others change. Such a key is forgotten on the thread of the connection, before any caller gets a reply that the
/// server sent later. Whoever reads the server takes a ticket before, and what it read is kept only if nothing of the key changed since: the
/// answer may be on its way while the change arrives.
///
/// - Complexity: O(1) for every call, except ``begin(_:)`` and forgetting everything, which are O(n).
@usableFromInline package final class NearCache<Value: Sendable>: Sendable {
    /// Shows that nothing of a key changed since it was taken.
    package struct Ticket: Sendable {
        fileprivate let memory: MemoryCache<Value?>.FillTicket
    }

    @usableFromInline let memory: MemoryCache<Value?>
    @usableFromInline let trust: Trust

    /// - Parameter capacity: The limit of what is remembered, in bytes on the server.
    package init(capacity: Capacity, trust: Trust) {
        memory = MemoryCache(capacity: capacity)
        self.trust = trust
    }

    /// An answer that was the server's less than the trust's duration ago.
    @usableFromInline package enum Hit: Sendable {
        case value(Value)
        /// There is nothing under the key.
        case nothing

        @inlinable package var value: Value? {
            switch self {
            case .value(let value): value
            case .nothing: nil
            }
        }
    }

    // MARK: Reading

    /// Returns what is remembered of the key; `nil` if the server has to be asked. Affects the eviction order.
    @inlinable
    package func hit(forKey key: EntryKey) -> Hit? {
        guard let now = trust.timeIfTrusted() else { return nil }
        var notifiesDisk = false
        guard let value = memory.use(key, at: now, notifiesDisk: &notifiesDisk) else { return nil }
        return value.map(Hit.value) ?? .nothing
    }

    /// Returns a ticket for a caller that is about to ask the server.
    package func ticket(forKey key: EntryKey) -> Ticket { Ticket(memory: memory.ticket(forMissed: key)) }

    /// Remembers what the server answered, unless something of the key may have changed since the ticket was taken.
    ///
    /// - Parameters:
    ///   - value: `nil` if there is nothing under the key.
    ///   - record: What it was decoded from.
    package func fill(_ value: Value?, _ record: RemoteRecord, forKey key: EntryKey, ticket: Ticket) {
        guard let now = trust.time() else { return }
        let validity = Validity(written: record.written, expires: record.expires)
        let item = MemoryCache<Value?>.Item(
            payload: value, cost: RemoteRecord.headerLength + (record.value?.count ?? 0), entryID: 0, validity: validity)
        release(memory.fill(item, forKey: key, ticket: ticket.memory, at: now))
    }

    /// Returns the value that was remembered last, whether it is valid and may be trusted or not. For callers that accept an old value if
    /// there is no other.
    package func oldValue(forKey key: EntryKey) -> ExpiredValue<Value>? {
        guard let item = memory.peek(key), let value = item.payload else { return nil }
        return ExpiredValue(value, end: item.validity.until)
    }

    package var usage: StorageUsage { memory.totals() }

    /// How many near hits there were.
    package var hits: Int { memory.hits }

    // MARK: Forgetting

    /// Forgets keys that changed: those that the server names, and those that this process wrote or may have written.
    ///
    /// - Parameters:
    ///   - keys: `nil` for all keys.
    ///   - isWrite: Whether a caller of this process wrote them, which also ends what is remembered of failed loads.
    package func forget(_ keys: [EntryKey]?, isWrite: Bool = false) {
        guard let keys else { return release(memory.removeAll(isWrite: isWrite)) }
        for key in keys { release(memory.remove(key, isWrite: isWrite)) }
    }

    /// Begins anew with a connection by which nothing was read: nobody said what changed before.
    package func begin(_ time: ServerTime) {
        forget(nil)
        trust.begin(time)
    }

    /// Released outside the locks; nothing is on a disk, so nothing else follows.
    private func release(_ effects: MemoryCache<Value?>.DeferredEffects) { withExtendedLifetime(effects) {} }
}
