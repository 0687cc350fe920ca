internal import Synchronization
public import VellumCore

/// What must still be so when a write is carried out, or it is declined.
///
/// What was loaded is written down only if nobody wrote or removed anything under its key meanwhile. A tier asks inside the
/// lock under which it writes, so that nothing can come in between.
@usableFromInline package final class WriteCondition: Sendable {
    /// The moment by which it is judged whether an entry is valid.
    @usableFromInline package let now: WallInstant
    /// For how long entries that have no age of their own are taken.
    @usableFromInline package let expiration: Expiration

    private let basis: Basis
    private let isOvertaken: @Sendable () -> Bool
    private let leader: WriteCondition?
    private let wasMet = Atomic(false)

    /// What lay under the key when the loading began.
    @usableFromInline package enum Basis: Sendable {
        /// This, or nothing.
        case version(EntryVersion?)
        /// Something that could not be read: whatever is there may be replaced.
        case unreadable
    }

    /// - Parameters:
    ///   - basis: What another process may not have replaced by something valid.
    ///   - isOvertaken: Whether this process wrote or removed something since. Asked inside the tier's lock.
    @usableFromInline package init(
        unchangedSince basis: Basis, at now: WallInstant, under expiration: Expiration, unless isOvertaken: @escaping @Sendable () -> Bool
    ) {
        (self.basis, self.now, self.expiration, self.isOvertaken) = (basis, now, expiration, isOvertaken)
        leader = nil
    }

    /// That the condition of an earlier write in the same transaction was met.
    @usableFromInline package init(following leader: WriteCondition) {
        (basis, now, expiration, isOvertaken) = (.unreadable, leader.now, leader.expiration, { false })
        self.leader = leader
    }

    /// Whether the write may be carried out. A tier asks once for each write, in their order.
    ///
    /// - Parameters:
    ///   - present: What is under the key, if anything.
    ///   - isValid: Whether that may be had at ``now`` by a reader who takes entries for as long as ``expiration`` says. What
    ///     is not valid stops no write: that it expires while a new value is on its way is how things should be.
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

/// What tells an entry from every other that was under its key before or after it.
@usableFromInline package struct EntryVersion: Hashable, Sendable {
    @usableFromInline package var row: Int64
    @usableFromInline package var written: WallInstant
    @usableFromInline package var revision: UInt32

    @usableFromInline package init(row: Int64, written: WallInstant, revision: UInt32) {
        self.row = row
        self.written = written
        self.revision = revision
    }
}
