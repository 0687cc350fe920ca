internal import VellumCore

/// The state of a ``WriteOrder``, which does not depend on its keys: not nested in it, or each access would look up the type.
private struct WriteOrderState: Sendable {
    var versions = WriteVersions<Never>()
    var removeAllEpoch = 0
}

/// The order of writes, fills and reads of a storage that is made of two, key by key.
///
/// Writes of one key follow one another, so that they reach both layers in one order and none is undone over the next. A fill goes
/// ahead only if nothing was written since its value was read, and the writes of its key wait until it ends.
final class WriteOrder<Key: Sendable>: Sendable {
    typealias Ticket = WriteVersions<Never>.Ticket

    private let mutex = KeyedMutex()
    private let state = Locked(WriteOrderState())
    private let stripe = WriteOrder.striping()
    /// The layer that is named where a call fails.
    private let layer: String

    init(layer: String) {
        self.layer = layer
    }

    private func lockKey(_ key: Key) -> LockKey { LockKey(of: self, key) }

    // MARK: Writes that end when they return

    /// Begins a write that nothing is in the way of; else returns `nil`. It must be ended, or extended, before long.
    func beginBriefly(_ key: Key) -> Int? {
        let stripe = stripe(key)
        return mutex.tryLockBriefly(stripe) { lockKey(key) } ? stripe : nil
    }

    func endBriefly(_ stripe: Int) {
        state.withLock { $0.versions.invalidateTickets(stripe) }
        mutex.unlockBriefly(stripe)
    }

    /// Goes on with a write that was begun briefly and is not answered yet: others of its key wait until it ends.
    func extend(_ stripe: Int, of key: Key, _ promise: Promise<Void>) -> Reply<Void> {
        let hold = mutex.extendBriefHold(stripe, of: lockKey(key))
        return Reply.later(promise).map { [self] outcome in
            state.withLock { $0.versions.invalidateTickets(stripe) }
            if let hold { mutex.unlock(hold) }
            return outcome
        }
    }

    // MARK: Other writes

    /// Runs a write of the key when no other write or fill of it is under way.
    func write(_ key: Key, _ call: Call, _ work: @escaping @Sendable (Call) -> Reply<Void>) -> Reply<Void> {
        let (stripe, lockKey) = (stripe(key), lockKey(key))
        let write: @Sendable (Call) -> Reply<Void> = { [self] call in
            state.withLock { $0.versions.beginWrite(stripe) }
            return work(call).map { [self] outcome in
                state.withLock { $0.versions.endWrite(stripe) }
                return outcome
            }
        }
        // A front that writes through the whole while it is filled does not wait for the fill.
        if ReentrancyGuard.isActive(.filling(lockKey)) { return write(call) }
        return mutex.run(lockKey, stripe: stripe, layer: layer, call, write)
    }

    /// Runs a write of every key, when the fills and writes that are under way have ended. No value that was read before fills.
    func writeAll(_ call: Call, _ work: @escaping @Sendable () -> Reply<Void>) -> Reply<Void> {
        state.withLock { state in
            state.versions.beginWriteOfAll()
            state.removeAllEpoch += 1
        }
        return mutex.waitForHolders(layer: layer, call).then { outcome in outcome.then { work() } }.map { [self] outcome in
            state.withLock { state in
                state.versions.endWriteOfAll()
                state.removeAllEpoch += 1
            }
            return outcome
        }
    }

    /// Changes when a write of every key begins, and when it ends: then it is even.
    var removeAllEpoch: Int { state.withLock { $0.removeAllEpoch } }

    /// Whether every key was written since that epoch, or is being written.
    func hasWrittenAll(since epoch: Int) -> Bool {
        let now = removeAllEpoch
        return now != epoch || !now.isMultiple(of: 2)
    }

    // MARK: Reads and fills

    /// - Returns: `nil` while something that may be the key is being written.
    func ticket(_ key: Key) -> Ticket? { state.withLock { $0.versions.ticket(stripe(key)) } }

    /// Whether nothing was written since the ticket was given.
    func isCurrent(_ ticket: Ticket) -> Bool { state.withLock { $0.versions.isCurrent(ticket) } }

    /// Runs a fill, if nothing was written since the ticket was given and nobody has the key; else returns `nil`.
    func fill(_ key: AnyKey?, _ ticket: Ticket, _ call: Call, _ work: (Call) -> Reply<Void>) -> Reply<Void>? {
        let lockKey = LockKey(of: self, erased: key)
        guard let hold = mutex.tryLock(lockKey, stripe: ticket.stripe) else { return nil }
        guard isCurrent(ticket) else {
            mutex.unlock(hold)
            return nil
        }
        return mutex.holding(hold, as: .filling(lockKey), call, work)
    }

    /// Runs a read while nothing writes the key.
    func read<Value: Sendable>(_ key: Key, _ call: Call, _ work: @escaping @Sendable (Call) -> Reply<Value>) -> Reply<Value> {
        mutex.run(lockKey(key), stripe: stripe(key), layer: layer, call, work)
    }

    /// Whether the code that runs is part of a write of the key.
    func isWrittenByCaller(_ key: Key) -> Bool { mutex.isHeldByCaller(lockKey(key)) }

    // MARK: Stripes

    /// The stripe of a key, where keys can be compared; else they have one in common.
    private static func striping() -> @Sendable (Key) -> Int {
        func ofHashable<Other: Hashable & SendableMetatype>(_: Other.Type) -> @Sendable (Key) -> Int {
            // `Other` is `Key`, which the compiler does not know to be Hashable.
            { WriteVersions<Never>.stripe(ofHash: unsafeBitCast($0, to: Other.self).hashValue) }
        }
        guard let type = Key.self as? any (Hashable & SendableMetatype).Type else { return { _ in 0 } }
        return ofHashable(type)
    }
}
