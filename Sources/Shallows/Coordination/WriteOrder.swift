internal import VellumCore

/// The order of writes, fills and reads of a storage that is made of two, key by key.
///
/// Writes of one key follow one another, so that they reach both layers in one order. A fill goes
/// ahead only if nothing was written since its value was read, and the writes of its key wait until
/// it ends.
final class WriteOrder<Key: Sendable>: Sendable {
    typealias Ticket = WriteVersions.Ticket

    private let mutex = KeyedMutex()
    private let versions = Locked(WriteVersions())
    private let stripe = WriteOrder.striping()
    /// The layer that is named where a call fails.
    private let layer: String

    init(layer: String) {
        self.layer = layer
    }

    private func lockKey(_ key: Key) -> LockKey { LockKey(of: self, key) }

    // MARK: Writes

    /// Runs a write of the key when no other write or fill of it is under way.
    func write(
        _ key: Key,
        _ call: Call,
        _ work: @escaping @Sendable (Call) -> Reply<Void>
    ) -> Reply<Void> {
        let stripe = stripe(key)
        let lockKey = lockKey(key)
        let write: @Sendable (Call) -> Reply<Void> = { [self] call in
            versions.withLock { $0.beginWrite(stripe) }
            return work(call).map { [self] outcome in
                versions.withLock { $0.endWrite(stripe) }
                return outcome
            }
        }
        // A front that writes through the whole while it is filled does not wait for the fill.
        if ReentrancyGuard.isActive(.filling(lockKey)) { return write(call) }
        return mutex.run(lockKey, layer: layer, call, write)
    }

    /// Runs a write of every key, when the fills and writes that are under way have ended. No value
    /// that was read before fills.
    func writeAll(
        _ call: Call,
        _ work: @escaping @Sendable () -> Reply<Void>
    ) -> Reply<Void> {
        versions.withLock { $0.beginWriteOfAll() }
        return mutex.waitForHolders(layer: layer, call).then { outcome in outcome.then { work() } }
            .map { [self] outcome in
                versions.withLock { $0.endWriteOfAll() }
                return outcome
            }
    }

    // MARK: Reads and fills

    /// - Returns: `nil` while something that may be the key is being written.
    func ticket(_ key: Key) -> Ticket? {
        versions.withLock { $0.ticket(stripe(key)) }
    }

    /// Whether nothing was written since the ticket was given.
    func isCurrent(_ ticket: Ticket) -> Bool { versions.withLock { $0.isCurrent(ticket) } }

    /// Runs a fill, if nothing was written since the ticket was given and nobody has the key; else
    /// returns `nil`.
    func fill(
        _ key: AnyKey?,
        _ ticket: Ticket,
        _ call: Call,
        _ work: (Call) -> Reply<Void>
    ) -> Reply<Void>? {
        let lockKey = LockKey(of: self, erased: key)
        guard let hold = mutex.tryLock(lockKey) else { return nil }
        guard isCurrent(ticket) else {
            mutex.unlock(hold)
            return nil
        }
        return mutex.holding(hold, as: .filling(lockKey), call, work)
    }

    /// Runs a read while nothing writes the key.
    func read<Value: Sendable>(
        _ key: Key,
        _ call: Call,
        _ work: @escaping @Sendable (Call) -> Reply<Value>
    ) -> Reply<Value> {
        mutex.run(lockKey(key), layer: layer, call, work)
    }

    /// Whether the code that runs is part of a write of the key.
    func isWrittenByCaller(_ key: Key) -> Bool { mutex.isHeldByCaller(lockKey(key)) }

    // MARK: Stripes

    /// The stripe of a key, where keys can be compared; else they have one in common.
    private static func striping() -> @Sendable (Key) -> Int {
        func ofHashable<Other: Hashable & SendableMetatype>(_: Other.Type) -> @Sendable (Key) -> Int
        {
            // `Other` is `Key`, which the compiler does not know to be Hashable.
            { WriteVersions.stripe(ofHash: unsafeBitCast($0, to: Other.self).hashValue) }
        }
        guard let type = Key.self as? any (Hashable & SendableMetatype).Type else {
            return { _ in 0 }
        }
        return ofHashable(type)
    }
}
