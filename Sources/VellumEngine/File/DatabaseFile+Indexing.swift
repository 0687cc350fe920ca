internal import Synchronization
internal import VellumCore

// Builds an index from the stored entries, and migrates those of older versions of their type, a
// batch at a time, in the background.
//
// Each step reads entries from a snapshot, lets their owner decode them while no lock is held, and
// writes what it made of them in one small transaction together with how far it came. After a crash
// the next process continues there.

extension DatabaseFile {
    func declareIndex(_ shape: IndexShape, of archive: Archive) throws(SQLiteError) {
        var begun = shape
        var shape = shape
        begun.rewrites = true
        // A pass that any program has begun goes on.
        let isBegun =
            shape.rewrites
            ? nil
            : try read(archive) { [begun] (tables) throws(SQLiteError) in
                try tables.extent(of: begun).isUsable
            }
        if isBegun ?? false { shape = begun }
        archive.setShape(shape)
        guard !access.isReading else {
            // An index of another definition is not used, and one of the same that holds other
            // values must not be.
            if try isOutdated(shape, archive) { archive.setShape(nil) }
            return
        }
        let declared = try withWriter(of: archive) { writer throws(SQLiteError) -> Bool in
            var isDeclared = false
            try writer.reading(archive) { tables throws(SQLiteError) in
                let extent = try tables.extent(of: shape)
                isDeclared = shape.isEmpty ? !extent.hasIndex : extent.isWhole
            }
            return isDeclared
        }
        let isDeclared = declared ?? true
        let mustBegin = if isDeclared { try isOutdated(shape, archive) } else { true }
        if isDeclared, mustBegin { Log.outdatedIndex(archive.name) }
        if mustBegin {
            _ = try inTransaction(archive) { edit throws(SQLiteError) in
                try edit.declareIndex(anew: isDeclared)
                CrashPoint.reached(.indexDeclared)
            }
        }
        if !shape.isEmpty { scheduleBuilding() }
    }

    /// Whether the newest entries have other values than the index holds, although its definition
    /// is the same: a computed property has another meaning, or two properties were exchanged.
    private func isOutdated(_ shape: IndexShape, _ archive: Archive) throws(SQLiteError) -> Bool {
        guard !shape.hasNoIndexes, let owner = archive.owner else { return false }
        let newest = try read(archive) { tables throws(SQLiteError) in
            try tables.newestIndexed(8, shape)
        }
        for (entry, indexed) in newest ?? [] {
            switch entry.isIntact ? owner.indexed(entry.entry, of: entry.key) : .undecodable {
            case .values(let values) where values != indexed: return true
            case .undecodable: owner.undecodable.doubt(entry.entry)
            case .values, .noPlace, .migrated, .removed: break
            }
        }
        return false
    }

    /// Lets the builder replace old entries after so many milliseconds, if no opening has asked for
    /// it earlier (decision 83).
    func rewrite(_ archive: Archive, after delay: Int64) {
        guard archive.shape?.rewrites == false, !access.isReading else { return }
        let begin = clock.now().advanced(byMilliseconds: delay)
        archive.upkeep.withLock { $0.rewriting = min($0.rewriting, begin) }
        if needsSweep(for: begin) { scheduleSweep(for: begin) }
    }

    /// Begins that if its time has come. A sweep does it, as it wakes for what expires.
    func beginRewriting(_ archive: Archive, at now: WallInstant) throws(SQLiteError) {
        guard archive.upkeep.withLock({ $0.rewriting }) <= now else { return }
        var shape = archive.shape ?? IndexShape()
        shape.rewrites = true
        try declareIndex(shape, of: archive)
        // A file that is suspended meanwhile does it when it is resumed.
        if location.isAtWork { archive.upkeep.withLock { $0.rewriting = .never } }
    }

    // MARK: Building

    func scheduleBuilding() {
        guard !access.isReading else { return }
        scheduleTrying(.buildIndexes, after: nil) { file throws(SQLiteError) in
            if try file.buildIndexes() {
                file.scheduleBuilding()
            } else {
                try file.analyseIndexes()
            }
        }
    }

    /// Builds one batch of each index that is not whole. Returns whether there is more to do.
    private func buildIndexes() throws(SQLiteError) -> Bool {
        var hasMore = false
        for archive in writing.archives {
            guard let shape = archive.shape else { continue }
            // The values of a version that was replaced are gone; the index of the next archive is
            // built.
            try unlessReplaced { () throws(SQLiteError) in
                if try buildIndex(of: archive, shape) { hasMore = true }
            }
        }
        return hasMore
    }

    private func buildIndex(of archive: Archive, _ shape: IndexShape) throws(SQLiteError) -> Bool {
        guard let owner = archive.owner else { return false }
        guard owner.undecodable.isIndexTrusted else {
            let doubts = owner.undecodable.doubts(most: Self.largestStep(shape))
            let isDone = try inTransaction(archive) { edit throws(SQLiteError) in
                try edit.takeOut(doubts)
                return true
            }
            owner.undecodable.settle(doubts)
            return isDone ?? false
        }
        let batch = try read(archive) { tables throws(SQLiteError) in
            try tables.nextBatch(of: shape)
        }
        guard let batch = batch ?? nil else { return false }
        CrashPoint.reached(.indexBatchRead)

        // No lock is held here, because the owner runs a codec. It may be slow, so the values are
        // inserted from time to time.
        var after = batch.after
        var built: [BuiltEntry] = []
        var weight = 0
        var begun = CoarseClock.milliseconds
        for (index, entry) in batch.entries.enumerated() {
            let outcome = entry.isIntact ? owner.indexed(entry.entry, of: entry.key) : .undecodable
            built.append(
                BuiltEntry(entry, shape.rewrites ? outcome : outcome.asRecorded(under: entry.key))
            )
            weight += built.last?.weight(shape) ?? 0
            let isLast = index == batch.entries.count - 1
            guard
                isLast || weight >= Self.largestStep(shape) || CoarseClock.milliseconds - begun > 50
            else { continue }
            // There may be more entries: the batch may have ended at its limit of bytes.
            try insertBuilt(built, for: shape, after: after, isAtEnd: false, of: archive, owner)
            if after != nil { after = entry.entry.id }
            built = []
            weight = 0
            begun = CoarseClock.milliseconds
        }
        if batch.entries.isEmpty {
            try insertBuilt([], for: shape, after: after, isAtEnd: true, of: archive, owner)
        }
        return true
    }

