public import Foundation
public import VellumCore

// Updating: read, change, and record if nothing was written meanwhile; otherwise again. Nothing is
// locked while the caller's closure runs.

extension Store {
    /// Lets `body` change the value under the key, and records the result, atomically among all
    /// threads and processes.
    ///
    /// `body` may run several times. Blocks for the disk, and while another caller in this process
    /// updates the key or a transaction that lost a race is tried again.
    ///
    /// - Parameters:
    ///   - readers: The reader's expiration, for entries that have none of their own.
    ///   - age: The age of the result.
    ///   - isNone: Whether a value that is there stands for none. Asked after the closure.
    ///   - addition: Adds to the transaction that records a new value.
    ///   - body: `nil` is no valid value, before and after. If it throws, nothing is changed.
    /// - Complexity: O(log n).
    /// - Throws: The error of `body`, or ``VellumError``: as `value(forKey:under:)` and
    ///   `record(_:forKey:expiration:)`, and ``VellumError/Code/busy`` if others wrote 64 times in
    ///   a row before the result was recorded. Nothing is changed, but for a failed sync as
    ///   `StoreTransaction.commit()` says.
    @inlinable
    package func update<Result>(
        _ key: EntryKey,
        under readers: Expiration = .never,
        _ age: AgeOfUpdated,
        isNone: (Value) -> Bool = { _ in false },
        adding addition: (Value, inout StoreTransaction) throws(VellumError) -> Void = {
            _,
            _ throws(VellumError) in
        },
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        guard forkGuard.isThisProcess else { throw VellumError.forked }
        let turn = try UpdateTurn.begin(for: key, in: disk)
        defer { turn.end() }
        for tries in 0..<Retrying.most {
            // A lost race may be that of another key, which the disk tells apart.
            var found = try read(key, under: readers, after: nil, fromMemory: tries == 0)
            var value = found.value
            var result: Result?
            try turn.run { result = try body(&value) }
            guard let result else {
                preconditionFailure("The closure of an update returned nothing.")
            }
            if let value = found.value, isNone(value) { found.value = nil }
            guard var transaction = try change(of: key, found, to: value, readers, age, addition)
            else { return result }
            if try transaction.commit(if: found.condition) { return result }
        }
        throw VellumError.lostRaces(Retrying.most)
    }

    /// Returns what records the new value; `nil` if nothing changes.
    @inlinable
    func change(
        of key: EntryKey,
        _ found: FoundForWriting,
        to value: Value?,
        _ readers: Expiration,
        _ age: AgeOfUpdated,
        _ addition: (Value, inout StoreTransaction) throws(VellumError) -> Void
    ) throws(VellumError) -> StoreTransaction? {
        var transaction = StoreTransaction()
        guard let value else {
            guard found.value != nil else { return nil }
            transaction.remove(key, in: self)
            return transaction
        }
        let keepsAge = age.given == nil && found.value != nil
        // A date is an age only where a reader has one.
        let kept =
            keepsAge && (found.validity?.isOwn ?? false || !readers.isNever) ? found.validity : nil
        try transaction.record(
            value,
            forKey: key,
            in: self,
            expiration: keepsAge ? nil : age.given ?? age.ofNew,
            keepingAgeOf: kept
        )
        if keepsAge, try isSame(transaction, value, as: found) { return nil }
        // It is another value of the same groups.
        if found.value != nil { transaction.writes[0].grouping = .kept }
        try addition(value, &transaction)
        return transaction
    }

    /// Returns the valid value under the key, and the condition that it is still there. Affects the
    /// eviction order.
    package func valueForUpdate(forKey key: EntryKey) throws(VellumError) -> FoundForWriting {
        try read(key, under: .never, after: nil, fromMemory: false)
    }

