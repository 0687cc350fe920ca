internal import Foundation
internal import VellumCore

/// A connection that reads, and its lease on a snapshot. Guarded by its slot's lock in ``ReadPool``.
///
/// Beginning and ending a read transaction costs more than a point read, so a reader keeps its transaction open for the next read, as a
/// lease. The lease is renewed when any process has committed (the header of the wal-index shows it). It ends when there was no read for
/// a while or when a checkpoint needs it, because an old snapshot makes the log grow.
final class ReadConnection {
    private let connection: Connection
    private let begin: Statement
    private let end: Statement
    private var archives: [Int64: ArchiveReader] = [:]
    private var lease: LogIndex?
    /// When the lease began, in milliseconds of a monotonic clock.
    private var leaseBegan: Int64 = 0
    /// The number of the transaction. Others may commit between the look at the wal-index and the moment at which SQLite takes the snapshot,
    /// so two transactions that begin with the same header may read different snapshots.
    private var snapshot: UInt64 = 0
    /// The longest duration of a lease in milliseconds, even if it is in constant use. Another process that wants to restart the log waits
    /// a little longer than this, and snapshots taken meanwhile do not block it.
    private static let longestLease: Int64 = 8
    /// The number of reads so far. Maintenance compares it to find idle leases.
    private(set) var reads: UInt64 = 0

    /// The state of the wal-index when the snapshot was taken.
    private struct LogIndex: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64)

        /// Reads the change counter, the size of the log, its salts and the checksum of the header.
        init(_ header: UnsafeRawPointer) {
            words = (
                header.load(fromByteOffset: 8, as: UInt64.self), header.load(fromByteOffset: 16, as: UInt64.self),
                header.load(fromByteOffset: 32, as: UInt64.self), header.load(fromByteOffset: 40, as: UInt64.self)
            )
        }

        static func == (left: LogIndex, right: LogIndex) -> Bool { left.words == right.words }
    }

    init(path: String) throws(SQLiteError) {
        connection = try Connection(path: path)
        try connection.execute(SQL.readerSettings)
        begin = try connection.prepare(SQL.begin)
        end = try connection.prepare(SQL.commit)
    }

    var hasLease: Bool { lease != nil }

    func keepLog() { connection.keepLog() }

    /// Runs `body` on a snapshot that holds everything committed before the call.
    ///
    /// - Parameters:
    ///   - keepingLease: Whether the snapshot may stay open for the next read.
    ///   - now: The time, in milliseconds of a monotonic clock.
    func read<Result>(
        keepingLease: Bool, at now: Int64, _ body: (ReadConnection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        reads &+= 1
        let header = connection.logIndexHeader()
        let present = header.map { LogIndex($0) }
        if let lease, lease != present || now - leaseBegan >= Self.longestLease { endLease() }
        if lease == nil {
            // A transaction is needed even without a lease: `body` must read a consistent snapshot.
            try begin.run()
            snapshot &+= 1
            if keepingLease { (lease, leaseBegan) = (present, now) }
        }
        do throws(SQLiteError) {
            let result = try body(self)
            if !keepingLease || lease == nil { endLease() }
            return result
        } catch {
            endLease()
            throw error
        }
    }

    func endLease() {
        guard lease != nil || connection.isInTransaction else { return }
        lease = nil
        do throws(SQLiteError) {
            try end.run()
        } catch {
            Log.error("A snapshot could not be ended.", error)
        }
    }

    func archive(_ id: Int64, _ checksum: Checksum) -> ArchiveReader {
        // If the list of archives is damaged, two names may refer to one table, so each name keeps its own checksum.
        if let archive = archives[id], archive.checksum == checksum {
            archive.snapshot = snapshot
            return archive
        }
        let archive = ArchiveReader(id: id, checksum: checksum, connection: connection)
        archive.snapshot = snapshot
        archives[id] = archive
        return archive
    }
}
