public import Synchronization
public import VellumCore

/// The changes that other processes make to one archive.
///
/// The memory cache stores the generation up to which it has followed the changes. While that is the current generation, a memory hit is as
/// fresh as a read of the disk: one atomic load decides. Otherwise the cache asks which keys changed and drops their entries.
///
/// A writer announces its changes before it commits them, and ends the announcement afterwards. A value read from the disk in between must
/// not be cached: it may be the old value or the new one.
@usableFromInline
package final class ArchiveChanges: Sendable {
    private let file: ChangesFile
    private let archive: Int64
    /// What keys are announced by.
    let hash: SeededHash

    init(_ file: ChangesFile, archive: Int64, hash: SeededHash) {
        (self.file, self.archive, self.hash) = (file, archive, hash)
    }

    /// The number of the last announced change, by any process.
    var generation: Generation { file.page.generation(of: archive) }

    /// Returns what other processes changed since the generation was `old`.
    ///
    /// - Complexity: O(changes).
    func changes(after old: UInt64, through new: UInt64) -> ForeignChanges {
        file.page.changes(of: archive, after: old, through: new, notBy: file.author)
    }

    /// Whether another process may currently be writing the key, or one with the same hash.
    @usableFromInline func isChanging(_ key: EntryKey) -> Bool { file.page.isChanging(hash.of(key), of: archive, notBy: file.author) }
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
