public import Foundation
public import VellumCore

// The way of a write: one encode, the disk in one transaction, then memory in the order of the commits.

extension Store {
    /// Records the value under the key, whatever is there. A use of it.
    ///
    /// Encodes on the caller's thread, then blocks for the disk. A value that is larger than one tier's limit skips that
    /// tier and evicts nothing there.
    ///
    /// - Parameter expiration: How long it is valid, whoever reads; `nil` leaves that to each reader.
    /// - Complexity: O(log n), and O(log n) for each entry that must leave.
    /// - Throws: ``VellumError`` if the value cannot be encoded, is larger than every limit, or the disk fails. Then the old
    ///   value stays.
    @inlinable
    package func record(_ value: Value, forKey key: EntryKey, expiration: Expiration? = nil) throws(VellumError) {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: key, in: self, expiration: expiration)
        try transaction.carryOut()
    }

    /// Removes what is under the key.
    ///
    /// - Returns: Whether something was there.
    /// - Complexity: O(log n).
    @discardableResult
    @usableFromInline package func remove(_ key: EntryKey) throws(VellumError) -> Bool {
        var transaction = StoreTransaction()
        transaction.remove(key, in: self)
        return try transaction.commit()[0]
    }

    /// Removes everything.
    @usableFromInline package func removeAll() throws(VellumError) {
        var transaction = StoreTransaction()
        transaction.removeAll(in: self)
        try transaction.commit()
    }
}

/// Writes of any number of stores over one file that happen together or not at all.
///
/// ```swift
/// var transaction = StoreTransaction()
/// try transaction.record(ann, forKey: "ann", in: users)
/// transaction.remove("ann", in: invitations)
/// try transaction.commit()
/// ```
///
/// Collects encoded writes; nothing is held or locked until ``commit()``, which is as durable as the most demanding
/// of the stores. A transaction that is never committed changes nothing.
@usableFromInline package struct StoreTransaction {
    @usableFromInline var writes: [ArchiveWrite] = []
    @usableFromInline var steps: [Step] = []
    @usableFromInline var durability = Durability.relaxed

    /// What a write does in its store's memory.
    @usableFromInline struct Step {
        /// Its place in the order of use, taken when the transaction commits.
        @usableFromInline var stamp: () -> UseStamp
        /// What to do once it is committed, inside the disk's lock; returns what is left to do outside every lock.
        @usableFromInline var settle: (WriteOutcome, UseStamp) -> Settled

        @inlinable
        init(stamp: @escaping () -> UseStamp, settle: @escaping (WriteOutcome, UseStamp) -> Settled) {
            self.stamp = stamp
            self.settle = settle
        }
    }

    @usableFromInline struct Settled {
        @usableFromInline var didChange: Bool
        @usableFromInline var afterwards: () -> Void

        @inlinable
        init(didChange: Bool, afterwards: @escaping () -> Void) {
            self.didChange = didChange
            self.afterwards = afterwards
        }
    }

    @inlinable
    package init() {}

    /// Adds the recording of a value. Encodes it now.
    ///
    /// - Parameters:
    ///   - onlyIfAbsent: Whether to leave a valid value that is there when the transaction commits.
    /// - Throws: ``VellumError`` if the key is too long, or the value cannot be encoded or is larger than every limit; the transaction is as
    ///   before.
    @inlinable
    package mutating func record<Value>(
        _ value: Value, forKey key: EntryKey, in store: Store<Value>, onlyIfAbsent: Bool = false, expiration: Expiration? = nil
    ) throws(VellumError) {
        // Before a lock that another thread may have held when this process was forked.
        guard store.forkGuard.isThisProcess else { throw .forked }
        guard key.normalized.utf8.count <= EntryKey.maximumLength else { throw .keyTooLong(key) }
        let bytes = try store.encode(value)
        if bytes.count > max(store.capacities.memory.bytes, store.capacities.disk.bytes) { try store.refuseTooLarge(bytes) }
        let now = store.clock.now()
        if onlyIfAbsent, let present = store.memory.peek(key), present.row == 0, present.isValid(at: now, key) { return }

        let entry = Entry(
            bytes: bytes, forKey: key, written: now, expiration: expiration, indexed: store.catalog?.values(of: value))
        let change: ArchiveWrite.Change = onlyIfAbsent ? .storeIfAbsent(entry) : .store(entry)
        let cachedForm = store.cachedForm(value, bytes)
        let (cost, validity) = (bytes.count, entry.validity)

        defer { writes[writes.count - 1].isKeptInMemory = cost <= store.capacities.memory.bytes }
        add(change, key, to: store, at: now) { outcome, stamp in
            guard !outcome.wasDeclined else { return Settled(didChange: false) {} }
            let effects = store.memory.store(
                cachedForm, forKey: key, cost: cost, stamp: stamp, row: outcome.entryID, validity: validity, wasPresent: outcome.wasPresent,
                change: outcome.change)
            let lost = store.memory.markMemoryOnly(outcome.evicted)
            return Settled(didChange: true) {
                store.release(effects)
                store.didRemove(lost, .evicted)
                if store.events.isObserved { store.events.send(.recorded(key: key.normalized)) }
            }
        }
    }

    /// Adds the removal of what is under the key.
    @usableFromInline package mutating func remove<Value>(_ key: EntryKey, in store: Store<Value>) {
        remove(key, .remove, in: store)
    }

    /// Adds the removal of what a query found, if it is still as it was.
    mutating func remove<Value>(_ origin: QueryOrigin, in store: Store<Value>) {
        let isOnDisk = origin.row > 0 && origin.row < .max
        remove(origin.key, isOnDisk ? .removeUnchanged(entryID: origin.row, revision: origin.revision) : .remove, in: store)
    }

    private mutating func remove<Value>(_ key: EntryKey, _ change: ArchiveWrite.Change, in store: Store<Value>) {
        add(change, key, to: store) { outcome, _ in
            guard !outcome.wasDeclined else { return Settled(didChange: false) {} }
            let effects = store.memory.remove(key, isWrite: true, change: outcome.change)
            let wasThere = outcome.wasPresent || !effects.payloads.isEmpty
            return Settled(didChange: wasThere) {
                store.release(effects)
                if wasThere { store.didRemove([key], .explicit) }
            }
        }
    }

    /// Adds the removal of everything in the store.
    @usableFromInline package mutating func removeAll<Value>(in store: Store<Value>) {
        add(.removeAll, "", to: store) { outcome, _ in
            let effects = store.memory.removeAll(isWrite: true, change: outcome.change)
            return Settled(didChange: true) {
                store.release(effects)
                store.events.send(.removedAll)
            }
        }
    }

    /// Carries everything out, or nothing. Blocks for the disk.
    ///
    /// - Returns: For each write, in order, whether it changed something: a removal of nothing did not.
    /// - Throws: ``VellumError`` if the disk fails, or if the stores lie in different files. Then nothing was changed, but where only
    ///   the sync of ``Durability/powerSafe`` failed: then everything was, and is as safe as ``Durability/crashSafe`` makes it.
    @discardableResult
    @usableFromInline package mutating func commit() throws(VellumError) -> [Bool] {
        try carryOut().map(\.didChange)
    }

    @discardableResult
    @usableFromInline
    mutating func carryOut() throws(VellumError) -> [Settled] {
        guard let diskArchive = writes.first?.archive else { return [] }
        for index in writes.indices { writes[index].stamp = steps[index].stamp() }
        var settled: [Settled] = []
        // Also where the writes are committed but not yet safe from power loss, and an error goes up: memory has them already.
        defer { for step in settled { step.afterwards() } }
        try diskArchive.commit(writes, durability: durability) { outcomes in
            settled.reserveCapacity(outcomes.count)
            for index in steps.indices { settled.append(steps[index].settle(outcomes[index], writes[index].stamp)) }
        }
        // What was lost with a shared transaction, and carried out once more, was settled twice.
        return Array(settled.suffix(steps.count))
    }

    @inlinable
    mutating func add<Value>(
        _ change: ArchiveWrite.Change, _ key: EntryKey, to store: Store<Value>, at now: WallInstant? = nil,
        _ settle: @escaping (WriteOutcome, UseStamp) -> Settled
    ) {
        writes.append(ArchiveWrite(archive: store.disk, key: key, change: change, stamp: .never))
        // A removal is no use.
        steps.append(Step(stamp: { now.map(store.memory.stamp) ?? .never }, settle: settle))
        durability = max(durability, store.durability)
    }
}