    /// Lets SQLite count the values of the indexes, once each has enough of them, and again when
    /// there are four times as many or a quarter. Without statistics SQLite chooses between two
    /// indexes by the order of their declaration, and does not look for a later column of an index
    /// alone; with old ones neither (decision 14).
    func analyseIndexes() throws(SQLiteError) {
        let declared = writing.archives.compactMap { archive in
            archive.shape.map { (archive, $0) }
        }.filter { !$1.hasNoIndexes }
        guard !declared.isEmpty else { return }
        try withWriter { writer throws(SQLiteError) in
            guard writer.batch == nil, writer.connection.writeRefusal == nil else { return }
            for (archive, shape) in declared {
                try unlessReplaced { () throws(SQLiteError) in
                    try writer.analyseIndex(of: archive, shape)
                }
            }
        }
    }

    /// How many rows are written in one transaction. Each of an index may be on another page, and
    /// the log is bounded; entries that are migrated are side by side. A commit makes every reader
    /// read its pages again, so they are few.
    fileprivate static func largestStep(_ shape: IndexShape) -> Int {
        shape.hasNoIndexes ? 2048 : 512
    }

    private func insertBuilt(
        _ built: [BuiltEntry],
        for shape: IndexShape,
        after: Int64?,
        isAtEnd: Bool,
        of archive: Archive,
        _ owner: any ArchiveOwner
    ) throws(SQLiteError) {
        typealias Inserted = (progress: IndexProgress?, removedKeys: Int)
        let inserted = try inTransaction(archive) { edit throws(SQLiteError) -> Inserted in
            // Another process may have begun another index.
            guard edit.isIndexOurs, archive.shape == shape else { return (nil, 0) }
            // The archive may have been emptied meanwhile, and its entries not be deleted yet.
            let cleared = edit.state.totals.cleared
            let replaced = try edit.replaceMigrated(built.filter { $0.id > cleared })
            try edit.insertBuilt(replaced.built, after: after, isAtEnd: isAtEnd)
            let unknown = try edit.unknownEntries()
            let progress = edit.index.map { index in
                IndexProgress(
                    built: index.built,
                    through: index.through,
                    unknown: unknown,
                    of: Int(edit.state.totals.entries)
                )
            }
            return (progress, replaced.removedKeys)
        }
        CrashPoint.reached(.indexBatchCommitted)
        guard let inserted, let progress = inserted.progress else { return }
        if !shape.hasNoIndexes { owner.archiveDidReport(.indexed(progress)) }
        guard shape.version > 0, shape.rewrites else { return }
        owner.archiveDidReport(
            .migrated(MigrationProgress(progress, removedKeys: inserted.removedKeys))
        )
    }
}

/// Runs `body`, and ends it if the archive holds another version of its cache.
private func unlessReplaced(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    do throws(SQLiteError) {
        try body()
    } catch {
        if !error.isVersionReplaced { throw error }
    }
}

extension Writer {
    fileprivate func analyseIndex(of archive: Archive, _ shape: IndexShape) throws(SQLiteError) {
        var entries: Int64 = 0
        try reading(archive) { tables throws(SQLiteError) in
            let extent = try tables.extent(of: shape)
            guard extent.isUsable, extent.unbuilt == nil else { return }
            // Those with a row in the tables of the index.
            entries =
                (StoredInteger(Int64(try tables.totals().entries))
                - StoredInteger(extent.unindexedRows)).value
        }
        guard entries >= 1000 else { return }
        let analysed = try IndexTables.rowsAnalysed(archive.id, on: connection)
        guard entries / 4 >= analysed || analysed / 4 >= entries else { return }
        try connection.execute(IndexTables.limitAnalysis)
        _ = try transaction { _ throws(SQLiteError) in
            try connection.execute(
                IndexTables.analyse(archive.id, rows: entries, collections: shape.collections.count)
            )
        }
        CrashPoint.reached(.indexesAnalysed)
    }
}

/// The entries that the builder reads next.
private struct BuildBatch: Sendable {
    /// The entry after which they come; `nil` if they are unindexed ones.
    var after: Int64?
    var entries: [StoredEntry]
}

extension ArchiveTables {
    /// The next entries to index; `nil` if there are none.
    fileprivate func nextBatch(of shape: IndexShape) throws(SQLiteError) -> BuildBatch? {
        let limit = ReadLimit(entries: shape.hasNoIndexes ? 2048 : 256, bytes: 1 << 20)
        let extent = try extent(of: shape)
        guard extent.isUsable else { return nil }
        if var unbuilt = extent.unbuilt {
            return BuildBatch(after: unbuilt.after, entries: try entries(of: &unbuilt, limit))
        }
        guard extent.unindexedRows > 0 else { return nil }
        let ids = try IndexTables.unindexed(.unknown, of: id, limit: limit.entries, on: connection)
        return ids.isEmpty
            ? nil
            : BuildBatch(after: nil, entries: try entries(of: ids[...], limit).entries)
    }
}
