internal import VellumCore

/// The archives of a file that the writer knows, and those of the open transaction. A transaction looks at no others: a file may have a
/// thousand.
final class ArchiveRegistry {
    @exclusivity(unchecked) private var archives: [Int64: ArchiveWriter] = [:]
    /// Those that the open transaction has used, or the last one.
    @exclusivity(unchecked) private(set) var inTransaction: [ArchiveWriter] = []
    /// Those whose totals are those of the file, as far as this process knows.
    @exclusivity(unchecked) private var loaded: [ArchiveWriter] = []
    /// The number of threads that retry a write which failed because the disk was full. While it is not zero, entries are evicted before
    /// others are inserted, and by the uses in the file alone, because writing the others takes space.
    @exclusivity(unchecked) var retriesOnFullDisk = 0

    subscript(id: Int64) -> ArchiveWriter? { archives[id] }

    var all: [ArchiveWriter] { Array(archives.values) }

    var owners: [any DiskArchiveDelegate] { archives.values.compactMap(\.owner) }

    /// Adds an archive, in place of an earlier writer of the same one.
    func add(_ archive: ArchiveWriter) {
        archives[archive.id] = archive
        archive.registry = self
    }

    /// Removes an archive that was closed or deleted.
    func remove(_ id: Int64) { archives[id] = nil }

    /// When the next sweep is due; `nil` if none is ever needed. An archive with policies needs one at least once a day, which writes them.
    var nextSweep: WallInstant? {
        let end = archives.values.reduce(.never) { min($0, $1.sweepMap.earliest) }
        return end != .never || archives.values.contains(where: \.hasPolicies) ? end : nil
    }

    // MARK: The open transaction

    func beginTransaction() { inTransaction.removeAll(keepingCapacity: true) }

    /// Adds an archive to the open transaction.
    ///
    /// - Parameter isLoaded: Whether its totals were loaded before.
    func join(_ archive: ArchiveWriter, isLoaded: Bool) {
        if !inTransaction.contains(where: { $0 === archive }) {
            inTransaction.append(archive)
            archive.transaction = ArchiveWriter.Transaction()
        }
        if !isLoaded { loaded.append(archive) }
    }

    /// Makes every archive load its totals again, and forgets the transaction.
    func invalidate() {
        for archive in loaded { archive.invalidate() }
        loaded.removeAll(keepingCapacity: true)
        inTransaction.removeAll(keepingCapacity: true)
    }

    /// When the first entry expires of those that the last transaction wrote.
    var earliestWrittenEnd: WallInstant { inTransaction.reduce(.never) { min($0, $1.sweepMap.earliest) } }

    /// Discards the uses of a committed transaction, which the owners have applied.
    func forgetUses() {
        for archive in inTransaction where !archive.transaction.uses.isEmpty { archive.transaction.uses.removeAll() }
    }
}
