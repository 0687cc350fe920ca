public import Synchronization

/// The changes that other processes make to what a memory cache is filled from.
@usableFromInline package protocol ChangeFeed: AnyObject, Sendable {
    /// The number of the last announced change, by any process.
    var generation: Generation { get }
    /// The hash that keys are announced by.
    var hash: SeededHash { get }

    /// Returns what other processes changed since the generation was `old`.
    ///
    /// - Complexity: O(changes).
    func changes(after old: UInt64, through new: UInt64) -> ForeignChanges

    /// Whether another process may currently be writing the key, or one with the same hash.
    func isChanging(_ key: EntryKey) -> Bool
}

/// Changes by other processes.
@usableFromInline package enum ForeignChanges: Hashable, Sendable {
    /// Keys with these hashes changed.
    case keys([UInt64])
    /// Everything changed, or more than the change page can record.
    case everything
}

/// A counter in shared memory that other processes may change.
///
/// Unchecked because the counter is atomic. The change page that contains it stays mapped.
@frozen
@usableFromInline package struct Generation: @unchecked Sendable {
    @usableFromInline let cell: UnsafePointer<Atomic<UInt64>>

    @usableFromInline package init(_ cell: UnsafePointer<Atomic<UInt64>>) { self.cell = cell }

    @inlinable
    package var value: UInt64 { cell.pointee.load(ordering: .acquiring) }
}

/// The position of one of this process's commits among the changes of an archive.
@frozen
@usableFromInline package struct OwnChange: Hashable, Sendable {
    /// The generation before the commit.
    @usableFromInline package var previous: UInt64
    /// The generation that the commit created.
    @usableFromInline package var last: UInt64

    @usableFromInline package init(previous: UInt64, last: UInt64) {
        self.previous = previous
        self.last = last
    }
}
