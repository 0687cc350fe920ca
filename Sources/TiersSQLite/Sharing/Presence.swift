internal import Synchronization
internal import Tiers

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Which other processes have a database open, by the locks that SQLite keeps on the wal-index file (sqlite.org/walformat.html, 2.3): the
/// system releases those of a process that ends, however it ends.
///
/// The file is opened once and closed only after every connection of this process, because closing it drops the process's own locks on it
/// (sqlite.org/howtocorrupt.html, 2.2). One system call asks, and only when another process may have come since it was asked last.
final class Presence: Sendable {
    private let path: String
    private let descriptor = Locked<Int32?>(nil)
    private let aloneAt = Atomic(UInt64.max)

    /// Each process that has the database open holds a shared lock on this byte.
    private static let everyone: off_t = 128
    /// A reader holds a shared lock on one of these bytes.
    private static let readers: Range<off_t> = 123..<128

    init(database: String) { path = database + "-shm" }

    /// Whether another process has the database open. If that cannot be told, one may have.
    ///
    /// - Parameter openings: How often a process has opened it by now (``ChangePage/openings``). While that stays, the answer that there is
    ///   nobody else stays, and the system is not asked.
    func hasOthers(openings: UInt64) -> Bool {
        if aloneAt.load(ordering: .relaxed) == openings { return false }
        let isAlone = holder(of: Self.everyone..<Self.everyone + 1) == .none
        if isAlone { aloneAt.store(openings, ordering: .relaxed) }
        return !isAlone
    }

    /// A process that reads the log just now; 0 where the system does not tell its number.
    var readingProcess: Int32? {
        if case .process(let number) = holder(of: Self.readers) { number } else { nil }
    }

    private enum Holder: Equatable {
        case none, unknown
        case process(Int32)
    }

    private func holder(of bytes: Range<off_t>) -> Holder {
        descriptor.withLock { descriptor in
            if descriptor == nil {
                let opened = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
                guard opened >= 0 else { return .unknown }
                descriptor = opened
            }
            guard let descriptor else { return .unknown }
            var lock = flock()
            lock.l_type = Int16(F_WRLCK)
            lock.l_whence = Int16(SEEK_SET)
            lock.l_start = bytes.lowerBound
            lock.l_len = off_t(bytes.count)
            guard fcntl(descriptor, F_GETLK, &lock) == 0 else { return .unknown }
            return lock.l_type == Int16(F_UNLCK) ? .none : .process(lock.l_pid)
        }
    }

    /// Closes the file, after every connection of this process to the database. Asking opens it again.
    func close() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = systemClose(descriptor) }
            descriptor = nil
        }
        aloneAt.store(.max, ordering: .relaxed)
    }

    private func systemClose(_ descriptor: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.close(descriptor)
        #elseif canImport(Musl)
            Musl.close(descriptor)
        #else
            Darwin.close(descriptor)
        #endif
    }
}
