internal import Synchronization
internal import VellumCore

// Building an index from the stored entries, a few at a time, behind the callers' backs.
//
// Each step reads entries from a snapshot, lets their owner decode them while nothing is locked, and takes in what it found
// out in one small transaction, together with how far it came: a killed process goes on where it was.

extension DatabaseFile {
    func declareIndex(_ shape: IndexShape, of diskArchive: DiskArchive) throws(SQLiteError) {
        diskArchive.setIndexShape(shape)
        let settled = try withWriter(of: diskArchive.number) { (writer, archive) throws(SQLiteError) -> Bool in
            archive.index.shape = shape
            let coverage = try ArchiveReader(id: diskArchive.number, checksum: archive.checksum, connection: writer.connection).coverage(
                of: shape)
            return shape.isEmpty ? !coverage.hasIndex : coverage.index.isWhole
        }
        let isSettled = settled ?? true
        let mustBegin = if isSettled { try disagrees(shape, diskArchive) } else { true }
        if mustBegin { try beginIndex(of: diskArchive, anew: isSettled) }
        if !shape.isEmpty { scheduleBuilding() }
    }

    /// Whether the newest rows say that the index does not hold what it should, although its definition is the same: the
    /// meaning of a computed property changed, or two of them changed places.
    private func disagrees(_ shape: IndexShape, _ diskArchive: DiskArchive) throws(SQLiteError) -> Bool {
        guard !shape.isEmpty, let owner = diskArchive.currentOwner else { return false }
        let newest = try read(archive: diskArchive.number, diskArchive.checksum) { (archive) throws(SQLiteError) in
            try archive.newestIndexed(8, shape)
        }
        return (newest ?? []).contains { entry, held in
            guard entry.isIntact, case .values(let values) = owner.indexed(entry.entry, of: entry.key) else { return false }
            return values != held
        }
    }

