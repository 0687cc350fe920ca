internal import Synchronization
public import VellumCore

/// What must still hold when a write is carried out. Otherwise the write is declined.
///
/// A loaded value is recorded only if nothing was written or removed under its key since the load began. The archive evaluates the condition
/// inside the lock under which it writes, so no write can come between.
@usableFromInline package final class WriteCondition: Sendable {
    /// The moment at which an entry must be valid.
    @usableFromInline package let now: WallInstant
    /// How long entries that have no age of their own are valid.
    @usableFromInline package let expiration: Expiration

    private let basis: Basis
    private let isOvertaken: @Sendable () -> Bool
    private let leader: WriteCondition?
    private let wasMet = Atomic(false)

    /// What was under the key when the load began.
    @usableFromInline package enum Basis: Sendable {
        /// This entry, or none.
        case version(EntryVersion?)
        /// An entry that could not be read. Any entry may be replaced.
        case unreadable
    }

    /// - Parameters:
    ///   - basis: The entry that no other process may have replaced by a valid one.
    ///   - isOvertaken: Whether this process wrote or removed something since. Called inside the writer's lock.
    @usableFromInline package init(
        unchangedSince basis: Basis, at now: WallInstant, under expiration: Expiration, unless isOvertaken: @escaping @Sendable () -> Bool
    ) {
        (self.basis, self.now, self.expiration, self.isOvertaken) = (basis, now, expiration, isOvertaken)
        leader = nil
    }

    /// Creates the condition that an earlier write of the same transaction met its own.
    @usableFromInline package init(following leader: WriteCondition) {
        (basis, now, expiration, isOvertaken) = (.unreadable, leader.now, leader.expiration, { false })
        self.leader = leader
    }

    /// Returns whether the write may be carried out. The archive calls it once for each write, in their order.
    ///
    /// - Parameters:
    ///   - present: The entry under the key, if there is one.
    ///   - isValid: Whether that entry is valid at ``now``, under ``expiration``. An expired entry stops no write.
    @usableFromInline package func isMet(by present: EntryVersion?, isValid: Bool) -> Bool {
        if let leader { return leader.wasMet.load(ordering: .acquiring) }
        let isMet = !isOvertaken() && (!isValid || isBasis(present))
        wasMet.store(isMet, ordering: .releasing)
        return isMet
    }

    private func isBasis(_ present: EntryVersion?) -> Bool {
        switch basis {
        case .version(let version): present == nil || present == version
        case .unreadable: true
        }
    }
}

/// What distinguishes an entry from those that were under its key before or after it.
@usableFromInline package struct EntryVersion: Hashable, Sendable {
    @usableFromInline package var entryID: Int64
    @usableFromInline package var written: WallInstant
    @usableFromInline package var revision: UInt32

    @usableFromInline package init(entryID: Int64, written: WallInstant, revision: UInt32) {
        self.entryID = entryID
        self.written = written
        self.revision = revision
    }
}

extension StoreTransaction {
    /// Makes the first write depend on a condition, and all others on the first: either all writes are carried out or none.
    mutating func setCondition(_ condition: WriteCondition) {
        for index in writes.indices {
            writes[index].condition = index == 0 ? condition : WriteCondition(following: condition)
        }
    }
}
