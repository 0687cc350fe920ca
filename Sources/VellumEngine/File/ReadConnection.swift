internal import Foundation
internal import VellumCore

/// A connection that reads, and its lease on a snapshot. Guarded by its slot's lock in ``ReadPool``
/// (decision 8).
///
/// Beginning and ending a read transaction costs more than a point read, so a reader keeps its
/// transaction open for the next read, as a lease. The lease is renewed when any process has
/// committed (the header of the wal-index shows it). It ends when there was no read for a while or
/// when a checkpoint needs it, because an old snapshot makes the log grow.
final class ReadConnection {
    private let connection: Connection
    private let beginSnapshot: Statement
    private let endSnapshot: Statement
    private var tables: [Int64: ArchiveTables] = [:]
    private let location: FileLocation
    /// Whether removed entries are hidden (``RemovedTable``), and for which count of removals that
    /// is known.
    private var hidesRemoved = false
    private var hasRemovals: Statement?
    private var knownRemovals: UInt64 = 0
    private var lease: LogIndex?
    /// When the lease began, in milliseconds of a monotonic clock.
    private var leaseBegan: Int64 = 0
    /// The number of the transaction. Others may commit between the look at the wal-index and the
    /// moment at which SQLite takes the snapshot, so two transactions that begin with the same
    /// header may read different snapshots.
    private var snapshot: UInt64 = 0
    /// The longest duration of a lease in milliseconds, even if it is in constant use. Another
    /// process that wants to restart the log waits a little longer than this, and snapshots taken
    /// meanwhile do not block it.
    private static let longestLease: Int64 = 8
    /// The number of reads so far. Maintenance compares it to find idle leases.
    private(set) var reads: UInt64 = 0

    /// The state of the wal-index when the snapshot was taken.
    private struct LogIndex: Equatable {
        var words: (UInt64, UInt64, UInt64, UInt64)

        /// Reads the change counter, the size of the log, its salts and the checksum of the header.
        init(_ header: UnsafeRawPointer) {
            words = (
                header.load(fromByteOffset: 8, as: UInt64.self),
                header.load(fromByteOffset: 16, as: UInt64.self),
                header.load(fromByteOffset: 32, as: UInt64.self),
                header.load(fromByteOffset: 40, as: UInt64.self)
            )
        }

        static func == (left: LogIndex, right: LogIndex) -> Bool { left.words == right.words }
    }

    init(_ location: FileLocation) throws(SQLiteError) {
        self.location = location
        connection = try location.connect(SQL.readerSettings)
        beginSnapshot = try connection.prepare(SQL.begin)
        endSnapshot = try connection.prepare(SQL.commit)
    }

    var hasLease: Bool { lease != nil }

    func keepLog() { connection.keepLog() }

    func interrupt(when isCancelled: (() -> Bool)?) { connection.interrupt(when: isCancelled) }

    /// Begins to read, from a snapshot that holds everything committed before the call.
    /// ``end(keepingLease:)`` or ``endLease()`` follows.
    ///
    /// - Parameters:
    ///   - keepingLease: Whether the snapshot may stay open for the next read.
    ///   - now: The time, in milliseconds of a monotonic clock.
    func begin(keepingLease: Bool, at now: Int64) throws(SQLiteError) {
        reads &+= 1
        let header = connection.logIndexHeader()
        let present = header.map { LogIndex($0) }
        if let lease, lease != present || now - leaseBegan >= Self.longestLease { endLease() }
        guard lease == nil else { return }
        // A transaction is needed even without a lease: what is read must be one snapshot.
        try beginSnapshot.run()
        snapshot &+= 1
        let removals = location.changesFile.page.removals
        if removals != knownRemovals || removals & 1 == 1 {
            do throws(SQLiteError) {
                try lookForRemoved(removals)
            } catch {
                endLease()
                throw error
            }
        }
        if keepingLease {
            lease = present
            leaseBegan = now
        }
    }

    /// Hides removed entries, if there are any in the snapshot.
    @inline(never)
    private func lookForRemoved(_ removals: UInt64) throws(SQLiteError) {
        let look =
            if let hasRemovals { hasRemovals } else {
                try connection.prepare(Features.hasRemovals)
            }
        hasRemovals = look
        let areThere = try look.firstInt() > 0
        if areThere != hidesRemoved {
            // Not half of them, if it fails.
            try RemovedTable.show(on: connection)
            if areThere { try RemovedTable.hide(on: connection) }
            hidesRemoved = areThere
        }
        if !areThere { knownRemovals = removals }
    }

    /// Ends a read that has succeeded.
    func end(keepingLease: Bool) {
        if !keepingLease || lease == nil { endLease() }
    }

    func endLease() {
        guard lease != nil || connection.isInTransaction else { return }
        lease = nil
        do throws(SQLiteError) {
            try endSnapshot.run()
        } catch {
            Log.error("A snapshot could not be ended.", error)
        }
    }

    /// The tables of an archive in the snapshot.
    ///
    /// - Throws: ``SQLiteError/versionReplaced`` if the archive holds another version of its cache.
    func tables(of archive: Archive) throws(SQLiteError) -> ArchiveTables {
        let found = prepared(archive)
        found.snapshot = snapshot
        if let version = archive.cacheVersion { try found.require(version: version) }
        return found
    }

    private func prepared(_ archive: Archive) -> ArchiveTables {
        // If the list of archives is damaged, two names may have one number, so each name keeps its
        // own checksum.
        if let open = tables[archive.id], open.checksum == archive.checksum { return open }
        let new = ArchiveTables(id: archive.id, checksum: archive.checksum, connection: connection)
        tables[archive.id] = new
        return new
    }
}
