#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#endif
public import Synchronization

/// A value and the lock that guards it: the only lock type of this package.
///
/// ```swift
/// let count = Locked(0)
/// count.withLock { $0 += 1 }
/// ```
///
/// The interface is that of `Synchronization.Mutex`, which implements it on Apple platforms. On
/// Linux it is a `pthread_mutex_t`, because there `Mutex` is invisible to ThreadSanitizer and slows
/// down sharply when threads outnumber cores (see decision 0007). Not recursive: a closure that
/// enters its own lock again deadlocks.
///
/// - Warning: Nothing stops a closure from returning a reference to what the lock guards. Return
///   values, not references.
@frozen
@usableFromInline package struct Locked<Value: ~Copyable>: ~Copyable {
    #if canImport(Darwin)
        @usableFromInline let mutex: Mutex<Value>

        /// Creates a lock around a value.
        @inlinable
        package init(_ value: consuming sending Value) {
            mutex = Mutex(value)
        }

        /// Runs `body` with exclusive access to the value. Blocks while another thread has access.
        ///
        /// - Throws: The error that `body` throws. The lock is released.
        @inlinable
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }
    #else
        @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
        @usableFromInline let value: UnsafeMutablePointer<Value>

        /// Creates a lock around a value.
        @inlinable
        package init(_ value: consuming sending Value) {
            // In one piece, which begins a cache line: threads that use other locks write no line
            // of this one.
            let place = Self.place
            let memory = UnsafeMutableRawPointer.allocate(
                byteCount: place + MemoryLayout<Value>.size,
                alignment: 64
            )
            mutex = memory.initializeMemory(as: pthread_mutex_t.self, to: pthread_mutex_t())
            let status = LockKind.initialize(mutex)
            precondition(
                status == 0,
                "The system has no memory for another lock (pthread_mutex_init: \(status))."
            )
            self.value = (memory + place).bindMemory(to: Value.self, capacity: 1)
            self.value.initialize(to: value)
        }

        deinit {
            value.deinitialize(count: 1)
            pthread_mutex_destroy(mutex)
            mutex.deinitialize(count: 1)
            UnsafeMutableRawPointer(mutex).deallocate()
        }

        /// Where the value begins, behind the mutex.
        @inlinable static var place: Int {
            let alignment = MemoryLayout<Value>.alignment
            return (MemoryLayout<pthread_mutex_t>.size + alignment - 1) / alignment * alignment
        }

        /// Runs `body` with exclusive access to the value. Blocks while another thread has access.
        ///
        /// - Throws: The error that `body` throws. The lock is released.
        @inlinable
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }

        /// The same for a lock that others may have for long, which counts the threads that wait. A
        /// thread of a lane lends its place meanwhile. A free lock is taken by one attempt, as
        /// cheaply as without counting.
        @inlinable
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            counting waiting: borrowing Atomic<Int>,
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            if pthread_mutex_trylock(mutex) != 0 {
                waiting.add(1, ordering: .relaxed)
                LockKind.wait(for: mutex)
                waiting.subtract(1, ordering: .relaxed)
            }
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }

        /// The same without counting.
        @inlinable
        package borrowing func withLongLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            if pthread_mutex_trylock(mutex) != 0 { LockKind.wait(for: mutex) }
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }

        /// Runs `body` with exclusive access to the value, or returns `nil` without waiting if
        /// another thread has access.
        @inlinable
        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(mutex) == 0 else { return nil }
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    #endif
}

#if !canImport(Darwin)
    /// The kind of every lock.
    @usableFromInline
    enum LockKind {
        /// Makes a lock that is tried for a moment before its thread sleeps, where the system has
        /// one: what it guards takes less time than falling asleep.
        ///
        /// - Returns: The status of `pthread_mutex_init`.
        @usableFromInline
        static func initialize(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 {
            #if canImport(Glibc)
                var attributes = pthread_mutexattr_t()
                pthread_mutexattr_init(&attributes)
                defer { pthread_mutexattr_destroy(&attributes) }
                pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
                return pthread_mutex_init(mutex, &attributes)
            #else
                return pthread_mutex_init(mutex, nil)
            #endif
        }

        /// Waits for a lock that another thread has. A thread of a lane lends its place if that
        /// takes longer than most do.
        @usableFromInline
        static func wait(for mutex: UnsafeMutablePointer<pthread_mutex_t>) {
            guard Lane.isCurrent else {
                pthread_mutex_lock(mutex)
                return
            }
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            end.tv_nsec += 2_000_000
            if end.tv_nsec >= 1_000_000_000 {
                end.tv_sec += 1
                end.tv_nsec -= 1_000_000_000
            }
            if pthread_mutex_timedlock(mutex, &end) == 0 { return }
            Lane.waiting { _ = pthread_mutex_lock(mutex) }
        }
    }
#endif

#if canImport(Darwin)
    extension Locked where Value: ~Copyable {
        /// Runs `body` with exclusive access to the value, or returns `nil` without waiting if
        /// another thread has access.
        @inlinable
        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            try mutex.withLockIfAvailable(body)
        }

        /// Runs `body` with exclusive access to the value, and counts the threads that wait.
        @inlinable
        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            counting waiting: borrowing Atomic<Int>,
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            if let result = try mutex.withLockIfAvailable(body) { return result }
            waiting.add(1, ordering: .relaxed)
            let isLent = LockPlace.lend()
            defer { if isLent { LockPlace.takeBack() } }
            return try mutex.withLock {
                (value: inout sending Value) throws(Failure) -> sending Result in
                waiting.subtract(1, ordering: .relaxed)
                return try body(&value)
            }
        }

        /// The same without counting.
        @inlinable
        package borrowing func withLongLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try withLock(counting: Atomic(0), body)
        }
    }

    /// The place in a lane of a thread that waits for a lock.
    @usableFromInline
    enum LockPlace {
        @usableFromInline static func lend() -> Bool { Lane.lend() }
        @usableFromInline static func takeBack() { Lane.takeBack() }
    }
#endif

// Unchecked because the value is protected by `mutex`: it is passed in as `sending` and accessed
// only inside `withLock`.
extension Locked: @unchecked Sendable where Value: ~Copyable {}