    /// Records the value if what was found is still there, unless both are the same.
    ///
    /// - Returns: Whether it is recorded.
    package func record(
        _ value: Value,
        forKey key: EntryKey,
        expiration: Expiration?,
        over found: FoundForWriting
    ) throws(VellumError) -> Bool {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: key, in: self, expiration: expiration)
        if expiration == nil, found.validity?.isOwn != true,
            try isSame(transaction, value, as: found)
        {
            return true
        }
        return try transaction.commit(if: found.condition)
    }

    /// Whether the transaction would record what was found.
    @inlinable
    func isSame(
        _ transaction: StoreTransaction,
        _ value: Value,
        as found: FoundForWriting
    ) throws(VellumError) -> Bool {
        var bytes = found.bytes
        if let old = found.valueInMemory {
            do throws(VellumError) {
                bytes = try encode(old)
            } catch {
                return false  // What cannot be encoded any more is another value.
            }
        }
        return transaction.stores(bytes, version: found.typeVersion) {
            try codec.isSame(value, $0, as: $1)
        }
    }

    /// What is under a key, and the condition that it still is.
    @usableFromInline
    package struct FoundForWriting {
        /// `nil` if there is no valid value.
        @usableFromInline package var value: Value?
        @usableFromInline var validity: Validity?
        /// The encoded value; `nil` if only memory has it, decoded.
        @usableFromInline var bytes: Data?
        @usableFromInline var typeVersion: Int64 = 0
        /// The value, if memory had it although it is on disk.
        @usableFromInline var valueInMemory: Value?
        @usableFromInline let condition: WriteCondition

        @inlinable
        init(_ condition: WriteCondition) { self.condition = condition }
    }

    /// Reads the value under the key for a write that depends on it. Affects the eviction order.
    ///
    /// - Parameters:
    ///   - other: Another condition of the same transaction, which must be met, too.
    ///   - fromMemory: Whether what memory has of the disk will do. Its condition may also fail
    ///     because of another key.
    @inlinable
    func read(
        _ key: EntryKey,
        under readers: Expiration,
        after other: WriteCondition?,
        fromMemory: Bool
    ) throws(VellumError) -> FoundForWriting {
        guard forkGuard.isThisProcess else { throw .forked }
        let now = clock.now()
        if fromMemory, let found = try knownOnDisk(key, now, readers, after: other) { return found }
        if memory.memoryOnlyCount > 0, let found = try readInMemory(key, now, readers, after: other)
        {
            return found
        }
        let (value, entry) = try lookOnDisk(forKey: key, now, readers)
        var found = FoundForWriting(
            condition(that: entry?.version, isUnder: key, now, readers, after: other)
        )
        guard let entry else { return found }
        found.value = value
        found.validity = entry.validity
        found.bytes = entry.bytes
        found.typeVersion = entry.typeVersion
        return found
    }

    /// The valid value that memory has of an entry on disk. Neither one that was migrated, whose
    /// row may have another key, nor one of a batch that is not committed yet.
    @inlinable
    func knownOnDisk(
        _ key: EntryKey,
        _ now: WallInstant,
        _ readers: Expiration,
        after other: WriteCondition?
    ) throws(VellumError) -> FoundForWriting? {
        guard version == 0, keepsValues else { return nil }
        // Before the value is read. There is none as long as another process is stopped in the
        // middle of a write of the key.
        guard let ticket = memory.ticket(forMissed: key), let item = memory.peek(key),
            item.entryID != 0,
            case .value(let value) = item.payload,
            item.isValid(
                at: now,
                key,
                under: readers
            ),
            !disk.hasOpenBatch
        else { return nil }
        // No closure runs if its result could not be recorded.
        try disk.checkUsable()
        var notifiesDisk = false
        _ = memory.use(
            key,
            at: now,
            under: readers,
            notifiesDisk: &notifiesDisk
        ) { _ in true }
        if notifiesDisk { disk.touchesArePending(isUrgent: false) }
        var found = FoundForWriting(
            WriteCondition(
                unchangedSince: .row(item.entryID),
                at: now,
                under: readers,
                after: other
            ) { [memory] in
                memory.isUnchanged(key, since: ticket) ? .unchanged : .changed
            }
        )
        found.value = value
        found.valueInMemory = value
        found.validity = item.validity
        found.typeVersion = codec.version(of: value)
        return found
    }

    /// - Returns: `nil` if the disk has the value, or nobody.
    @usableFromInline
    func readInMemory(
        _ key: EntryKey,
        _ now: WallInstant,
        _ readers: Expiration,
        after other: WriteCondition?
    ) throws(VellumError) -> FoundForWriting? {
        // Begins before the value is read.
        let watch = KeyWatch(key, memory)
        guard let item = memoryOnly(key) else { return nil }
        // The watch notices writes of this process. What another one wrote is gone from memory.
        var found = FoundForWriting(
            WriteCondition(unchangedSince: .exactly(nil), at: now, under: readers, after: other) {
                [memory] in
                watch.isUnchanged && memory.peek(key)?.entryID == 0 ? .unchanged : .changed
            }
        )
        guard item.isValid(at: now, key, under: readers) else { return found }
        found.validity = item.validity
        var notifiesDisk = false
        _ = memory.use(
            key,
            at: now,
            under: readers,
            notifiesDisk: &notifiesDisk
        ) { _ in true }
        found.value = try value(of: item, key)
        if case .bytes(let bytes) = item.payload {
            found.bytes = bytes
            found.typeVersion = version
        }
        return found
    }

    /// The condition that the disk has this entry under the key, or none, and that memory has
    /// nothing else.
    @usableFromInline
    func condition(
        that entry: EntryVersion?,
        isUnder key: EntryKey,
        _ now: WallInstant,
        _ readers: Expiration,
        after other: WriteCondition?
    ) -> WriteCondition {
        WriteCondition(unchangedSince: .exactly(entry), at: now, under: readers, after: other) {
            [memory] in
            memory.memoryOnlyCount > 0 && memory.peek(key)?.entryID == 0 ? .changed : .unchanged
        }
    }
}