// MARK: Steps

extension Store {
    @inlinable
    func encode(_ value: Value) throws(VellumError) -> Data {
        do {
            return try codec.encode(value)
        } catch {
            throw .notEncodable(Value.self, error)
        }
    }

    /// Returns how many bytes the value takes when it is recorded.
    @usableFromInline package func encodedSize(of value: Value) throws(VellumError) -> Int { try encode(value).count }

    /// Refuses a value that is larger than every limit, unless another process has raised one.
    @usableFromInline
    func refuseTooLarge(_ bytes: Data) throws(VellumError) {
        let (memory, disk) = try currentCapacities()
        guard bytes.count <= max(memory.bytes, disk.bytes) else { throw .tooLarge(bytes.dataSize, memory, disk) }
    }

    /// Lets go of what left memory, where no lock is held, and tells of it.
    @usableFromInline
    func release(_ effects: MemoryCache<CachedForm<Value>>.DeferredEffects) {
        if effects.notifiesDisk || effects.isUrgent { disk.touchesArePending(isUrgent: effects.isUrgent) }
        if effects.evictions > 0 { owner.counters.withLock { $0.memoryEvictions += effects.evictions } }
        didRemove(effects.lostKeys, .evicted)
    }

    @usableFromInline
    func didRemove(_ keys: [EntryKey], _ cause: RemovalCause) {
        guard !keys.isEmpty else { return }
        owner.counters.withLock { $0.removals[cause, default: 0] += keys.count }
        guard events.isObserved else { return }
        for key in keys { events.send(.removed(key: key.normalized, cause)) }
    }
}

extension VellumError {
    @usableFromInline
    static func tooLarge(_ size: DataSize, _ memory: Capacity, _ disk: Capacity) -> VellumError {
        VellumError(
            .tooLarge,
            """
            An object of \(size) is larger than every limit (memory \(DataSize(bytes: memory.bytes)), \
            disk \(DataSize(bytes: disk.bytes))). Raise a limit; what was recorded before is still there.
            """)
    }

    @usableFromInline
    static func keyTooLong(_ key: EntryKey) -> VellumError {
        VellumError(
            .keyTooLong,
            """
            A key of \(key.normalized.utf8.count) bytes is longer than \(EntryKey.maximumLength). Use a shorter one: a hash of it, say, with \
            the long text in the object.
            """)
    }

    @usableFromInline
    static func notEncodable(_ type: Any.Type, _ cause: any Error) -> VellumError {
        // A type that nothing can encode says so itself, and what to write.
        if let cause = cause as? VellumError, cause.code == .notEncodable { return cause }
        return VellumError(
            .notEncodable, "An object of type \(type) cannot be encoded. What was recorded before is still there.", cause: cause)
    }
}
