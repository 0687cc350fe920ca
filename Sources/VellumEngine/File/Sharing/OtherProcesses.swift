internal import Synchronization
internal import VellumCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Which other processes have a database open, by the locks that SQLite keeps on the wal-index file (sqlite.org/walformat.html, 2.3). The
/// system releases those of a process that ends, however it ends.
///
/// One system call asks, and only when another process may have come since it was asked last.
final class OtherProcesses: Sendable {
    private let path: String
    private let identity: FileIdentity
    private let aloneAt = Atomic(UInt64.max)

    init(database path: String, _ identity: FileIdentity) {
        self.path = path
        self.identity = identity
    }

    /// Whether another process has the database open. If that cannot be determined, one may have.
    ///
    /// - Parameter openings: How often a process has opened it by now (``ChangePage/openings``). While that stays, the answer that there is
    ///   no other process stays, and the system is not asked.
    func hasOthers(openings: UInt64) -> Bool {
        if aloneAt.load(ordering: .relaxed) == openings { return false }
        // Each process that has the database open holds a shared lock on this byte.
        let isAlone = OpenDatabases.shared.holder(of: 128..<129, in: identity, at: path) == .nobody
        if isAlone { aloneAt.store(openings, ordering: .relaxed) }
        return !isAlone
    }

    /// Another process that reads through one of these slots of the wal-index; `nil` if there is none, or the system does not tell its
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
