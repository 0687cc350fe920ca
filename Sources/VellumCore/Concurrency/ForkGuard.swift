public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Tells whether this process is a copy, made by `fork`, of the one in which something was opened.
///
/// ```swift
/// let birth = ForkGuard()
/// guard birth.isThisProcess else { throw VellumError.forked }
/// ```
///
/// A copy has one thread, and locks that others held stay locked in it for ever; the system's locks on files it does not have
/// (sqlite.org/howtocorrupt.html, 2.6). So a store that was open must not be used there. Costs one atomic load.
@frozen
@usableFromInline package struct ForkGuard: @unchecked Sendable {
    // Unchecked because the number is protected by being atomic; it is never let go of.
    @usableFromInline let copies: UnsafePointer<Atomic<Int>>
    @usableFromInline let forkGuard: Int

    /// Notes that something is opened in this process.
    @usableFromInline package init() { self.init(Self.first.copies) }

    private init(_ copies: UnsafePointer<Atomic<Int>>) {
        self.copies = copies
        forkGuard = copies.pointee.load(ordering: .relaxed)
    }

    /// Whether this is the process in which the value was made.
    @inlinable
    package var isThisProcess: Bool { copies.pointee.load(ordering: .relaxed) == forkGuard }

    /// Counts from now on how many forks lie between this process and the one that first asked.
    private static let first: ForkGuard = {
        let count = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: 1)
        count.initialize(to: Atomic(0))
        counted.store(UInt(bitPattern: count), ordering: .releasing)
        let status = pthread_atfork(nil, nil) {
            let count = UnsafePointer<Atomic<Int>>(bitPattern: ForkGuard.counted.load(ordering: .acquiring))
            count?.pointee.add(1, ordering: .relaxed)
        }
        precondition(status == 0, "The system has no memory for a note of forks (pthread_atfork: \(status)).")
        return ForkGuard(UnsafePointer(count))
    }()

    /// Where the number is: a handler of the system's captures nothing.
    private static let counted = Atomic<UInt>(0)
}

extension VellumError {
    /// The store is one of the process that this one was forked from.
    @usableFromInline package static var forked: VellumError {
        VellumError(
            .forked,
            """
            The file was open when this process was forked, and its locks stayed with the parent: it cannot be used or opened here. Let the \
            new process execute a program (exec, posix_spawn), which can open it, or fork before this process opens it.
            """)
    }
}
