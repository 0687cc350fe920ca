#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif
internal import Foundation
internal import Synchronization

/// A value that threads on different cores read without waiting for each other (decision 52).
///
/// A reader takes one of several locks, by its thread, and a writer takes all of them. So readers
/// write no line of memory in common, and a write costs as many locks as there are. Each lock also
/// guards what its readers note (`Notes`), which a writer reads and changes, too.
///
/// Unchecked because `value` is protected by `locks`: it is read inside one of them and changed
/// inside all.
@usableFromInline
package struct ReadMostly<Value: ~Copyable, Notes>: ~Copyable, @unchecked Sendable {
    @usableFromInline let locks: UnsafeMutablePointer<Locked<Notes>>
    @usableFromInline let count: Int
    @usableFromInline let value: UnsafeMutablePointer<Value>
    /// The notes of each lock, for a writer, who has all.
    @usableFromInline let notes: UnsafeMutablePointer<UnsafeMutablePointer<Notes>>
    @usableFromInline let threads = ThreadNumber.key

    /// - Parameter notes: Makes the notes of a lock, by its number and how many there are.
    @usableFromInline
    package init(
        _ value: consuming sending Value,
        notes: (_ number: Int, _ count: Int) -> Notes
    ) {
        count = ThreadNumber.lockCount
        locks = .allocate(capacity: count)
        for index in 0..<count { Self.initialize(locks + index, notes(index, count)) }
        self.notes = .allocate(capacity: count)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    private static func initialize(_ lock: UnsafeMutablePointer<Locked<Notes>>, _ notes: Notes) {
        // Safe because nobody else has what was just made.
        nonisolated(unsafe) let notes = notes
        lock.initialize(to: Locked(notes))
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        notes.deallocate()
        locks.deinitialize(count: count)
        locks.deallocate()
    }

    /// Runs `body` while nobody changes the value. Blocks while another thread changes it.
    @inlinable
    package borrowing func read<Result>(
        _ body: (UnsafePointer<Value>, inout Notes) -> Result
    ) -> Result {
        locks[number].withLock { notes in
            // Safe because the lock is given back with the result: nothing else has it.
            nonisolated(unsafe) let result = body(UnsafePointer(value), &notes)
            return result
        }
    }

    /// Runs `body` with exclusive access to the value and to all notes. Blocks while other threads
    /// read the value.
    @inlinable
    package borrowing func write<Result>(_ body: (inout Value, AllNotes<Notes>) -> Result) -> Result
    {
        var result: Result?
        withLocks(from: 0) { value, notes in result = body(&value, notes) }
        guard let result else { preconditionFailure("The closure is called once.") }
        return result
    }

    @inlinable
    borrowing func withLocks(from index: Int, _ body: (inout Value, AllNotes<Notes>) -> Void) {
        guard index < count else {
            return body(
                &value.pointee,
                AllNotes(UnsafeMutableBufferPointer(start: notes, count: count))
            )
        }
        locks[index].withLock { own in
            withUnsafeMutablePointer(to: &own) { notes.advanced(by: index).initialize(to: $0) }
            withLocks(from: index + 1, body)
        }
    }

    /// The lock of this thread.
    @inlinable var number: Int { ThreadNumber.current(threads) & (count - 1) }
}

/// The notes of all locks of a ``ReadMostly``, for whoever has all of them.
@usableFromInline
package struct AllNotes<Notes> {
    @usableFromInline let notes: UnsafeMutableBufferPointer<UnsafeMutablePointer<Notes>>

    @inlinable
    init(_ notes: UnsafeMutableBufferPointer<UnsafeMutablePointer<Notes>>) { self.notes = notes }

    @inlinable
    package func forEach(_ body: (inout Notes) -> Void) {
        for notes in notes { body(&notes.pointee) }
    }
}

/// Numbers threads, in the order in which they first ask: neighbours have different numbers, and a
/// thread keeps its own.
@usableFromInline
enum ThreadNumber {
    /// Where a thread finds its number, plus one.
    @usableFromInline
    static let key = newKey()

    /// Returns a place that each thread has.
    static func newKey() -> pthread_key_t {
        var key = pthread_key_t()
        let status = pthread_key_create(&key, nil)
        precondition(
            status == 0,
            "The process has no thread-specific key left (pthread_key_create: \(status))."
        )
        return key
    }

    private static let last = Atomic(0)

    /// The number of locks among which threads are distributed: two for each core, because a thread
    /// that waits keeps its number; a power of two.
    static let lockCount: Int = {
        var count = 1
        while count < min(32, 2 * ProcessInfo.processInfo.activeProcessorCount) { count *= 2 }
        return count
    }()

    @inlinable
    static func current(_ key: pthread_key_t) -> Int {
        guard let known = pthread_getspecific(key) else { return assign(key) }
        return Int(bitPattern: known)
    }

    @usableFromInline
    static func assign(_ key: pthread_key_t) -> Int {
        let number = last.wrappingAdd(1, ordering: .relaxed).newValue
        // Without memory for it, the thread gets another number each time.
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: max(1, number)))
        return number
    }
}

extension ReadMostly where Value: ~Copyable, Notes == Void {
    @usableFromInline
    package init(_ value: consuming sending Value) { self.init(value) { _, _ in } }
}
