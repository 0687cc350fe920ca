internal import Synchronization
internal import VellumCore

extension DatabaseFile {
    /// Runs `body` with a reader that sees every committed write, and relaxed writes that are not committed yet.
    ///
    /// - Returns: What `body` returned; `nil` if the file is closed.
    func read<Result: Sendable>(
        archive number: Int64, _ checksum: Checksum, _ body: (ArchiveReader) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        if openBatch.exists.load(ordering: .acquiring) {
            return try withWriter { (writer) throws(SQLiteError) -> Result? in
                if let archive = writer.archive(number), writer.batch != nil { try archive.writeTotals() }
                do throws(SQLiteError) {
                    return try body(ArchiveReader(id: number, checksum: checksum, connection: writer.connection))
                } catch {
                    writer.noticeLostBatch()
                    throw error
                }
            }
        }
        let answer = try readers.read { (reader) throws(SQLiteError) in
            try body(reader.archive(number, checksum))
        }
        guard let (result, beganLease) = answer else { return nil }
        if beganLease { schedule(.endLeases) { (file) throws(SQLiteError) in file.endIdleLeases(since: []) } }
        return result
    }

    /// Makes everything acknowledged before the call survive power loss, including the eviction order.
    func flush() throws(VellumError) {
        try withUsableFile { () throws(SQLiteError) in
            try commitBatch()
            try writeAllTouches()
            let commits = withWriter { writer in
                writer.countForeignCommits()
                return writer.commits
            }
            guard let commits else { return }
            try syncLog(through: commits)
        }
    }
}
