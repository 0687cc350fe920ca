public import Foundation
public import VellumCore

// Writing: one encode, one transaction on disk, then memory in the order of the commits.

extension Store {
    /// Records the value under the key, replacing any other. Affects the eviction order.
    ///
    /// Encodes on the caller's thread, then blocks for the disk. A value larger than the limit of
    /// memory or the disk is not stored there and evicts nothing there.
    ///
    /// - Parameters:
    ///   - expiration: How long the value is valid for every reader; `nil` leaves that to each
    ///     reader.
    ///   - groups: The groups of the value.
    /// - Complexity: O(log n), plus O(log n) for each evicted entry.
    /// - Throws: ``VellumError`` if the value cannot be encoded, is larger than every limit, or the
    ///   disk fails. The old value is kept then.
    @inlinable
    package func record(
        _ value: Value,
        forKey key: EntryKey,
        expiration: Expiration? = nil,
        groups: [EntryKey] = []
    ) throws(VellumError) {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: key, in: self, expiration: expiration)
        if !groups.isEmpty { try transaction.group(in: groups, of: self) }
        try transaction.carryOut()
    }

    /// Removes the entry under the key.
    ///
    /// - Returns: Whether there was an entry.
    /// - Complexity: O(log n).
    @discardableResult
    @usableFromInline package func remove(_ key: EntryKey) throws(VellumError) -> Bool {
        var transaction = StoreTransaction()
        transaction.remove(key, in: self)
        return try transaction.commit()[0]
    }

    /// Removes every entry.
    @usableFromInline package func removeAll() throws(VellumError) {
        var transaction = StoreTransaction()
        transaction.removeAll(in: self)
        try transaction.commit()
    }
}

