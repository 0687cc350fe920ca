package import VellumCore

/// What a transaction has read by key, which must still be there when it is committed.
///
/// Reads see what the transaction itself has written.
package struct TransactionReads {
    private var requirements = StoreTransaction()
    /// That everything that was read is still there.
    private var condition: WriteCondition?
    private var own = OwnWrites()

    package init() {}

    /// Returns the value under the key as it is for a transaction with these writes so far. Affects
    /// the eviction order.
    ///
    /// Blocks for a read of the disk, unless the transaction has written the key.
    package mutating func value<Value>(
        forKey key: EntryKey,
        in store: Store<Value>,
        after writes: StoreTransaction
    ) throws(VellumError) -> Value? {
        own.note(writes)
        switch own.last(forKey: key, in: store.disk.archive) {
        case .store(let entry), .renew(let entry, _):
            return try store.decode(entry.bytes, of: key)
        case .storeIfAbsent(let entry):
            if let present = try read(key, in: store) { return present }
            return try store.decode(entry.bytes, of: key)
        case .remove, .removeExpired, .removeAll, .removeUnchanged: return nil
        case .removeGroup, .announcePrefix, .require, nil: return try read(key, in: store)
        }
    }

    private mutating func read<Value>(
        _ key: EntryKey,
        in store: Store<Value>
    ) throws(VellumError) -> Value? {
        // A transaction that is tried again may have lost a race of another key.
        let found = try store.read(
            key,
            under: .never,
            after: condition,
            fromMemory: !store.disk.file.transactions.areRetried
        )
        requirements.require(found.condition, key, in: store)
        condition = found.condition
        return found.value
    }

    /// Applies the writes, or none of them. Blocks for the disk.
    ///
    /// - Returns: Whether everything that was read was still there; otherwise nothing was changed.
    package consuming func commit(_ writes: StoreTransaction) throws(VellumError) -> Bool {
        guard let condition else {
            var writes = writes
            try writes.commit()
            return true
        }
        // What one read found was there at one moment.
        guard !writes.isEmpty || requirements.count > 1 else { return true }
        // Nobody changes a shipped file.
        if writes.isEmpty, requirements.file?.access == .shipped { return true }
        requirements.append(writes, if: condition)
        try requirements.commit()
        return condition.wasMetAtCommit
    }

    /// Whether some of what was read is not there any more, so that it may never have been there at
    /// one moment: what the caller made of it, an error also, says nothing. Blocks for the disk.
    package consuming func areOutdated() -> Bool {
        guard let condition, requirements.count > 1 else { return false }
        do throws(VellumError) {
            try requirements.commit()
            return !condition.wasMetAtCommit
        } catch {
            return false  // The caller has an error already.
        }
    }

    /// Runs a transaction until what it has read was still there when it was committed. Those of
    /// this process that lost a race take turns; other transactions, and updates, begin after them.
    ///
    /// - Parameters:
    ///   - file: The file of the archives.
    ///   - transaction: Returns `nil` if what it has read was not there any more.
    /// - Throws: The error of `transaction`, or ``VellumError`` with the code
    ///   ``VellumError/Code/busy`` after 64 times.
    package static func retrying<Result>(
        on file: DatabaseFile,
        _ transaction: () throws -> Result?
    ) throws -> Result {
        // Others would overtake it again and again.
        if !file.transactions.areRetried, let result = try transaction() { return result }
        let turn = UpdateTurn.beginTransaction(in: file)
        defer { turn.end() }
        for _ in 1..<Retrying.most {
            var result: Result?
            try turn.run { result = try transaction() }
            if let result { return result }
        }
        throw VellumError.lostRaces(Retrying.most)
    }
}

/// The last write of each key, among those of a transaction.
private struct OwnWrites {
    private struct Place: Hashable {
        var archive: ObjectIdentifier
        var key: EntryKey
    }

    private var noted = 0
    private var last: [Place: ArchiveWrite.Operation] = [:]
    private var emptied: Set<ObjectIdentifier> = []

    /// Notes the writes that were added since the last call.
    mutating func note(_ transaction: StoreTransaction) {
        for write in transaction.writes[noted...] {
            let archive = ObjectIdentifier(write.archive)
            if case .removeAll = write.operation {
                emptied.insert(archive)
                last = last.filter { $0.key.archive != archive }
            } else {
                note(write.operation, Place(archive: archive, key: write.key))
            }
        }
        noted = transaction.writes.count
    }

    private mutating func note(_ operation: ArchiveWrite.Operation, _ place: Place) {
        guard case .storeIfAbsent(let entry) = operation else { return last[place] = operation }
        switch last[place] {
        case .store, .storeIfAbsent, .renew: break
        case .remove, .removeExpired, .removeUnchanged, .removeAll: last[place] = .store(entry)
        case .removeGroup, .announcePrefix, .require, nil:
            last[place] = emptied.contains(place.archive) ? .store(entry) : operation
        }
    }

    /// The last write of the key; `nil` if there is none.
    func last(forKey key: EntryKey, in archive: Archive) -> ArchiveWrite.Operation? {
        let id = ObjectIdentifier(archive)
        return last[Place(archive: id, key: key)]
            ?? (emptied.contains(id) ? .removeAll : nil)
    }
}

extension StoreTransaction {
    fileprivate var isEmpty: Bool { writes.isEmpty }
    fileprivate var count: Int { writes.count }

    /// Adds a condition about a key, without a write.
    fileprivate mutating func require<Value>(
        _ condition: WriteCondition,
        _ key: EntryKey,
        in store: Store<Value>
    ) {
        add(.require, key, to: store) { _, _ in MemoryUpdate() }
        writes[writes.count - 1].condition = condition
    }

    /// Adds writes that are carried out only if the condition, which was added before, is met.
    fileprivate mutating func append(_ others: StoreTransaction, if condition: WriteCondition) {
        let first = writes.count
        writes += others.writes
        steps += others.steps
        durability = max(durability, others.durability)
        for index in first..<writes.count {
            writes[index].condition = WriteCondition(following: condition)
        }
    }
}
