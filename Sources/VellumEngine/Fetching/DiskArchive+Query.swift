internal import Synchronization
package import VellumCore

extension DiskArchive {
    func declareIndex(_ shape: IndexShape) throws(VellumError) {
        try archive.checkOpen()
        try file.withUsableFile { () throws(SQLiteError) in
            try file.declareIndex(shape, of: archive)
        }
    }

    package func indexProgress() throws(VellumError) -> IndexProgress {
        try query(QueryReads()) { tables throws(SQLiteError) in
            let extent = try tables.extent(of: archive.shape)
            let total = try tables.totals().entries
            // Another program may have dropped the index since it was declared here.
            guard extent.isUsable else {
                return IndexProgress(indexed: 0, total: total, isComplete: false)
            }
            let unknown =
                extent.unindexedRows > 0
                ? try IndexTables.unindexedCount(.unknown, of: tables.id, on: tables.connection) : 0
            return IndexProgress(
                built: extent.built,
                through: extent.through,
                unknown: unknown,
                of: total
            )
        }
    }

    func answer(
        _ request: IndexRequest,
        validAt now: WallInstant?,
        reading limit: ReadLimit,
        _ reads: QueryReads
    ) throws(VellumError) -> QueryAnswer? {
        let answer = try query(reads) { tables throws(SQLiteError) in
            try tables.answer(request, archive.shape, validAt: now, limit)
        }
        // A process that does not have this index declared writes entries without their places in
        // it.
        if let answer, answer.unindexed.count > answer.undecodable.count { file.scheduleBuilding() }
        return answer
    }

    /// - Parameter other: What to read in the place of the count. In one function, because the
    ///   compiler copies the code that reads a snapshot for each caller.
    func count(
        _ query: ColumnQuery,
        validAt now: WallInstant?,
        _ reads: QueryReads,
        or other: ((ArchiveTables) throws(SQLiteError) -> Int?)? = nil
    ) throws(VellumError) -> Int? {
        try self.query(reads) { tables throws(SQLiteError) in
            guard let other else { return try tables.count(query, archive.shape, validAt: now) }
            return try other(tables)
        }
    }

    func aggregate(
        _ aggregate: ColumnAggregate,
        of query: ColumnQuery,
        validAt now: WallInstant?,
        _ reads: QueryReads
    ) throws(VellumError) -> AggregateAnswer? {
        var answer: AggregateAnswer?
        _ = try count(query, validAt: now, reads) { tables throws(SQLiteError) in
            answer = try tables.aggregate(aggregate, of: query, archive.shape, validAt: now)
            return nil
        }
        return answer
    }

    func entries(
        of entryIDs: ArraySlice<Int64>,
        _ limit: ReadLimit,
        _ reads: QueryReads
    ) throws(VellumError) -> (entries: [StoredEntry], looked: Int) {
        try query(reads) {
            tables throws(SQLiteError) in try tables.entries(of: entryIDs, limit)
        }
    }

    /// The next entries of a scan.
    func entries(
        of scan: inout EntryScan,
        _ limit: ReadLimit,
        _ reads: QueryReads
    ) throws(VellumError) -> [StoredEntry] {
        try query(reads) {
            tables throws(SQLiteError) in try tables.entries(of: &scan, limit)
        }
    }

    /// Indexes entries that could not be decoded before and can be now.
    func indexAgain(_ entryIDs: [Int64]) throws(VellumError) {
        try archive.checkOpen()
        try file.withUsableFile { () throws(SQLiteError) in
            guard !file.access.isReading else { return }
            _ = try file.inTransaction(archive) { edit throws(SQLiteError) in
                try edit.markUnknown(entryIDs)
            }
            file.scheduleBuilding()
        }
    }

    func describe(
        _ query: ColumnQuery,
        _ purpose: QueryPrinter.Purpose
    ) throws(VellumError) -> (statement: String, access: [String], usesIndex: Bool)? {
        let now = file.clock.now()
        return try self.query(QueryReads()) { tables throws(SQLiteError) in
            try tables.describe(query, purpose, archive.shape, validAt: now)
        }
    }

    /// Commits relaxed writes that wait in an open transaction, and writes what decides whether an
    /// entry is valid.
    func writeForQueries() throws(VellumError) {
        try file.withUsableFile { () throws(SQLiteError) in
            if hasOpenBatch { try file.commitBatch() }
            // Whether an entry is valid may depend on uses that only memory knows of yet.
            if archive.hasSlidingUses.load(ordering: .relaxed) {
                try file.writeTouchesBeforeQuery(of: archive)
            }
        }
    }

    /// Reads for a query, on a connection that reads: a query may take long, and must not hold the
    /// one that writes.
    private func query<Result: Sendable>(
        _ reads: QueryReads,
        _ body: (ArchiveTables) throws(SQLiteError) -> Result
    ) throws(VellumError) -> Result {
        try writeForQueries()
        reads.snapshots += 1
        return try file.reading(
            archive,
            onlyCommitted: true,
            interruptedWhen: reads.isCancelled,
            body
        )
    }
}