/// Writes to any number of stores of one file that are applied together or not at all.
///
/// ```swift
/// var transaction = StoreTransaction()
/// try transaction.record(ann, forKey: "ann", in: users)
/// transaction.remove("ann", in: invitations)
/// try transaction.commit()
/// ```
///
/// Collects encoded writes; nothing is locked until ``commit()``, which has the strongest
/// durability of the stores. A transaction that is never committed changes nothing.
@usableFromInline package struct StoreTransaction {
    @usableFromInline var writes: [ArchiveWrite] = []
    @usableFromInline var steps: [Step] = []
    @usableFromInline var durability = Durability.relaxed
    /// The file of the stores.
    @usableFromInline var file: DatabaseFile?
    @usableFromInline var spansFiles = false

    /// The effect of a write on its store's memory.
    @usableFromInline struct Step {
        /// Takes the write's position in the order of use, when the transaction commits.
        @usableFromInline var stamp: () -> UseStamp
        /// Updates memory when the write is committed, or in the batch of relaxed writes, under the
        /// writer's lock. Not called for a write that was declined.
        @usableFromInline var updateMemory: (WriteOutcome, UseStamp) -> MemoryUpdate

        @inlinable
        init(
            stamp: @escaping () -> UseStamp,
            updateMemory: @escaping (WriteOutcome, UseStamp) -> MemoryUpdate
        ) {
            self.stamp = stamp
            self.updateMemory = updateMemory
        }
    }

    /// What a write did to its store's memory.
    @usableFromInline struct MemoryUpdate {
        /// Whether the write changed something, in memory or on disk.
        @usableFromInline var didChange: Bool
        /// Releases values and sends events. To be called outside every lock.
        @usableFromInline var deferredEffects: () -> Void

        @inlinable
        init(didChange: Bool = true, deferredEffects: @escaping () -> Void = {}) {
            self.didChange = didChange
            self.deferredEffects = deferredEffects
        }
    }

    @inlinable
    package init() {}

    /// Adds a write of a value. Encodes it synchronously.
    ///
    /// - Parameters:
    ///   - onlyIfAbsent: Whether to keep a valid value that exists when the transaction commits.
    ///   - kept: The age to give to the value: its own, or the date from which that of its readers
    ///     counts. `nil` gives it `expiration`.
    /// - Throws: ``VellumError`` if the key is too long, the age is NaN, or the value cannot be
    ///   encoded or is larger than every limit. The transaction is unchanged then.
    @inlinable
    package mutating func record<Value>(
        _ value: Value,
        forKey key: EntryKey,
        in store: Store<Value>,
        onlyIfAbsent: Bool = false,
        expiration: Expiration? = nil,
        keepingAgeOf kept: Validity? = nil
    ) throws(VellumError) {
        // Checked before taking a lock that another thread may have held when this process was
        // forked.
        guard store.forkGuard.isThisProcess else { throw .forked }
        try key.checkLength()
        try expiration?.check()
        let bytes = try store.encode(value)
        if bytes.count > max(store.capacities.memory.bytes, store.capacities.disk.bytes) {
            try store.refuseTooLarge(bytes)
        }
        let now = store.clock.now()
        if onlyIfAbsent, let present = store.memoryOnly(key), present.isValid(at: now, key) {
            return
        }

        var entry = Entry(
            bytes: bytes,
            forKey: key,
            written: now,
            expiration: expiration,
            indexed: store.catalog?.values(of: value)
        )
        entry.typeVersion = store.codec.version(of: value)
        if let kept { entry.keepAge(of: kept) }
        let operation: ArchiveWrite.Operation = onlyIfAbsent ? .storeIfAbsent(entry) : .store(entry)
        let payload = store.memoryPayload(value, bytes)
        let cost = bytes.count
        let validity = entry.validity

        defer {
            writes[writes.count - 1].isKeptInMemory = cost <= store.capacities.memory.bytes
            if !onlyIfAbsent, let known = store.memory.known(key) {
                writes[writes.count - 1].known = KnownEntry(id: known.entryID, size: known.cost)
            }
        }
        add(operation, key, to: store, at: now) { outcome, stamp in
            // The first use of a new entry is stored with it; that of an existing one is yet to be
            // written.
            let item = MemoryCache.Item(
                payload: payload,
                cost: cost,
                stamp: stamp,
                entryID: outcome.entryID,
                validity: validity,
                isDirty: outcome.wasPresent && outcome.entryID != 0
            )
            let effects = store.memory.store(item, forKey: key, change: outcome.change)
            return MemoryUpdate {
                store.release(effects)
                if store.events.isObserved { store.events.send(.recorded(key: key.normalized)) }
            }
        }
    }

    /// Adds a new date and age for an entry that was read, if it is unchanged at the commit. Its
    /// value is not written again.
    ///
    /// - Parameter value: The value of the entry.
    mutating func renew<Value>(
        _ entry: Entry,
        of value: Value,
        forKey key: EntryKey,
        in store: Store<Value>,
        expiration: Expiration?
    ) throws(VellumError) {
        let now = store.clock.now()
        let renewed = entry.renewed(forKey: key, at: now, expiration: expiration)
        let item = try store.memoryItem(of: value, renewed)
        add(
            .renew(renewed, revision: entry.revision),
            key,
            to: store,
            at: now
        ) { outcome, stamp in
            let used = MemoryCache.Item(
                payload: item.payload,
                cost: item.cost,
                stamp: stamp,
                entryID: outcome.entryID,
                validity: renewed.validity,
                isDirty: true
            )
            let effects = store.memory.store(used, forKey: key, change: outcome.change)
            return MemoryUpdate { store.release(effects) }
        }
        writes[writes.count - 1].grouping = .kept
    }

    /// Adds a value that another library wrote at `date`, unless there is a valid one under the key
    /// when the transaction commits.
    ///
    /// Memory does not keep it. Encodes it synchronously.
    package mutating func add<Value>(
        imported value: Value,
        forKey key: EntryKey,
        writtenAt date: WallInstant,
        in store: Store<Value>
    ) throws(VellumError) {
        try key.checkLength()
        let now = store.clock.now()
        // A date in the future would outlive every use.
        var entry = Entry(
            bytes: try store.encode(value),
            written: min(date, now),
            indexed: store.catalog?.values(of: value)
        )
        entry.typeVersion = store.codec.version(of: value)
        addOnDisk(.storeIfAbsent(entry), key, in: store, at: now)
    }

    /// Adds a write of bytes that a program recorded which has this version of the type, and
    /// declares no index. Memory does not keep them.
    package mutating func record<Value>(
        encoded bytes: Data,
        version: Int64,
        forKey key: EntryKey,
        in store: Store<Value>
    ) throws(VellumError) {
        var entry = Entry(bytes: bytes, written: store.clock.now())
        entry.typeVersion = version
        try record(entry, forKey: key, in: store)
    }

    /// Adds a write of an entry as it is, with its dates.
    package mutating func record<Value>(
        _ entry: Entry,
        forKey key: EntryKey,
        in store: Store<Value>
    ) throws(VellumError) {
        try key.checkLength()
        addOnDisk(.store(entry), key, in: store, at: store.clock.now())
    }

    /// Adds a write of a value that memory does not keep.
    private mutating func addOnDisk<Value>(
        _ operation: ArchiveWrite.Operation,
        _ key: EntryKey,
        in store: Store<Value>,
        at now: WallInstant
    ) {
        add(operation, key, to: store, at: now) { outcome, _ in
            let effects = store.memory.remove(key, isWrite: true, change: outcome.change)
            return MemoryUpdate { store.release(effects) }
        }
    }

    /// Adds a removal of the entry under the key.
    @usableFromInline package mutating func remove<Value>(_ key: EntryKey, in store: Store<Value>) {
        remove(key, .remove, in: store)
    }

    /// Adds the removal of an expired entry. It does not count as a write: a load of the key goes
    /// on.
    mutating func removeExpired<Value>(_ key: EntryKey, in store: Store<Value>) {
        remove(key, .removeExpired, in: store, because: .expired)
    }

    /// Puts the value that was recorded last into groups. It is on disk, where they are, or
    /// nowhere.
    ///
    /// - Throws: ``VellumError`` if the value is larger than the limit of the disk. The transaction
    ///   is not to be committed then.
    @usableFromInline package mutating func group<Value>(
        in groups: [EntryKey],
        of store: Store<Value>
    ) throws(VellumError) {
        guard !groups.isEmpty, let last = writes.indices.last else { return }
        let (memory, disk) = store.capacities
        guard writes[last].size <= disk.bytes else {
            throw .tooLarge(DataSize(bytes: writes[last].size), memory, disk)
        }
        writes[last].grouping = .groups(groups)
        writes[last].isKeptInMemory = false
    }

    /// Adds a removal of the entries of a group.
    ///
    /// - Parameter didRemove: Receives how many there were.
    package mutating func removeAll<Value>(
        ofGroup group: EntryKey,
        in store: Store<Value>,
        _ didRemove: @escaping (Int) -> Void = { _ in }
    ) {
        add(.removeGroup, group, to: store) { outcome, _ in
            store.memory.recordRemoval(ofGroup: group)
            didRemove(outcome.removedCount)
            return MemoryUpdate(didChange: outcome.removedCount > 0)
        }
    }

    /// Adds the announcement that every key is removed that begins with the prefix.
    mutating func announceRemoval<Value>(ofPrefix prefix: EntryKey, in store: Store<Value>) {
        add(.announcePrefix, prefix, to: store) { _, _ in
            store.memory.recordRemoval(ofPrefix: prefix)
            return MemoryUpdate(didChange: false)
        }
    }

    mutating func remove<Value>(
        _ key: EntryKey,
        _ operation: ArchiveWrite.Operation,
        in store: Store<Value>,
        because cause: RemovalCause = .explicit
    ) {
        add(operation, key, to: store) { outcome, _ in
            let effects = store.memory.remove(
                key,
                isWrite: cause == .explicit,
                change: outcome.change
            )
            let wasThere = outcome.wasPresent || !effects.payloads.isEmpty
            return MemoryUpdate(didChange: wasThere) {
                store.release(effects)
                if wasThere { store.didRemove([key], cause) }
            }
        }
    }

    /// Adds a removal of every entry of the store.
    @usableFromInline package mutating func removeAll<Value>(in store: Store<Value>) {
        add(.removeAll, "", to: store) { outcome, _ in
            let effects = store.memory.removeAll(isWrite: true, change: outcome.change)
            return MemoryUpdate {
                store.release(effects)
                store.events.send(.removedAll)
            }
        }
    }

    /// Applies all writes, or none. Blocks for the disk.
    ///
    /// - Returns: For each write, in order, whether it changed something. The removal of an absent
    ///   entry does not.
    /// - Throws: ``VellumError`` if the disk fails, or the stores belong to different files.
    ///   Nothing was changed then, with one exception: if only the sync of ``Durability/powerSafe``
    ///   failed, everything was written with the guarantees of ``Durability/crashSafe``.
    @discardableResult
    @usableFromInline package mutating func commit() throws(VellumError) -> [Bool] {
        try carryOut().map(\.didChange)
    }

    /// Carries out the writes as ``commit()`` does.
    @discardableResult
    @usableFromInline
    mutating func carryOut() throws(VellumError) -> [MemoryUpdate] {
        guard let file else { return [] }
        guard !spansFiles else { throw .differentFiles }
        for index in writes.indices { writes[index].stamp = steps[index].stamp() }
        var updates: [MemoryUpdate] = []
        // Also runs if the writes are committed but the sync failed: memory has the new values
        // already.
        defer { for update in updates { update.deferredEffects() } }
        try file.commit(writes, durability: durability) { outcomes in
            updates.reserveCapacity(outcomes.count)
            for index in steps.indices {
                updates.append(
                    outcomes[index].wasDeclined
                        ? MemoryUpdate(didChange: false)
                        : steps[index].updateMemory(outcomes[index], writes[index].stamp)
                )
            }
        }
        // Relaxed writes that were lost with their batch and tried again have updated memory twice.
        return Array(updates.suffix(steps.count))
    }

    @inlinable
    mutating func add<Value>(
        _ operation: ArchiveWrite.Operation,
        _ key: EntryKey,
        to store: Store<Value>,
        at now: WallInstant? = nil,
        _ updateMemory: @escaping (WriteOutcome, UseStamp) -> MemoryUpdate
    ) {
        spansFiles = spansFiles || file.map { $0 !== store.disk.file } ?? false
        file = store.disk.file
        writes.append(
            ArchiveWrite(archive: store.disk.archive, key: key, operation: operation, stamp: .never)
        )
        // A removal does not affect the eviction order.
        steps.append(
            Step(stamp: { now.map(store.memory.stamp) ?? .never }, updateMemory: updateMemory)
        )
        durability = max(durability, store.durability)
    }
}