    private func beginIndex(of diskArchive: DiskArchive, anew: Bool) throws(SQLiteError) {
        let state = try withWriter(of: diskArchive.number) { (writer, archive) throws(SQLiteError) -> WriteState in
            try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                try archive.index.declare(last: archive.row.next - 1, isEmpty: archive.row.entries == 0, anew: anew)
                CrashPoint.reached(.indexDeclared)
            }
            return WriteState(writer)
        }
        if let state { scheduleMaintenance(state) }
    }

    /// Rows that could not be decoded can be now.
    func indexAgain(_ rows: [Int64], of number: Int64) throws(SQLiteError) {
        try withWriter(of: number) { (writer, archive) throws(SQLiteError) in
            try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                try archive.index.lookAgain(at: rows)
            }
        }
        scheduleBuilding()
    }

    // MARK: Building

    func scheduleBuilding() {
        schedule(.buildIndexes) { (file) throws(SQLiteError) in
            if try file.buildIndexes() { file.scheduleBuilding() } else { try file.analyseIndexes() }
        }
    }

    /// Builds a little of each index that is not whole. Returns whether there is more to do.
    private func buildIndexes() throws(SQLiteError) -> Bool {
        let archives = withWriter { writer in
            writer.allArchives.compactMap { archive in archive.index.shape.map { (archive.id, archive.checksum, $0) } }
        }
        var hasMore = false
        for (number, checksum, shape) in archives ?? [] where try buildIndex(number, checksum, shape) { hasMore = true }
        return hasMore
    }

    private func buildIndex(_ number: Int64, _ checksum: Checksum, _ shape: IndexShape) throws(SQLiteError) -> Bool {
        guard let owner = withWriter(of: number, { $1.owner }) else { return false }
        let limit = ReadLimit(entries: 256, bytes: 1 << 20)
        let work = try read(archive: number, checksum) { (archive) throws(SQLiteError) -> BuildingWork? in
            let coverage = try archive.coverage(of: shape)
            guard coverage.isUsable else { return nil }
            if let unbuilt = coverage.unbuilt {
                return BuildingWork(
                    after: unbuilt.after, entries: try archive.entries(after: unbuilt.after, through: unbuilt.through, limit))
            }
            guard coverage.unindexedRows > 0 else { return nil }
            let rows = try archive.unknownStrays(limit: limit.entries)
            return rows.isEmpty ? nil : BuildingWork(after: nil, entries: try archive.entries(of: rows[...], limit).entries)
        }
        guard let work = work ?? nil else { return false }
        CrashPoint.reached(.indexBatchRead)

        // No lock is held here: the owner runs a codec. It may be slow, so that what is found is taken in now and then.
        var after = work.after
        var found: [BuiltRow] = []
        let clock = ContinuousClock()
        var begun = clock.now
        for (index, entry) in work.entries.enumerated() {
            let outcome = entry.isIntact ? owner.indexed(entry.entry, of: entry.key) : .undecodable
            found.append(BuiltRow(row: entry.entry.row, revision: entry.revision, outcome: outcome))
            let isLast = index == work.entries.count - 1
            guard isLast || found.reduce(0, { $0 + $1.weight(shape) }) >= Self.largestStep || clock.now - begun > .milliseconds(50) else {
                continue
            }
            // A bite that was ended by its bytes may not be the last.
            try take(found, for: shape, after: after, isAtEnd: false, of: number, owner)
            if after != nil { after = entry.entry.row }
            found = []
            begun = clock.now
        }
        if work.entries.isEmpty { try take([], for: shape, after: after, isAtEnd: true, of: number, owner) }
        return true
    }

    /// Tells SQLite how selective the indexes are, once each has something to tell of: it chooses between two by their order of
    /// declaration otherwise.
    private func analyseIndexes() throws(SQLiteError) {
        try withWriter { (writer) throws(SQLiteError) in
            guard writer.batch == nil else { return }
            let connection = writer.connection
            for archive in writer.allArchives {
                guard let shape = archive.index.shape, !shape.isEmpty else { continue }
                let coverage = try ArchiveReader(id: archive.id, checksum: archive.checksum, connection: connection).coverage(of: shape)
                guard coverage.isUsable, coverage.entries >= 1000 else { continue }
                if try connection.int(SQL.hasStatistics) ?? 0 > 0, try connection.int(SQL.isAnalysed(archive.id)) ?? 0 > 0 { continue }
                try connection.execute(SQL.analyse(archive.id, collections: shape.collections.count))
                CrashPoint.reached(.indexesAnalysed)
            }
        }
    }

    /// How many rows of an index are written in one transaction: each may be on a page of its own, and the log is bounded.
    private static var largestStep: Int { 512 }

    private func take(
        _ found: [BuiltRow], for shape: IndexShape, after: Int64?, isAtEnd: Bool, of number: Int64, _ owner: any DiskArchiveDelegate
    ) throws(SQLiteError) {
        let taken = try withWriter(of: number) { (writer, archive) throws(SQLiteError) -> (WriteState, IndexProgress?)? in
            // The archive may have been closed meanwhile, and opened with another index, which has another place for what was found.
            guard archive.index.shape == shape else { return nil }
            try writer.transaction { () throws(SQLiteError) in
                try archive.load()
                try archive.index.take(found, after: after, isAtEnd: isAtEnd)
            }
            let progress = archive.index.row.map { row in
                IndexProgress(
                    indexed: Int(row.through == .max ? archive.row.entries : min(row.built, archive.row.entries)),
                    total: Int(archive.row.entries), isComplete: row.through == .max)
            }
            return (WriteState(writer), progress)
        }
        if let state = taken?.0 { scheduleMaintenance(state) }
        CrashPoint.reached(.indexBatchCommitted)
        if let progress = taken?.1 { owner.archiveDidReport(.indexed(progress)) }
    }
}

/// What the builder found out about a row.
struct BuiltRow: Sendable {
    var row: Int64
    /// What the entry was when it was read.
    var revision: UInt32
    var outcome: IndexedOutcome

    /// How many rows it is written to.
    fileprivate func weight(_ shape: IndexShape) -> Int {
        guard case .values(let values) = outcome else { return 1 }
        return 1 + shape.indexes.count + values.elements.reduce(0) { $0 + $1.count }
    }
}

/// What the builder looks at next.
private struct BuildingWork: Sendable {
    /// The row after which the entries come; nothing where they are strays.
    var after: Int64?
    var entries: [StoredEntry]
}
