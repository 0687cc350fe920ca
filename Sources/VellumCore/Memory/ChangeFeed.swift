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
    func changes(after old: UInt64, through new: UInt64) -> ChangedKeys

    /// Whether another process may currently be writing the key, or one with the same hash.
    func isChanging(_ key: EntryKey) -> Bool
}

/// The keys of one archive that changed.
@usableFromInline package enum ChangedKeys: Hashable, Sendable {
    /// Those with these hashes (``SeededHash``).
    case keys([UInt64])
    /// All of them, or more than the change page can record.
    case everything

    package var isEmpty: Bool { hashes?.isEmpty ?? false }

    /// The hashes of the keys; `nil` if all keys changed.
    package var hashes: [UInt64]? {
        switch self {
        case .keys(let hashes): hashes
        case .everything: nil
        }
    }

    /// Adds a key, or all if there are `most`.
    package mutating func insert(_ hash: UInt64, most: Int) {
        guard case .keys(var hashes) = self else { return }
        // Now the array has one owner, and is not copied.
        self = .everything
        guard hashes.count < most else { return }
        hashes.append(hash)
        self = .keys(hashes)
    }
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