// Writes of tasks (decision 86).

extension StoreTransaction {
    /// What the writes of a call did to memory.
    ///
    /// Unchecked because one thread at a time has it, as ``WriteCall`` says.
    private final class Effects: @unchecked Sendable {
        var updates: [MemoryUpdate] = []
    }

    /// Applies all writes, or none, in the caller's turn: ``commit()`` for tasks, which shares its
    /// commit with others that wait.
    ///
    /// - Throws: As ``commit()`` does, or `CancellationError` if the task was cancelled before its
    ///   turn: nothing was written then.
    @discardableResult
    package func commitInTurn() async throws -> [Bool] {
        guard let file else { return [] }
        guard !spansFiles else { throw VellumError.differentFiles }
        try file.check(writes)
        let steps = steps
        let effects = Effects()
        let call = WriteCall(
            writes,
            durability,
            WriteCall.Steps(stamps: { steps.map { $0.stamp() } }) { outcomes, writes in
                effects.updates += steps.indices.map {
                    outcomes[$0].wasDeclined
                        ? MemoryUpdate(didChange: false)
                        : steps[$0].updateMemory(outcomes[$0], writes[$0].stamp)
                }
            }
        )
        // Also if only the sync failed.
        defer { for update in effects.updates { update.deferredEffects() } }
        try await file.writes.carryOut(call, in: file)
        return effects.updates.suffix(steps.count).map(\.didChange)
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

    /// Throws if a value is larger than every limit, unless another process has raised one.
    @usableFromInline
    func refuseTooLarge(_ bytes: Data) throws(VellumError) {
        guard !self.disk.file.access.isReading else {
            throw VellumError(SQLiteError.onlyRead).located(archive: nil, path: self.disk.file.path)
        }
        let (memory, disk) = try currentCapacities()
        guard bytes.count <= max(memory.bytes, disk.bytes) else {
            throw .tooLarge(bytes.dataSize, memory, disk)
        }
    }

    /// Releases what left memory, without holding a lock, and reports evictions.
    @usableFromInline
    func release(_ effects: MemoryCache<MemoryPayload<Value>>.DeferredEffects) {
        if effects.notifiesDisk || effects.isUrgent {
            disk.touchesArePending(isUrgent: effects.isUrgent)
        }
        if effects.evictions > 0 {
            state.counters.withLock { $0.memoryEvictions += effects.evictions }
        }
        didRemove(effects.lostKeys, .evicted)
    }

    @usableFromInline
    func didRemove(_ keys: [EntryKey], _ cause: RemovalCause) {
        guard !keys.isEmpty else { return }
        state.counters.withLock { $0.removals[cause, default: 0] += keys.count }
        if cause == .evicted, disk.file.watcher.isObserving {
            var changes = ChangedKeys()
            for key in keys {
                changes.insert(
                    ChangedKeys.Key(disk.changes.hash.of(key), .evicted),
                    most: ChangePage.mostKeys
                )
            }
            disk.file.watcher.tell(
                Commit(
                    source: .memory,
                    changes: [Commit.Change(archive: disk.archive.id, keys: changes)]
                )
            )
        }
        guard events.isObserved else { return }
        for key in keys { events.send(.removed(key: key.normalized, cause)) }
    }
}

extension EntryKey {
    @inlinable
    func checkLength() throws(VellumError) {
        guard normalized.utf8.count <= Self.maximumLength else { throw .keyTooLong(self) }
    }
}

extension VellumError {
    @usableFromInline
    static func tooLarge(_ size: DataSize, _ memory: Capacity, _ disk: Capacity) -> VellumError {
        VellumError(
            .tooLarge,
            """
            An object of \(size) is larger than every limit (memory \
            \(DataSize(bytes: memory.bytes)), disk \(DataSize(bytes: disk.bytes))). Raise a limit; \
            what was recorded before is still there.
            """
        )
    }

    @usableFromInline
    static func keyTooLong(_ key: EntryKey) -> VellumError {
        VellumError(
            .keyTooLong,
            """
            A key of \(key.normalized.utf8.count) bytes is longer than \(EntryKey.maximumLength). \
            Use a shorter one: a hash of it, say, with the long text in the object.
            """
        )
    }

    @usableFromInline
    static func notEncodable(_ type: Any.Type, _ cause: any Error) -> VellumError {
        // Types that are never encodable throw an error of their own, with advice.
        if let cause = cause as? VellumError, cause.code == .notEncodable { return cause }
        return VellumError(
            .notEncodable,
            """
            An object of type \(type) cannot be encoded: \(codingReason(cause)). The old object is \
            still there.
            """,
            cause: cause
        )
    }
}
