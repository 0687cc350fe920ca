#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

extension Connection {
    /// Copies the database of this connection into that of another, page by page
    /// (sqlite.org/backup.html).
    ///
    /// Call it in a read transaction: all pages are of its snapshot then, and no writer makes
    /// SQLite begin again.
    ///
    /// - Parameters:
    ///   - target: A connection to an empty database.
    ///   - pages: How many pages a portion has.
    ///   - progress: Called after each portion, with the pages that are copied and all pages. Ends
    ///     the copying if it throws.
    package func copyDatabase(
        to target: Connection,
        pagesAtOnce pages: Int32,
        _ progress: (_ copied: Int, _ total: Int) throws -> Void
    ) throws {
        // Where it cannot reserve room SQLite would write a byte into each block of it first, which
        // takes as long as the copying.
        var chunk: Int32 = 0
        sqlite3_file_control(target.handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_extended_errcode(target.handle), of: target.handle)
        }
        do {
            var code = SQLITE_OK
            while code == SQLITE_OK {
                code = sqlite3_backup_step(backup, pages)
                guard code == SQLITE_OK || code == SQLITE_DONE else {
                    throw SQLiteError(code: code, message: String(cString: sqlite3_errstr(code)))
                }
                let total = Int(sqlite3_backup_pagecount(backup))
                try progress(total - Int(sqlite3_backup_remaining(backup)), total)
            }
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let code = sqlite3_backup_finish(backup)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: target.handle) }
    }
}
