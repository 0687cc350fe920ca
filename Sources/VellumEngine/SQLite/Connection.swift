#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

internal import CSQLiteConfig
internal import VellumCore

/// One connection to one database file: used by one thread at a time, which is whoever holds the lock around it.
final class Connection {
    private let handle: OpaquePointer
    private let frames: UnsafeMutablePointer<Int32>
    /// Why nothing may be asked any more, where that is so.
    var refusal: SQLiteError?
    private let patience = BusyHandler(milliseconds: Connection.longestWait)

    let path: String
    /// The file that is open; `nil` for a database in memory.
    private let identity: FileIdentity?

    /// Opens the file, which must exist, for reading and writing. What is in the file is data: nothing of it is run.
    ///
    /// - Parameter isDefensive: Whether SQL may not write to the schema.
    init(path: String, isDefensive: Bool = true) throws(SQLiteError) {
        try FilePaths.check(path)
        self.path = path
        let identity = FileIdentity(path: path)
        self.identity = identity
        if let identity { OpenDatabases.shared.add(identity) }
        var handle: OpaquePointer?
        // NOMUTEX: a lock of ours stands around every use, so SQLite's own would be paid for twice.
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard let handle, code == SQLITE_OK else {
            let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "No memory for a connection."
            sqlite3_close_v2(handle)  // A failed opening leaves a handle behind, too.
            if let identity { OpenDatabases.shared.remove(identity) }
            throw SQLiteError(code: handle == nil ? SQLITE_NOMEM : code, message: message)
        }
        self.handle = handle
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        patience.attach(to: handle)
        let configured = vellum_sqlite_treat_as_data(UnsafeMutableRawPointer(handle), isDefensive ? 1 : 0)
        guard configured == SQLITE_OK else { throw SQLiteError(code: configured, message: "The connection could not be configured.") }
        for (limit, value) in Self.limits { sqlite3_limit(handle, limit, value) }
        sqlite3_create_function_v2(
            handle, Self.beginsFunction, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil,
            { context, _, arguments in
                let begins = Connection.text(arguments?[0]).starts(with: Connection.text(arguments?[1]))
                sqlite3_result_int(context, begins ? 1 : 0)
            }, nil, nil, nil)
    }

