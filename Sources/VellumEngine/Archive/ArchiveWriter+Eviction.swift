internal import VellumCore

// The order of use on disk, and who leaves first.
//
// An entry's last use is the greatest of three stamps: the one it was first written under (in its row), the one in
// `uses`, and one that only its owner knows yet. Entries are numbered as they come, so up to `settled` each has a row in
// `uses`, and after it they lie in the order of their first stamps: the tail. `marks` lists uses in their order; a mark
// that is not the last use of its entry means nothing any more. The coldest entry is therefore at the head of `marks` or
// at the head of the tail, and whoever was used since is moved on: each step costs O(log n), and each entry is moved
// at most once for each use that the disk was not told of.

extension ArchiveWriter {
    /// Another archive of the family.
    struct Sibling {
        unowned let archive: ArchiveWriter
    }

    /// What the archive and those that it replaces hold, in the open transaction.
    var held: StorageUsage {
        var held = StorageUsage(entries: Int(row.entries), bytes: Int(row.bytes))
        for sibling in siblings {
            held.entries += Int(sibling.archive.row.entries)
            held.bytes += Int(sibling.archive.row.bytes)
        }
        return held
    }

    /// Whether the archive holds more than it may, in the open transaction.
    var isOverLimit: Bool {
        let held = held
        return capacity.isExceeded(byBytes: held.bytes, entries: held.entries)
    }

    /// Removes the coldest entries until the archive keeps its limit.
    ///
    /// - Returns: What left this archive, and how many entries left it and its siblings.
    func evict(atMost limit: Int = .max) throws(SQLiteError) -> (removed: [RemovedEntry], count: Int) {
        var removed: [RemovedEntry] = []
        var count = 0
        while isOverLimit, count < limit {
            if try !evictFromRelative() {
                guard let entry = try removeColdestEntry(before: UseStamp(rawValue: .max)) else { break }
                removed.append(entry)
            }
            count += 1
        }
        if count > 0, row.limit.isGiven == 0 { hasEvictedByDefault = true }
        return (removed, count)
    }

    /// Removes the coldest entry of a relative, if there is one.
    private func evictFromRelative() throws(SQLiteError) -> Bool {
        guard let sibling = siblings.first(where: { $0.archive.row.entries > 0 })?.archive else { return false }
        guard let removed = try sibling.removeColdestEntry(before: UseStamp(rawValue: .max)) else { return false }
        sibling.lostToRelative.append(removed)
        CrashPoint.reached(.relativeEvicted)
        return true
    }

    /// Removes the coldest entry if its last use was before `bound`, and returns its key.
    func removeColdest(before bound: UseStamp) throws(SQLiteError) -> EntryKey? {
        try removeColdestEntry(before: bound)?.key
    }

    private func removeColdestEntry(before bound: UseStamp) throws(SQLiteError) -> RemovedEntry? {
        while true {
            let marked = try oldest(.oldestRecency)
            let unsettled = try oldest(.oldestAboveLowWater)
            if let unsettled, unsettled.first <= marked?.first ?? unsettled.first {
                guard unsettled.first < bound else { return nil }
                if unsettled.noted != nil {
                    change { $0.settled = unsettled.row }  // Its use was written before its turn came.
                } else if let use = latestUse(unsettled), use > unsettled.first {
                    try addUse(row: unsettled.row, stamp: use)
                    change { $0.settled = unsettled.row }
                } else {
                    change { $0.settled = unsettled.row }
                    return try remove(unsettled)
                }
            } else if let marked {
                guard marked.first < bound else { return nil }
                if marked.noted != marked.first {
                    try removeMark(marked.first)
                } else if let use = latestUse(marked), use > marked.first {
                    try removeMark(marked.first)
                    try moveUse(row: marked.row, stamp: use)
                } else {
                    try removeMark(marked.first)
                    return try remove(marked)
                }
            } else {
                return nil
            }
        }
    }

    private struct Candidate {
        var row: Int64
        /// The stamp that it is sorted by.
        var first: UseStamp
        /// The stamp in `uses`.
        var noted: UseStamp?
        var key: EntryKey?
        var bytes: Int64
    }

    private func oldest(_ kind: StaticStatement) throws(SQLiteError) -> Candidate? {
        let statement = try statement(kind)
        defer { statement.reset() }
        let isUnsettled = kind == .oldestAboveLowWater
        if isUnsettled { statement.bind(row.settled, at: 1) }
        guard try statement.step() else { return nil }
        return Candidate(
            row: statement.int(isUnsettled ? 0 : 1), first: UseStamp(rawValue: statement.int(isUnsettled ? 1 : 0)),
            noted: statement.optionalInt(2).map(UseStamp.init(rawValue:)),
            key: statement.isNull(3) ? nil : EntryKey(String(decoding: statement.bytes(3), as: UTF8.self)), bytes: statement.int(4))
    }

    private func latestUse(_ candidate: Candidate) -> UseStamp? {
        guard let key = candidate.key else { return nil }
        let told = owner?.latestUse(ofKey: key, row: candidate.row)
        guard let here = usesInTransaction[candidate.row] else { return told }
        return told.map { max($0, here) } ?? here
    }

    private func remove(_ candidate: Candidate) throws(SQLiteError) -> RemovedEntry? {
        guard let key = candidate.key else { return nil }
        try delete(row: candidate.row, bytes: candidate.bytes, key: key)
        return RemovedEntry(key: key, row: candidate.row)
    }
}
