#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// A value that threads on different cores read without waiting for each other.
///
/// A reader takes one of several locks, by its thread, and a writer takes all of them. So readers write no line of memory in common, and a write
/// costs as many locks as there are.
///
/// Unchecked because `value` is protected by `locks`: it is read inside one of them and changed inside all.
@usableFromInline
package struct ReadMostly<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let locks: UnsafeMutablePointer<Locked<Void>>
    @usableFromInline let count: Int
    @usableFromInline let value: UnsafeMutablePointer<Value>

    @usableFromInline
    package init(_ value: consuming sending Value) {
        count = PartCount.usual
        locks = .allocate(capacity: count)
        for index in 0..<count { (locks + index).initialize(to: Locked(())) }
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        locks.deinitialize(count: count)
        locks.deallocate()
    }

    /// Runs `body` while nobody changes the value. Blocks while another thread changes it.
    @inlinable
    package borrowing func read<Result: Sendable>(_ body: (UnsafePointer<Value>) -> Result) -> Result {
        // Threads have their control blocks on pages of their own.
        let thread = Self.thread
        let hash = (thread &* 0x9E37_79B9_7F4A_7C15) >> 32
        return locks[Int(truncatingIfNeeded: hash) & (count - 1)].withLock { _ in body(UnsafePointer(value)) }
    }

    @inlinable static var thread: UInt {
        #if canImport(Darwin)
            UInt(bitPattern: pthread_self())
        #else
            UInt(pthread_self())
        #endif
    }

    /// Runs `body` with exclusive access to the value. Blocks while other threads read it.
    @usableFromInline
    package borrowing func write(_ body: (inout Value) -> Void) { write(from: 0, body) }

    private borrowing func write(from index: Int, _ body: (inout Value) -> Void) {
        guard index < count else { return body(&value.pointee) }
        locks[index].withLock { _ in write(from: index + 1, body) }
    }
}
