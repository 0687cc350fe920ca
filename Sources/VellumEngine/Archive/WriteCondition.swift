internal import Synchronization
public import VellumCore

/// What must still hold when a write is carried out. Otherwise the write is declined.
///
/// A loaded value is recorded only if nothing was written or removed under its key since the load
/// began, and an updated one only if what it was made of is still there. The archive evaluates the
/// condition inside the lock under which it writes, so no write can come between.
@usableFromInline package final class WriteCondition: Sendable {
    /// The moment at which an entry must be valid.
    @usableFromInline package let now: WallInstant
    /// How long entries that have no age of their own are valid.
    @usableFromInline package let expiration: Expiration

    private let basis: Basis
    private let standing: @Sendable () -> WatchedKeys.Standing
    /// What the conditions of one transaction share: none keeps the one before it, of which there
    /// may be thousands.
    private let group: Group
    /// Whether it is the first of them.
    private let begins: Bool

    private final class Group: Sendable {
        /// Whether all so far were met.
        let areMet = Atomic(false)
    }

    /// What was under the key when it was read.
    @usableFromInline package enum Basis: Sendable {
        /// This entry, or none. Now it may also be gone, or have expired.
        case version(EntryVersion?)
        /// This entry, or none, and nothing else now.
        case exactly(EntryVersion?)
        /// The row with this id, whose value memory had. That nobody wrote it since, the standing
        /// says alone (decision 89).
        case row(Int64)
        /// An entry that could not be read, or that nobody has read. Any entry may be replaced.
        case unreadable
    }

    /// - Parameters:
    ///   - basis: The entry that no other process may have replaced by a valid one.
    ///   - other: One of the conditions before it in the same transaction, which must all be met,
    ///     too.
    ///   - standing: What is known of the key since it was read. Called inside the writer's lock.
    @usableFromInline package init(
        unchangedSince basis: Basis,
        at now: WallInstant,
        under expiration: Expiration,
        after other: WriteCondition? = nil,
        standing: @escaping @Sendable () -> WatchedKeys.Standing
    ) {
        self.basis = basis
        self.now = now
        self.expiration = expiration
        self.standing = standing
        group = other?.group ?? Group()
        begins = other == nil
    }

    /// Creates the condition that an earlier write of the same transaction met its own.
    @usableFromInline package convenience init(following leader: WriteCondition) {
        self.init(
            unchangedSince: .unreadable,
            at: leader.now,
            under: leader.expiration,
            after: leader
        ) { .unchanged }
    }

    /// Returns whether the write may be carried out. The archive calls it once for each write, in
    /// their order.
    ///
    /// - Parameters:
    ///   - present: The entry under the key, if there is one.
    ///   - isValid: Whether that entry is valid at ``now``, under ``expiration``. An expired entry
    ///     stops no write.
    @usableFromInline package func isMet(by present: EntryVersion?, isValid: Bool) -> Bool {
        let isMet = (begins || wasMetAtCommit) && isUnchanged(present, isValid: isValid)
        group.areMet.store(isMet, ordering: .releasing)
        return isMet
    }

    /// Returns the same for a write of the row that memory knows. If it is met, and the row is not
    /// there, ``isMet(by:isValid:)`` decides.
    func isMet(byKnown entryID: Int64) -> Bool {
        guard case .row(entryID) = basis else { return false }
        let isMet = (begins || wasMetAtCommit) && standing() == .unchanged
        group.areMet.store(isMet, ordering: .releasing)
        return isMet
    }

    private func isUnchanged(_ present: EntryVersion?, isValid: Bool) -> Bool {
        switch standing() {
        case .changed: false
        case .unchanged: isBasis(present, isValid: isValid)
        // The row decides.
        case .maybeWritten: isSame(present)
        case .unknown: present != nil && isSame(present)
        }
    }

    private func isSame(_ present: EntryVersion?) -> Bool {
        switch basis {
        case .version(let version), .exactly(let version): present == version
        case .row, .unreadable: false
        }
    }

    private func isBasis(_ present: EntryVersion?, isValid: Bool) -> Bool {
        switch basis {
        case .version(let version): !isValid || present == nil || present == version
        case .exactly(let version): present == version
        case .row(let id): present?.entryID == id
        case .unreadable: true
        }
    }

    /// Whether the condition, and all others of its transaction, were met when they were carried
    /// out, the last time.
    var wasMetAtCommit: Bool { group.areMet.load(ordering: .acquiring) }
}