extension Store.FoundForWriting: Sendable where Value: Sendable {}

/// The age of an updated value.
@usableFromInline
package struct AgeOfUpdated: Sendable {
    /// `nil` keeps that of the old value.
    @usableFromInline let given: Expiration?
    /// That of a value where there was none; `nil` leaves it to each reader.
    @usableFromInline let ofNew: Expiration?

    @inlinable
    package init(_ given: Expiration?, ofNew: Expiration?) {
        self.given = given
        self.ofNew = ofNew
    }
}

/// Notices writes of a key in this process, for as long as it lives.
private final class KeyWatch: Sendable {
    private let key: EntryKey
    private let version: UInt64
    private let keys: any KeyWatching

    init(_ key: EntryKey, _ keys: any KeyWatching) {
        self.key = key
        self.keys = keys
        version = keys.watch(key)
    }

    deinit { keys.unwatch(key) }

    var isUnchanged: Bool { keys.isUnchanged(key, since: version) }
}

extension StoreTransaction {
    /// Whether the first write stores these bytes of this version, or the same in another order:
    /// sets and dictionaries have none.
    @usableFromInline
    func stores(
        _ old: Data?,
        version: Int64,
        _ isSame: (_ new: Data, _ old: Data) throws -> Bool
    ) -> Bool {
        guard let old, case .store(let entry) = writes.first?.operation,
            entry.typeVersion == version
        else { return false }
        if entry.bytes == old { return true }
        do {
            return try entry.bytes.mayBeReordered(old) && isSame(entry.bytes, old)
        } catch {
            return false  // It is written, as anything else that may have changed.
        }
    }

    /// Applies all writes if the condition is met, or none.
    ///
    /// - Returns: Whether it was met.
    @usableFromInline
    mutating func commit(if condition: WriteCondition) throws(VellumError) -> Bool {
        setCondition(condition)
        try commit()
        return condition.wasMetAtCommit
    }
}

extension StoreTransaction {
    /// Makes the first write depend on a condition, and all others on the first: either all writes
    /// are carried out or none.
    mutating func setCondition(_ condition: WriteCondition) {
        for index in writes.indices {
            writes[index].condition = index == 0 ? condition : WriteCondition(following: condition)
        }
    }
}
