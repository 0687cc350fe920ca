public import Synchronization
internal import VellumCore

/// The changes of one archive that other processes make in its file.
///
/// The memory cache remembers the generation up to which it has followed. As long as that is the generation of the archive, a hit is as
/// fresh as a read of the disk: one atomic load decides. Otherwise it asks which keys changed and drops them.
///
/// A writer announces its changes before it commits them and finishes after. A reader of the disk in between must not cache what it read:
/// it may be the old value or the new one.
@usableFromInline
package final class ArchiveChanges: Sendable {
    private let file: ChangesFile
    private let archive: Int64

    init(_ file: ChangesFile, archive: Int64) {
        self.file = file
        self.archive = archive
    }

    /// The number of the last change that any process announced.
    var generation: Generation { file.page.generation(of: archive) }

    /// What other processes changed since the generation was `old`.
    ///
    /// - Complexity: O(changes).
    func changes(after old: UInt64, through new: UInt64) -> ForeignChanges {
        file.page.changes(of: archive, after: old, through: new, notBy: file.author)
    }

    /// Whether another process may be writing under a key of this hash (``EntryKey/sharedHash``) just now.
    func isChanging(_ hash: UInt64) -> Bool { file.page.isChanging(hash, of: archive, notBy: file.author) }
}

/// What others changed.
@usableFromInline package enum ForeignChanges: Hashable, Sendable {
    /// What is under keys of these hashes.
    case keys([UInt64])
    /// Everything, or more than the feed remembers.
    case everything
}

/// A number in memory that other processes may change.
///
/// Unchecked because the number is protected by being atomic; the feed that it was taken from keeps it mapped.
@frozen
@usableFromInline package struct Generation: @unchecked Sendable {
    @usableFromInline let cell: UnsafePointer<Atomic<UInt64>>

    @usableFromInline package init(_ cell: UnsafePointer<Atomic<UInt64>>) { self.cell = cell }

    @inlinable
    package var value: UInt64 { cell.pointee.load(ordering: .acquiring) }
}

/// The place of a commit among the changes of an archive, as far as others can know of it.
@frozen
@usableFromInline package struct OwnChange: Hashable, Sendable {
    /// The generation before it.
    @usableFromInline package var previous: UInt64
    /// The generation that it made.
    @usableFromInline package var last: UInt64

    @usableFromInline package init(previous: UInt64, last: UInt64) {
        self.previous = previous
        self.last = last
    }
}
