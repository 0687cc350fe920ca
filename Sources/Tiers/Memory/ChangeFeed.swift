public import Synchronization

/// What others change in what lies below a memory tier: another process that has the same file open.
///
/// A memory tier remembers with what it holds the generation that it has heard of. As long as that is the generation of the feed, a
/// hit is as fresh as a read of the disk: one atomic load tells. Otherwise it asks what changed, and forgets that.
///
/// A writer announces its changes before it commits them and finishes after. Whoever reads the disk in between must not remember
/// what was read: it may be the old value, or the new one.
public protocol ChangeFeed: AnyObject, Sendable {
    /// The number of the last change that was announced, by anyone.
    var generation: Generation { get }

    /// What others changed since the generation was `old`. Changes of this process are left out: it knows of them.
    ///
    /// - Complexity: O(changes).
    func changes(after old: UInt64, through new: UInt64) -> ForeignChanges

    /// Whether another process may be writing under a key of this hash (``EntryKey/sharedHash``) just now.
    func isChanging(_ hash: UInt64) -> Bool
}

/// What others changed.
public enum ForeignChanges: Hashable, Sendable {
    /// What is under keys of these hashes.
    case keys([UInt64])
    /// Everything, or more than the feed remembers.
    case everything
}

/// A number in memory that other processes may change.
///
/// Unchecked because the number is protected by being atomic; the feed that it was taken from keeps it mapped.
@frozen
public struct Generation: @unchecked Sendable {
    @usableFromInline let cell: UnsafePointer<Atomic<UInt64>>

    public init(_ cell: UnsafePointer<Atomic<UInt64>>) { self.cell = cell }

    @inlinable
    public var value: UInt64 { cell.pointee.load(ordering: .acquiring) }
}

/// The place of a commit among the changes of an archive, as far as others can know of it.
@frozen
public struct OwnChange: Hashable, Sendable {
    /// The generation before it.
    public var previous: UInt64
    /// The generation that it made.
    public var last: UInt64

    public init(previous: UInt64, last: UInt64) {
        self.previous = previous
        self.last = last
    }
}
