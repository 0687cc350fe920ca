internal import Synchronization
internal import VellumCore

extension DatabaseFile {
    /// Runs `body` with a reader that sees every committed write, and relaxed writes that are not committed yet.
    ///
    /// - Parameter onlyCommitted: Whether to leave out relaxed writes that are not committed, and so not to wait for the writer.
    /// - Returns: What `body` returned; `nil` if the file is closed.
    func read<Result: Sendable>(
        archive number: Int64, _ checksum: Checksum, onlyCommitted: Bool = false, _ body: (ArchiveReader) throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result? {
        if !onlyCommitted, openBatch.exists.load(ordering: .acquiring) {
            return try withWriter { (writer) throws(SQLiteError) -> Result? in
                // The totals of a batch are in memory until it is committed, and a reader reads their row.
                if let archive = writer.archives[number], writer.batch != nil { try archive.writeTotals() }
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
}
