/// The archives whose totals were loaded. A transaction looks at no others: a file may have a thousand.
final class LoadedArchives {
    /// Those that the open transaction has used, or the last one.
    var inTransaction: [ArchiveWriter] = []
    /// Those whose totals are those of the file, as far as this process knows.
    private var valid: [ArchiveWriter] = []
    /// Whether the disk is full: then entries are evicted before others are inserted, and by the uses in the file alone, because writing the
    /// others takes space.
    var areOnFullDisk: Bool { retriesOnFullDisk > 0 }
    /// How many threads try again what the full disk refused.
    var retriesOnFullDisk = 0

    /// Adds an archive that was loaded.
    func add(_ archive: ArchiveWriter, wasValid: Bool) {
        if !inTransaction.contains(where: { $0 === archive }) { inTransaction.append(archive) }
        if !wasValid { valid.append(archive) }
    }

    /// Makes every archive load its totals again.
    func invalidate() {
        for archive in valid { archive.invalidate() }
        valid.removeAll(keepingCapacity: true)
        inTransaction.removeAll(keepingCapacity: true)
    }
}
