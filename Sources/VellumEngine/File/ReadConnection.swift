internal import Foundation
internal import VellumCore

/// One connection that reads, and its lease on a snapshot. Used inside one lock.
///
/// Beginning and ending a read transaction costs more than a point read, so a reader keeps its transaction open for the
/// next read, as a lease: it is renewed when anyone has committed (the header of the wal-index tells, for every process),
/// and ends when no one has read for a while or a checkpoint asks, because a snapshot that is held makes the log grow.
final class ReadConnection {
    private let connection: Connection
    private let begin: Statement
    private let end: Statement
    private var archives: [Int64: ArchiveReader] = [:]
    private var lease: LogIndex?
    /// When the lease began, in milliseconds of a clock that only grows.
    private var leaseBegan: Int64 = 0
    /// How long a lease lasts at most, in milliseconds, also where it is in use all the time: another process that wants to begin the
    /// log anew waits for a little longer, and whoever takes a snapshot meanwhile is not in its way.
    private static let longestLease: Int64 = 8
    /// Reads so far: the housekeeper compares it to see whether the lease is in use.
    private(set) var reads: UInt64 = 0

    /// What the wal-index said when the snapshot was taken.
    private struct LogIndex: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64)

        /// The counter of changes, the size of the log, its salts and the checksum of the header.
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

    /// Runs `body` on a snapshot that holds everything committed before.
    ///
    /// - Parameters:
    ///   - keepingLease: Whether the snapshot may stay for the next read.
    ///   - now: In milliseconds of a clock that only grows.
    func read<Result>(
        keepingLease: Bool, at now: Int64, _ body: (ReadConnection) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        reads &+= 1
        let header = connection.logIndexHeader()
        let present = header.map { LogIndex($0) }
        if let lease, lease != present || now - leaseBegan >= Self.longestLease { endLease() }
        if lease == nil {
            // Also where the snapshot may not stay: what `body` reads must be of one instant.
            try begin.run()
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
        // Where the list of archives is damaged two names may lead to one table: each is judged by its own checksum.
        if let archive = archives[id], archive.checksum == checksum { return archive }
        let archive = ArchiveReader(id: id, checksum: checksum, connection: connection)
        archives[id] = archive
        return archive
    }
}
