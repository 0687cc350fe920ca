internal import Synchronization
package import VellumCore

extension DiskArchive {
    package func declareIndex(_ shape: IndexShape) throws(VellumError) {
        try checkOpen()
        try file.withUsableFile { () throws(SQLiteError) in
            try file.declareIndex(shape, of: self)
        }
    }

    package func indexProgress() throws(VellumError) -> IndexProgress {
        try query { (archive) throws(SQLiteError) in
            let extent = try archive.extent(of: self.indexShape)
            let isComplete = extent.isUsable && extent.through == .max
            let total = Int(extent.entries)
            return IndexProgress(indexed: isComplete ? total : min(total, Int(extent.built)), total: total, isComplete: isComplete)
        }
    }

    package func answer(
        validAt now: WallInstant, reading limit: ReadLimit, _ planning: (IndexCoverage) -> ColumnQuery?
    ) throws(VellumError) -> QueryAnswer? {
        let answer = try query { (archive) throws(SQLiteError) in try archive.answer(self.indexShape, validAt: now, limit, planning) }
        // Another program may have written what it could not index.
        if let answer, answer.uncovered.count > answer.undecodable.count { file.scheduleBuilding() }
        return answer
    }

    package func count(validAt now: WallInstant, _ planning: (IndexCoverage) -> ColumnQuery?) throws(VellumError) -> Int? {
        try query { (archive) throws(SQLiteError) in try archive.count(self.indexShape, validAt: now, planning) }
    }

    package func entries(of rows: ArraySlice<Int64>, _ limit: ReadLimit) throws(VellumError) -> (entries: [StoredEntry], looked: Int) {
        try query { (archive) throws(SQLiteError) in try archive.entries(of: rows, limit) }
    }

    package func entries(after row: Int64, through last: Int64, _ limit: ReadLimit) throws(VellumError) -> [StoredEntry] {
        try query { (archive) throws(SQLiteError) in try archive.entries(after: row, through: last, limit) }
    }

    package func lastRow() throws(VellumError) -> Int64 {
        try query { (archive) throws(SQLiteError) in try archive.extent(of: nil).lastRow }
    }

    package func indexAgain(_ rows: [Int64]) throws(VellumError) {
        try checkOpen()
        try file.withUsableFile { () throws(SQLiteError) in try file.indexAgain(rows, of: number) }
    }

    package func describe(_ query: ColumnQuery) throws(VellumError) -> (statement: String, access: [String])? {
        let now = file.clock.now()
        return try self.query { (archive) throws(SQLiteError) in try archive.describe(query, self.indexShape, validAt: now) }
    }

    /// Reads for a query. Relaxed writes that wait in an open transaction are committed first, so that a query, which may take
    /// long, need not hold the connection that writes.
    private func query<Result: Sendable>(_ body: (ArchiveReader) throws(SQLiteError) -> Result) throws(VellumError) -> Result {
        try file.withUsableFile { () throws(SQLiteError) in
            if file.openBatch.exists.load(ordering: .acquiring) { try file.commitBatch() }
            // What is valid may hang on uses that only the owner knows of yet.
            if hasSlidingUses.load(ordering: .relaxed) { try file.writeTouchesBeforeQuery(of: number) }
        }
        return try read(body)
    }
}
