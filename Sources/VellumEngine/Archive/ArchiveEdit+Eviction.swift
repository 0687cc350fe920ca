internal import VellumCore

// The eviction order on disk: least recently used first.
//
// The last use of an entry is the greatest of three stamps: that of its insertion (in its own row),
// its touch (in `touches`), and one that only its owner knows yet. Entries are numbered in the
// order of their insertion. Up to the low-water mark each entry has a touch; above it they are in
// the order of their first stamps. The recency log (`recency`) lists touches in their order; a
// record that is not the last use of its entry is obsolete. The least recently used entry is
// therefore either the first of the log or the first above the low-water mark. If it was used
// since, it moves to its new position: each step costs O(log n), and an entry moves at most once
// for each use that is not in the file.

extension ArchiveEdit {
    /// Whether space is scarce: see ``Writer/Lasting/retriesOnFullDisk``.
    var isOnFullDisk: Bool { writer.isOnFullDisk }

    /// Whether the archive holds more than it may, with what the transaction has done so far.
    var isOverLimit: Bool { isOverLimit(adding: nil) }

    func isOverLimit(adding entry: Entry?) -> Bool {
        let usage = usage
        return capacity.isExceeded(
            byBytes: usage.bytes + (entry?.size ?? 0),
            entries: usage.entries + (entry == nil ? 0 : 1)
        )
    }

    /// Removes the least recently used entries until the archive is within its limit.
    ///
    /// - Parameter entry: An entry to make room for.
    /// - Returns: The entries that were removed.
    func evict(
        atMost limit: Int = .max,
        for entry: Entry? = nil
    ) throws(SQLiteError) -> [RemovedEntry] {
        var removed: [RemovedEntry] = []
        let bytes = state.bytesRemoved
        while removed.count < limit, isOverLimit(adding: entry),
            let oldest = try removeOldest(before: UseStamp(rawValue: .max))
        {
            removed.append(oldest)
        }
        state.bytesEvicted += state.bytesRemoved - bytes
        if !removed.isEmpty, state.totals.limit.isGiven == 0 { state.hasEvictedByDefault = true }
        return removed
    }

    /// Removes the least recently used entry if its last use was before `bound`, and returns its
    /// key.
    func removeOldest(before bound: UseStamp) throws(SQLiteError) -> RemovedEntry? {
        state.hasUnknownGrowth = true
        while true {
            let logged = try oldest(.oldestRecency)
            let untouched = try oldest(.oldestAboveLowWater)
            if let untouched, untouched.stamp <= logged?.stamp ?? untouched.stamp {
                guard untouched.stamp < bound else { return nil }
                if untouched.touched != nil {
                    // A use of it was written before the low-water mark reached it.
                    state.totals.lowWater = untouched.id
                } else if let use = lastUse(untouched), use > untouched.stamp {
                    try addTouch(untouched.id, at: use)
                    state.totals.lowWater = untouched.id
                } else {
                    state.totals.lowWater = untouched.id
                    return try remove(untouched)
                }
            } else if let logged {
                guard logged.stamp < bound else { return nil }
                if logged.touched != logged.stamp || logged.id <= state.totals.cleared {
                    try removeRecency(logged.stamp)
                } else if let use = lastUse(logged), use > logged.stamp {
                    try removeRecency(logged.stamp)
                    try moveTouch(logged.id, to: use)
                } else {
                    try removeRecency(logged.stamp)
                    return try remove(logged)
                }
            } else {
                return nil
            }
        }
    }

    private func oldest(_ kind: ArchiveStatement) throws(SQLiteError) -> EvictionCandidate? {
        let statement = try statement(kind)
        defer { statement.reset() }
        statement.bind(kind == .oldestAboveLowWater ? state.totals.lowWater : id, at: 1)
        return try statement.step() ? try EvictionCandidate(statement) : nil
    }

    private func lastUse(_ candidate: EvictionCandidate) -> UseStamp? {
        guard let key = candidate.key else { return nil }
        let known = isOnFullDisk ? nil : archive.owner?.lastUse(ofKey: key, entryID: candidate.id)
        guard let here = state.uses[candidate.id] else { return known }
        return known.map { max($0, here) } ?? here
    }

    private func remove(_ candidate: EvictionCandidate) throws(SQLiteError) -> RemovedEntry? {
        guard let key = candidate.key else { return nil }
        let hadGroups = try delete(candidate.id, size: candidate.size, key: key, .evicted)
        return RemovedEntry(key: key, id: candidate.id, hadGroups: hadGroups)
    }
}
