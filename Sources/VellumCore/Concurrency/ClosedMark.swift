public import Synchronization

/// Whether a handle was closed: a word in memory, so that a hit asks it without counting a reference.
///
/// Unchecked because the word is protected by being atomic. Its maker deallocates it once no handle can ask it any more.
@frozen
@usableFromInline package struct ClosedMark: @unchecked Sendable {
    @usableFromInline let cell: UnsafeMutablePointer<Atomic<Bool>>

    @usableFromInline package init() {
        cell = .allocate(capacity: 1)
        cell.initialize(to: Atomic(false))
    }

    /// One that is never closed, for whoever has nothing to close yet.
    @usableFromInline package static let open = ClosedMark()

    @inlinable
    package var isClosed: Bool { cell.pointee.load(ordering: .acquiring) }

    /// Closes or reopens the handle.
    ///
    /// - Returns: Whether it was closed before.
    @discardableResult
    @usableFromInline package func set(_ isClosed: Bool) -> Bool { cell.pointee.exchange(isClosed, ordering: .acquiringAndReleasing) }

    @usableFromInline package func deallocate() {
        cell.deinitialize(count: 1)
        cell.deallocate()
    }
}
