public import Synchronization

/// A flag that says whether a handle was closed, stored outside any object so that a memory hit
/// reads it without reference counting.
///
/// Unchecked because the flag is atomic. Its creator deallocates it when no handle can read it any
/// more.
@frozen
@usableFromInline package struct ClosedMark: @unchecked Sendable {
    @usableFromInline let cell: UnsafeMutablePointer<Atomic<Bool>>

    /// Creates a flag that is not set. The creator must call ``deallocate()``.
    @usableFromInline package init() {
        cell = .allocate(capacity: 1)
        cell.initialize(to: Atomic(false))
    }

    /// A flag that is never set, for handles that have nothing to close yet.
    @usableFromInline package static let open = ClosedMark()

    /// Whether the handle is closed. One atomic load.
    @inlinable
    package var isClosed: Bool { cell.pointee.load(ordering: .acquiring) }

    /// Closes or reopens the handle.
    ///
    /// - Returns: Whether the handle was closed before.
    @discardableResult
    @usableFromInline package func set(_ isClosed: Bool) -> Bool {
        cell.pointee.exchange(isClosed, ordering: .acquiringAndReleasing)
    }

    /// Frees the flag. No handle may use it afterwards.
    @usableFromInline package func deallocate() {
        cell.deinitialize(count: 1)
        cell.deallocate()
    }
}
