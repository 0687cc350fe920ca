internal import Foundation
internal import Synchronization
package import VellumCore

// Updating: read, change, and record if nothing was written meanwhile; otherwise again. Nothing is locked while the caller's closure runs.

extension Store {
    /// Lets `body` change the value under the key, and records the result, atomically among all threads and processes.
    ///
    /// `body` may run several times. Blocks for the disk, and while another caller in this process updates the key.
    ///
    /// - Parameters:
    ///   - readers: The reader's expiration, for entries that have none of their own.
    ///   - age: The age of the result.
    ///   - isNone: Whether a value that is there stands for none.
    ///   - addition: Adds to the transaction that records a new value.
    ///   - body: `nil` is no valid value, before and after. If it throws, nothing is changed.
    /// - Complexity: O(log n).
    /// - Throws: The error of `body`, or ``VellumError``: as `value(forKey:under:)` and `record(_:forKey:expiration:)`, and
    ///   ``VellumError/Code/busy`` if others wrote 64 times in a row before the result was recorded. Nothing is changed.
    package func update<Result>(
        _ key: EntryKey, under readers: Expiration = .never, _ age: AgeOfUpdated, isNone: (Value) -> Bool = { _ in false },
        adding addition: (Value, inout StoreTransaction) throws(VellumError) -> Void = { (_, _) throws(VellumError) in },
        _ body: (inout Value?) throws -> Result
    ) throws -> Result {
        guard forkGuard.isThisProcess else { throw VellumError.forked }
        let turn = try UpdateTurn.begin(for: key, in: disk)
        disk.updates.add(1, ordering: .relaxed)
        defer {
            disk.updates.subtract(1, ordering: .relaxed)
            turn.end()
        }
        for _ in 0..<Retrying.most {
            var found = try read(key, under: readers, after: nil)
            if let value = found.value, isNone(value) { found.value = nil }
            var value = found.value
            let result = try turn.run { try body(&value) }
            guard var transaction = try change(of: key, found, to: value, age, addition) else { return result }
            transaction.setCondition(found.condition)
            try transaction.commit()
            if found.condition.wasMetAtCommit { return result }
        }
        throw VellumError.lostRaces(Retrying.most)
    }

    /// Returns what records the new value; `nil` if nothing changes.
    private func change(
        of key: EntryKey, _ found: FoundForWriting, to value: Value?, _ age: AgeOfUpdated,
        _ addition: (Value, inout StoreTransaction) throws(VellumError) -> Void
    ) throws(VellumError) -> StoreTransaction? {
        var transaction = StoreTransaction()
        guard let value else {
            guard found.value != nil else { return nil }
            transaction.remove(key, in: self)
            return transaction
        }
        let kept = age.given == nil && found.value != nil ? found.validity : nil
        let expiration = kept == nil ? age.given ?? age.ofNew : nil
        try transaction.record(value, forKey: key, in: self, expiration: expiration, keepingAgeOf: kept)
        if kept != nil, transaction.stores(found.bytes, version: found.typeVersion) { return nil }
        try addition(value, &transaction)
        return transaction
    }

    /// Returns the valid value under the key, and the condition that it is still there. Affects the eviction order.
    package func valueForUpdate(forKey key: EntryKey) throws(VellumError) -> (value: Value, condition: WriteCondition)? {
        let found = try read(key, under: .never, after: nil)
        return found.value.map { ($0, found.condition) }
    }

    /// Records the value if the condition is met.
    ///
    /// - Returns: Whether it was recorded.
    package func record(
        _ value: Value, forKey key: EntryKey, expiration: Expiration?, ifUnchanged condition: WriteCondition
    ) throws(VellumError) -> Bool {
        var transaction = StoreTransaction()
        try transaction.record(value, forKey: key, in: self, expiration: expiration)
        transaction.setCondition(condition)
        try transaction.commit()
        return condition.wasMetAtCommit
    }

    /// What is under a key, and the condition that it still is.
    struct FoundForWriting {
        /// `nil` if there is no valid value.
        var value: Value?
        var validity: Validity?
        /// The encoded value; `nil` if only memory has it, decoded.
        var bytes: Data?
        var typeVersion: Int64 = 0
        let condition: WriteCondition
    }

    /// Reads the value under the key for a write that depends on it. Affects the eviction order.
    ///
    /// - Parameter other: Another condition of the same transaction, which must be met, too.
    func read(_ key: EntryKey, under readers: Expiration, after other: WriteCondition?) throws(VellumError) -> FoundForWriting {
        guard forkGuard.isThisProcess else { throw .forked }
        let now = clock.now()
        // Begins before anything is read. The entry on disk does not tell what only memory has.
        let watch = KeyWatch(key, memory)
        if let item = memory.peek(key), item.entryID == 0 {
            let condition = WriteCondition(unchangedSince: .exactly(nil), at: now, under: readers, after: other) { !watch.isUnchanged }
            guard item.isValid(at: now, key, under: readers) else { return FoundForWriting(condition: condition) }
            switch item.payload {
            case .value(let value): return FoundForWriting(value: value, validity: item.validity, condition: condition)
            case .bytes(let bytes):
                return FoundForWriting(
                    value: try decode(bytes, of: key), validity: item.validity, bytes: bytes, typeVersion: version, condition: condition)
            }
        }
        let (value, entry) = try lookOnDisk(forKey: key, now, readers)
        return FoundForWriting(
            value: value, validity: entry?.validity, bytes: entry?.bytes, typeVersion: entry?.typeVersion ?? 0,
            condition: WriteCondition(unchangedSince: .exactly(entry?.version), at: now, under: readers, after: other) {
                !watch.isUnchanged
            })
    }
}

/// The age of an updated value.
package struct AgeOfUpdated: Sendable {
    /// `nil` keeps that of the old value.
    let given: Expiration?
    /// That of a value where there was none; `nil` leaves it to each reader.
    let ofNew: Expiration?

    package init(_ given: Expiration?, ofNew: Expiration?) { (self.given, self.ofNew) = (given, ofNew) }
}

/// Notices writes of a key in this process, for as long as it lives.
private final class KeyWatch: Sendable {
    private let key: EntryKey
    private let version: UInt64
    private let keys: any WatchedKeys

    init(_ key: EntryKey, _ keys: any WatchedKeys) {
        (self.key, self.keys) = (key, keys)
        version = keys.watch(key)
    }

    deinit { keys.unwatch(key) }

    var isUnchanged: Bool { keys.isUnchanged(key, since: version) }
}

extension StoreTransaction {
    /// Whether the first write stores these bytes of this version.
    fileprivate func stores(_ bytes: Data?, version: Int64) -> Bool {
        guard let bytes, case .store(let entry) = writes.first?.operation else { return false }
        return entry.typeVersion == version && entry.bytes == bytes
    }
}