    /// What no statement of ours needs more of (sqlite.org/c3ref/c_limit_attached.html; sqlite.org/security.html, 1).
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0), (SQLITE_LIMIT_COMPOUND_SELECT, 3),
        (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100), (SQLITE_LIMIT_VDBE_OP, 1_000_000),
    ]

    /// A function of ours in SQL: whether a text begins with the characters of another, as Swift counts characters.
    static let beginsFunction = "begins"

    private static func text(_ value: OpaquePointer?) -> String {
        guard let start = sqlite3_value_text(value) else { return "" }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    deinit {
        sqlite3_close_v2(handle)
        if let identity { OpenDatabases.shared.remove(identity) }
        frames.deallocate()
    }

    /// How long to wait for another process, in milliseconds.
    private static let longestWait: Int64 = 10_000

    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        if let refusal { throw refusal }
        return try Statement(sql, on: self, handle)
    }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: String) throws(SQLiteError) {
        if let refusal { throw refusal }
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw lastError(code) }
    }

    /// The first column of the first row.
    func int(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int(0) : nil
    }

    /// How many rows the last statement changed.
    var changes: Int64 { sqlite3_changes64(handle) }

    /// Whether SQLite will not write, for the file's permissions or for what its header says. Known once something was read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    private func lastError(_ code: Int32) -> SQLiteError {
        SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }

    // MARK: The write-ahead log

    /// From now on ``logFrames`` is how many pages the log held after the last commit of this connection. SQLite's own
    /// checkpoints on commit end with this: they would be paid by the caller.
    func watchLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            }, frames)
    }

    var logFrames: Int { Int(frames.pointee) }

    /// Copies as much of the log into the database as can be without waiting for anyone, or anyone waiting
    /// (sqlite.org/c3ref/wal_checkpoint_v2.html).
    ///
    /// - Returns: How many pages the log holds, and how many of them are copied by now: all that no reader is in the way of.
    func checkpoint() throws(SQLiteError) -> (logged: Int, copied: Int) {
        var (logged, copied): (Int32, Int32) = (0, 0)
        let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &logged, &copied)
        // Another process may be at it; what it copies need not be copied.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else { throw lastError(code) }
        return (Int(logged), Int(copied))
    }

    /// Copies the rest of the log, so that the next writer begins it anew. Writers wait; readers are waited for, a moment.
    ///
    /// Tries more than once: SQLite waits for the place in which a reader was when it began to wait, and one that takes a new snapshot
    /// now and then takes the same place again, but is in the way only of the first try; and for another process that copies the log
    /// it does not wait at all.
    ///
    /// - Parameter patience: How long that moment is, in milliseconds.
    /// - Throws: ``SQLiteError``; busy if someone keeps reading what is in the log.
    func restartLog(patience milliseconds: Int64 = 40) throws(SQLiteError) {
        patience.milliseconds = milliseconds
        defer { patience.milliseconds = Self.longestWait }
        let end = CoarseClock.milliseconds + milliseconds
        var code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_RESTART, nil, nil)
        while code == SQLITE_BUSY, CoarseClock.milliseconds < end {
            BusyRetry.milliseconds(0.1)
            code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_RESTART, nil, nil)
        }
        guard code == SQLITE_OK else { throw lastError(code) }
        frames.pointee = 0
    }

    /// Waits until no other process is in the middle of a write, for a while at most.
    ///
    /// - Parameter patience: How long that is, in milliseconds.
    func waitForWriters(patience milliseconds: Int64) throws(SQLiteError) {
        patience.milliseconds = milliseconds
        defer { patience.milliseconds = Self.longestWait }
        do throws(SQLiteError) {
            try execute(SQL.beginWriting)
        } catch {
            guard [.busy, .readOnly].contains(VellumError(error).code) else { throw error }
            return
        }
        try execute(SQL.rollback)
    }

    /// Syncs the log file: what was committed before is safe from power loss after.
    ///
    /// Needs a read transaction to have been opened once, so that the connection has the log open.
    func syncLog() throws(SQLiteError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard let file, let methods = file.pointee.pMethods else { return }
        #if canImport(Darwin)
            let flags = SQLITE_SYNC_FULL  // F_FULLFSYNC
        #else
            let flags = SQLITE_SYNC_NORMAL
        #endif
        let code = methods.pointee.xSync(file, flags)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, message: "The log could not be synced.") }
    }

    /// From now on the log stays where it is when the connection is closed: at its path may lie that of another database.
    func keepLog() {
        var keeps: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    }

    /// The failure that the device answers with when the file and its log are read from end to end, if it does.
    ///
    /// SQLite tells a read that failed as damage (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), and a device that fails must not be
    /// taken for a file that is damaged.
    func readFailure() -> SQLiteError? {
        do throws(SQLiteError) {
            _ = try int(SQL.tableCount)  // A connection has the log open once it has read.
        } catch {
            guard error.isDamage else { return error }
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        for pointer in [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER] {
            var file: UnsafeMutablePointer<sqlite3_file>?
            sqlite3_file_control(handle, "main", pointer, &file)
            guard let file, let methods = file.pointee.pMethods else { continue }
            var size: sqlite3_int64 = 0
            var code = methods.pointee.xFileSize(file, &size)
            for offset in stride(from: 0, to: size, by: bytes.count) where code == SQLITE_OK {
                code = methods.pointee.xRead(file, &bytes, Int32(min(Int64(bytes.count), size - offset)), offset)
            }
            let error = SQLiteError(code: code, message: "The device failed to read the file.")
            if code != SQLITE_OK, !error.isDamage { return error }
        }
        return nil
    }

    /// The slots of the wal-index through which readers hold back what is copied of the log: those of the oldest snapshot
    /// (sqlite.org/walformat.html, 2.2.2).
    var slotsOfOldestReaders: [Int] {
        guard let header = logIndexHeader() else { return [] }
        let copied = header.load(fromByteOffset: 96, as: UInt32.self)
        return (1..<5).filter { header.load(fromByteOffset: 100 + 4 * $0, as: UInt32.self) == copied }
    }

    /// A number that changes with every commit, of this connection and of others. Fresh once a transaction is open.
    func dataVersion() -> UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// The header of the wal-index, which every commit of every process changes (sqlite.org/walformat.html, 2.1).
    ///
    /// Reached through the VFS: opening and closing the `-shm` file by itself would drop SQLite's locks, which belong
    /// to the process (sqlite.org/howtocorrupt.html, 2.2). Valid while the connection is open; `nil` before its first
    /// read transaction.
    func logIndexHeader() -> UnsafeRawPointer? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2 else { return nil }
        var region: UnsafeMutableRawPointer?
        guard methods.pointee.xShmMap(file, 0, 32 * 1024, 0, &region) == SQLITE_OK else { return nil }
        return UnsafeRawPointer(region)
    }
}
