public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Detects that this process is a copy, made by `fork`, of the one in which a file was opened.
///
/// ```swift
/// let forkGuard = ForkGuard()
/// guard forkGuard.isThisProcess else { throw VellumError.forked }
/// ```
///
/// The copy has only one thread. Locks that other threads held stay locked in it forever, and the
/// parent's file locks are not inherited (sqlite.org/howtocorrupt.html, 2.6), so an open store must
/// not be used there. The check costs one atomic load.
@frozen
@usableFromInline package struct ForkGuard: @unchecked Sendable {
    // Unchecked because the counter is atomic. It is never deallocated.
    @usableFromInline let copies: UnsafePointer<Atomic<Int>>
    @usableFromInline let copiesAtStart: Int

    /// Records the current process as the one in which something is opened.
    @usableFromInline package init() { self.init(Self.first.copies) }

    private init(_ copies: UnsafePointer<Atomic<Int>>) {
        self.copies = copies
        copiesAtStart = copies.pointee.load(ordering: .relaxed)
    }

    /// Whether this is the process in which the guard was created.
    @inlinable
    package var isThisProcess: Bool { copies.pointee.load(ordering: .relaxed) == copiesAtStart }

    /// Registers the fork handler on first use. The handler counts the forks between this process
    /// and the one that registered it.
    private static let first: ForkGuard = {
        let count = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        count.initialize(to: Atomic(0))
        counted.store(UInt(bitPattern: count), ordering: .releasing)
        let status = pthread_atfork(nil, nil) {
            let count = UnsafePointer<Atomic<Int>>(
                bitPattern: ForkGuard.counted.load(ordering: .acquiring)
            )
            count?.pointee.add(1, ordering: .relaxed)
        }
        precondition(
            status == 0,
            "The system has no memory for a note of forks (pthread_atfork: \(status))."
        )
        return ForkGuard(UnsafePointer(count))
    }()

    /// The address of the counter. The fork handler is a C function pointer and captures nothing.
    private static let counted = Atomic<UInt>(0)
}

extension VellumError {
    /// The error for using a store in a process that was forked while the store was open.
    @usableFromInline package static var forked: VellumError {
        VellumError(
            .forked,
            """
            The file was open when this process was forked, and its locks stayed with the parent: \
            it cannot be used or opened here. Let the new process execute a program (exec, \
            posix_spawn), which can open it, or fork before this process opens it.
            """
        )
    }
}
