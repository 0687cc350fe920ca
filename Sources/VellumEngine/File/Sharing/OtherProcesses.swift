internal import Synchronization
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Finds other processes that have a database open, through the locks that SQLite keeps on the wal-index file
/// (sqlite.org/walformat.html, 2.3). The system releases a process's locks when it ends, however it ends.
///
/// A check costs one system call, and is made only if another process may have opened the database since the last check.
final class OtherProcesses: Sendable {
    private let path: String
    private let identity: FileIdentity
    private let openingsWhenAlone = Atomic(UInt64.max)

    init(database path: String, _ identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Returns whether another process has the database open; `true` if that cannot be determined.
    ///
    /// - Parameter openings: How often processes have opened the database so far (``ChangePage/openings``). While the number is unchanged,
    ///   a negative result is reused without a system call.
    func hasOthers(openings: UInt64) -> Bool {
        if openingsWhenAlone.load(ordering: .relaxed) == openings { return false }
        // Each process that has the database open holds a shared lock on this byte.
        let isAlone = OpenDatabases.shared.holder(of: 128..<129, in: identity, at: path) == .unlocked
        if isAlone { openingsWhenAlone.store(openings, ordering: .relaxed) }
        return !isAlone
    }

    /// Returns a process that reads through one of these slots of the wal-index; `nil` if there is none, or the system does not report its
    /// number.
    func process(readingThrough slots: [Int]) -> Int32? {
        for slot in slots {
            // A reader holds a shared lock on the byte of its slot.
            let byte = 123 + slot
            if case .process(let number) = OpenDatabases.shared.holder(of: off_t(byte)..<off_t(byte + 1), in: identity, at: path),
                number > 0
            {
                return number
            }
        }
        return nil
    }
}
