internal import Synchronization
internal import Tiers

// Building an index from the stored entries, a few at a time, behind the callers' backs.
//
// Each step reads entries from a snapshot, lets their owner decode them while nothing is locked, and takes in what it found
// out in one small transaction, together with how far it came: a killed process goes on where it was.

extension SQLiteFile {
    func declareIndex(_ shape: IndexShape, of tier: SQLiteTier) throws(SQLiteError) {
        tier.setIndexShape(shape)
        let isSettled = try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> Bool in
            guard let writer, let archive = writer.archive(tier.number) else { return true }
            archive.index.shape = shape
            let coverage = try ArchiveReader(id: tier.number, checksum: archive.checksum, connection: writer.connection).coverage()
            guard !shape.isEmpty else { return coverage.definition == nil }
            return coverage.index(of: shape, strays: Int(coverage.strays)).isWhole
        }
        if isSettled, try !disagrees(shape, tier) { return }
        try beginIndex(of: tier, anew: isSettled)
        scheduleBuilding()
    }

    /// Whether the newest rows say that the index does not hold what it should, although its definition is the same: the
    /// meaning of a computed property changed, or two of them changed places.
    private func disagrees(_ shape: IndexShape, _ tier: SQLiteTier) throws(SQLiteError) -> Bool {
        guard !shape.isEmpty, let owner = tier.currentOwner else { return false }
        let newest = try read(archive: tier.number, tier.checksum) { (archive) throws(SQLiteError) in try archive.newestIndexed(8, shape) }
        return (newest ?? []).contains { entry, held in
            guard entry.isSound, case .values(let values) = owner.indexed(entry.entry, of: entry.key) else { return false }
            return values != held
        }
    }

    private func beginIndex(of tier: SQLiteTier, anew: Bool) throws(SQLiteError) {
        let state = try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> WriteState? in
            guard let writer, let archive = writer.archive(tier.number) else { return nil }
            try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                try archive.index.declare(isEmpty: archive.row.entries == 0, anew: anew)
            }
            hasOpenBatch.store(false, ordering: .releasing)
            return WriteState(writer)
        }
        if let state { lookAfter(state) }
    }

    // MARK: Building

    func scheduleBuilding() {
        schedule(.buildIndexes) { (file) throws(SQLiteError) in
            if try file.buildIndexes() { file.scheduleBuilding() }
        }
    }

    /// Builds a little of each index that is not whole. Returns whether there is more to do.
    private func buildIndexes() throws(SQLiteError) -> Bool {
        let archives = writer.withLock { writer in
            writer?.allArchives.compactMap { archive in archive.index.shape.map { (archive.id, archive.checksum, $0) } } ?? []
        }
        var hasMore = false
        for (number, checksum, shape) in archives where try buildIndex(number, checksum, shape) { hasMore = true }
        return hasMore
    }

    private func buildIndex(_ number: Int64, _ checksum: Checksum, _ shape: IndexShape) throws(SQLiteError) -> Bool {
        guard let owner = writer.withLock({ $0?.archive(number)?.owner }) else { return false }
        try commitBatch()
        let limit = ReadLimit(entries: 256, bytes: 1 << 20)
        let work = try read(archive: number, checksum) { (archive) throws(SQLiteError) -> BuildingWork? in
            let coverage = try archive.coverage()
            guard coverage.index(of: shape, strays: 0).isUsable else { return nil }
            if coverage.through < .max {
                return BuildingWork(after: coverage.through, entries: try archive.entries(after: coverage.through, limit))
            }
            guard coverage.strays > 0 else { return nil }
            let rows = try archive.unknownStrays()
            return rows.isEmpty ? nil : BuildingWork(after: nil, entries: try archive.entries(of: rows[...], limit).entries)
        }
        guard let work = work ?? nil else { return false }

        // No lock is held here: the owner runs a codec.
        let found = work.entries.map { entry in
            (
                row: entry.entry.row, revision: entry.revision,
                outcome: entry.isSound ? owner.indexed(entry.entry, of: entry.key) : .undecodable
            )
        }
        let (state, progress) = try writer.withLock { (writer: inout Writer?) throws(SQLiteError) -> (WriteState?, IndexProgress?) in
            guard let writer, let archive = writer.archive(number) else { return (nil, nil) }
            try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                try archive.index.take(found, after: work.after, isAtEnd: work.entries.isEmpty || found.count < limit.entries)
            }
            hasOpenBatch.store(false, ordering: .releasing)
            let progress = archive.index.row.map { row in
                IndexProgress(
                    indexed: Int(row.through == .max ? archive.row.entries : min(row.built, archive.row.entries)),
                    total: Int(archive.row.entries), isComplete: row.through == .max)
            }
            return (WriteState(writer), progress)
        }
        if let state { lookAfter(state) }
        if let progress { owner.tierDidReport(.indexed(progress)) }
        return true
    }
}

/// What the builder looks at next.
private struct BuildingWork: Sendable {
    /// The row after which the entries come; nothing where they are strays.
    var after: Int64?
    var entries: [StoredEntry]
}
