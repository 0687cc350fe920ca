#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

internal import CSQLiteConfig
internal import Foundation
internal import VellumCore

/// A connection to a database file. Used by one thread at a time: the one that holds the lock
/// around it (decision 1).
package final class Connection {
    let handle: OpaquePointer
    /// What the connection may do.
    let access: FileAccess
    /// Whether the database has a log. Only one that is read may have none.
    package private(set) var hasLog = true
    private let frames: UnsafeMutablePointer<Int32>
    /// Room for a key and a value of the statement that runs.
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 8192, alignment: 16)
    /// The error that every transaction that writes throws, if the file may only be read.
    var writeRefusal: SQLiteError?
    let busyHandler = BusyHandler(milliseconds: Connection.longestWait)

    /// Whether to interrupt the running statement.
    private var isCancelled: (() -> Bool)?
    private let forkGuard = ForkGuard()

    let path: String
    /// The identity of the open file; `nil` for a database in memory.
    private let identity: FileIdentity?
    private var knownFile: Int32?
    /// Whether the VFS knows how full the disk is (``RoomControl``): in tests.
    private var hasRoomControl = false
    /// Freed by SQLite when the connection is closed.
    private var sum: UnsafeMutablePointer<ColumnSum>?

    /// Opens an existing file for reading and writing. The connection never executes code from the
    /// file (triggers, views, functions).
    ///
    /// - Parameters:
    ///   - access: Whether the connection may write.
    ///   - isDefensive: Whether SQL may not write to the schema.
    /// - Throws: ``SQLiteError``, also if an unsafe file lies at the path.
    package init(
        path: String,
        access: FileAccess = .writing,
        isDefensive: Bool = true
    ) throws(SQLiteError) {
        StandardStreams.hold()
        try FilePaths.check(path)
        self.path = path
        self.access = access
        let identity = FileIdentity(path: path)
        self.identity = identity
        if let identity { OpenDatabases.shared.add(identity, at: path) }
        var handle: OpaquePointer?
        // NOMUTEX: our own lock guards every use, so SQLite's mutex would only add cost.
        var flags =
            (access.isReading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX
            | SQLITE_OPEN_EXRESCODE
        let isImmutable = access.isImmutable(path)
        if isImmutable { flags |= SQLITE_OPEN_URI }
        let code = sqlite3_open_v2(
            isImmutable ? Self.immutableName(of: path) : path,
            &handle,
            flags,
            nil
        )
        guard let handle, code == SQLITE_OK else {
            let error =
                handle.map { SQLiteError(code, of: $0) }
                ?? SQLiteError(code: SQLITE_NOMEM, message: "No memory for a connection.")
            sqlite3_close_v2(handle)  // A failed open returns a handle, too.
            if let identity { OpenDatabases.shared.remove(identity) }
            throw error
        }
        self.handle = handle
        frames = .allocate(capacity: 1)
        frames.initialize(to: 0)
        busyHandler.attach(to: handle)
        let configured = vellum_sqlite_treat_as_data(
            UnsafeMutableRawPointer(handle),
            isDefensive ? 1 : 0
        )
        guard configured == SQLITE_OK else {
            throw SQLiteError(code: configured, message: "The connection could not be configured.")
        }
        for (limit, value) in Self.limits { sqlite3_limit(handle, limit, value) }
        var chunk = Int32(Self.chunk)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk)
        hasRoomControl = askForRoom() != SQLITE_NOTFOUND
        sqlite3_create_function_v2(
            handle,
            Self.beginsFunction,
            2,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            nil,
            { context, _, arguments in
                let begins = Connection.text(arguments?[0]).starts(
                    with: Connection.text(arguments?[1])
                )
                sqlite3_result_int(context, begins ? 1 : 0)
            },
            nil,
            nil,
            nil
        )
        sqlite3_create_function_v2(
            handle,
            Self.itemFunction,
            2,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            nil,
            { context, _, arguments in
                ItemList.returnItem(context, arguments?[0], arguments?[1])
            },
            nil,
            nil,
            nil
        )
    }

    /// The name by which SQLite opens a database that cannot change (sqlite.org/uri.html).
    private static func immutableName(of path: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-_.~".utf8)
        let digits = Array("0123456789ABCDEF".utf8)
        var name = Array("file:".utf8)
        for byte in path.utf8 {
            name +=
                plain.contains(byte)
                ? [byte]
                : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: name, as: UTF8.self) + "?immutable=1"
    }

    /// Finds out whether the database has a log, before anything asks for the header of the
    /// wal-index: SQLite would make one.
    func findLog() throws(SQLiteError) {
        let mode = try prepare(SQL.journalMode)
        hasLog = try mode.step() && mode.text(0) == "wal"
    }

    /// Lower limits than SQLite's, sufficient for our statements
    /// (sqlite.org/c3ref/c_limit_attached.html; sqlite.org/security.html, 1).
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (SQLITE_LIMIT_WORKER_THREADS, 0), (SQLITE_LIMIT_COMPOUND_SELECT, 200),
        (SQLITE_LIMIT_FUNCTION_ARG, 8), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
        (SQLITE_LIMIT_VDBE_OP, 1_000_000),
    ]

    /// The SQL function that we define: whether one text begins with another, compared by Swift's
    /// characters.
    static let beginsFunction = "begins"
    /// The SQL function that we define: an item of a list.
    static let itemFunction = "item"
    /// The aggregate function that we define: adds integers to a ``ColumnSum``.
    static let sumFunction = "exact_sum"

    /// Where ``sumFunction`` adds. Defines the function at the first call, and empties the sum.
    func columnSum() throws(SQLiteError) -> UnsafeMutablePointer<ColumnSum> {
        if let sum {
            sum.pointee = ColumnSum()
            return sum
        }
        let new = UnsafeMutablePointer<ColumnSum>.allocate(capacity: 1)
        new.initialize(to: ColumnSum())
        let code = sqlite3_create_function_v2(
            handle,
            Self.sumFunction,
            1,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
            new,
            nil,
            { context, _, arguments in
                sqlite3_user_data(context)?.assumingMemoryBound(to: ColumnSum.self).pointee.add(
                    arguments?[0]
                )
            },
            { _ in },
            { $0?.assumingMemoryBound(to: ColumnSum.self).deinitialize(count: 1).deallocate() }
        )
        // SQLite has freed the sum if it fails.
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
        sum = new
        return new
    }

    private static func text(_ value: OpaquePointer?) -> String {
        guard let start = sqlite3_value_text(value) else { return "" }
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))),
            as: UTF8.self
        )
    }

    deinit {
        // A copy of the process must not close a connection of the original, whose locks SQLite
        // believes to have (sqlite.org/howtocorrupt.html, 2.6).
        guard forkGuard.isThisProcess else { return }
        sqlite3_close_v2(handle)
        if let identity { OpenDatabases.shared.remove(identity) }
        frames.deallocate()
        room.deallocate()
    }

    /// How long to wait for another process at most, in milliseconds.
    static let longestWait: Int64 = 10_000

    /// Where the running statement has its key.
    var keyRoom: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: room[..<4096])
    }
    /// Where the running statement has its value.
    var valueRoom: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: room[4096...])
    }

    /// Prepares a statement, with the values of its first parameters.
    package func prepare(_ sql: String, _ parameters: Int64...) throws(SQLiteError) -> Statement {
        let statement = try Statement(sql, on: self, handle)
        for (index, value) in parameters.enumerated() {
            statement.bind(value, at: Int32(index + 1))
        }
        return statement
    }

    /// Runs statements and ignores the rows they return.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    }

    /// From now on, `isCancelled` says every 1,000 instructions of SQLite whether to interrupt the
    /// statement; `nil` for never (sqlite.org/c3ref/progress_handler.html).
    func interrupt(when isCancelled: (() -> Bool)?) {
        self.isCancelled = isCancelled
        guard isCancelled != nil else { return sqlite3_progress_handler(handle, 0, nil, nil) }
        let asked: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { connection in
            guard let connection else { return 0 }
            return Unmanaged<Connection>.fromOpaque(connection).takeUnretainedValue().isCancelled?()
                == true ? 1 : 0
        }
        sqlite3_progress_handler(handle, 1000, asked, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns the first column of the first row, or `nil` if there is no row.
    package func int(_ sql: String) throws(SQLiteError) -> StoredInteger? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int(0) : nil
    }

    /// How many rows the last statement changed.
    var changesCount: Int64 { sqlite3_changes64(handle) }

    /// Whether SQLite refuses to write, because of the file's permissions or its header. Valid
    /// after the first read.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    // MARK: The write-ahead log

    /// Starts counting the pages of the log in ``logFrames``. This also disables SQLite's own
    /// checkpoints on commit, for which the caller would wait.
    func watchLog() {
        sqlite3_wal_hook(
            handle,
            { context, _, _, frames in
                context?.assumingMemoryBound(to: Int32.self).pointee = frames
                return SQLITE_OK
            },
            frames
        )
    }

    /// How many pages the log held after the last commit of this connection.
    var logFrames: Int { Int(frames.pointee) }

    /// Copies as much of the log into the database as is possible without waiting for others or
    /// blocking them (sqlite.org/c3ref/wal_checkpoint_v2.html).
    ///
    /// - Returns: How many pages the log holds, and how many of them have been copied. Pages that a
    ///   reader still needs are not copied.
    func checkpoint() throws(SQLiteError) -> (logged: Int, copied: Int) {
        var logged: Int32 = 0
        var copied: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(
            handle,
            "main",
            SQLITE_CHECKPOINT_PASSIVE,
            &logged,
            &copied
        )
        // Busy means that another process is copying the log, so this one need not.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
            throw SQLiteError(code, of: handle)
        }
        return (Int(logged), Int(copied))
    }

    /// Copies the rest of the log, so that the next writer restarts it at its beginning, and
    /// truncates a file that became long. Blocks writers, and waits for readers.
    ///
    /// Tries repeatedly: SQLite waits only for the slots that readers occupied when it began to
    /// wait. A reader that takes a new snapshot may reuse its slot, but blocks only the first try.
    /// SQLite does not wait at all for another process that copies the log.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at most, in milliseconds.
    ///   - truncates: Whether to truncate the file of the log, however long it is.
    /// - Throws: ``SQLiteError``; busy if a reader keeps its snapshot.
    func restartLog(timeout milliseconds: Int64 = 40, truncates: Bool = false) throws(SQLiteError) {
        // SQLite would shorten a long file of the log only with the next write, which may never
        // come.
        let isLong = truncates || FileSystem.size(path + "-wal") > LogLimit.mostBytes
        let mode = isLong ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART
        let patience = exchange(&busyHandler.milliseconds, with: milliseconds)
        defer { busyHandler.milliseconds = patience }
        let end = CoarseClock.milliseconds + milliseconds
        var code = sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil)
        while code == SQLITE_BUSY, CoarseClock.milliseconds < end {
            BusyRetry.milliseconds(0.1)
            code = sqlite3_wal_checkpoint_v2(handle, "main", mode, nil, nil)
        }
        guard code & 0xFF != SQLITE_BUSY else { throw .keptLog }
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
        frames.pointee = 0
    }

    /// Writes the changed pages of the open transaction into the log, as SQLite does when it has no
    /// memory for them.
    func writePages() throws(SQLiteError) {
        let code = sqlite3_db_cacheflush(handle)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    }

    /// Waits until no other process is in a write transaction. Returns normally when the time has
    /// passed.
    ///
    /// - Parameter timeout: How long to wait at most, in milliseconds.
    func waitForWriters(timeout milliseconds: Int64) throws(SQLiteError) {
        let patience = exchange(&busyHandler.milliseconds, with: milliseconds)
        defer { busyHandler.milliseconds = patience }
        do throws(SQLiteError) {
            try execute(SQL.beginWriting)
        } catch {
            guard [.busy, .readOnly].contains(VellumError(error).code) else { throw error }
            return
        }
        try execute(SQL.rollback)
    }

    /// Syncs the log file: everything committed before the call survives power loss after it.
    ///
    /// The connection must have read once before, so that it has the log open.
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
        guard code == SQLITE_OK else {
            throw SQLiteError(code: code, message: "The log could not be synced.")
        }
    }

    /// In what steps the file grows. Every connection of every process truncates it to a multiple
    /// of this (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_CHUNK_SIZE).
    static let chunk = 1 << 16

    /// Reserves room for so many bytes of the database, so that copying the log into it needs no
    /// more space later.
    ///
    /// Not by SQLite's SIZE_HINT: where SQLite was built without `posix_fallocate`, as Debian's is,
    /// that writes a byte into each new block, and a checkpoint of another process may have written
    /// a page there since the size was looked up.
    ///
    /// - Parameter present: The length of the file, which another process may have changed since it
    ///   was looked up.
    /// - Throws: ``SQLiteError`` if the disk is full.
    func extendFile(from present: Int64, to bytes: Int64) throws(SQLiteError) {
        guard present < bytes, identity != nil else { return }
        if isDiskFull { throw .full }
        try reserve(openFile, from: present, to: bytes)
    }

    /// How many bytes the database may have before the disk must give it room; `nil` if that cannot
    /// be known. A checkpoint of any process takes away what lies behind the pages.
    var roomOfFile: Int64? {
        guard let openFile else { return nil }
        let room = vellum_room(openFile)
        return room < 0 ? nil : room
    }

    /// A descriptor of the database file, which stays open while this connection is.
    private var openFile: Int32? {
        if knownFile == nil, let identity { knownFile = OpenDatabases.shared.file(of: identity) }
        return knownFile
    }

    /// Reserves room for so many bytes of the log, so that a transaction has room in it after it
    /// was restarted.
    ///
    /// - Throws: ``SQLiteError`` if the disk is full.
    func extendLog(to bytes: Int64) throws(SQLiteError) {
        let present = Int64(FileSystem.size(path + "-wal"))
        // There is none before the first transaction.
        guard present < bytes, FileIdentity(path: path + "-wal") != nil else { return }
        // No process locks the log's file, so its descriptor may be closed.
        let file = FileSystem.opened(path + "-wal")
        defer { if let file { _ = SystemCalls.close(file) } }
        try reserve(file, from: present, to: bytes)
    }

    /// Whether a test has filled the disk.
    var isDiskFull: Bool { hasRoomControl && askForRoom() == SQLITE_FULL }

    private func askForRoom() -> Int32 {
        sqlite3_file_control(handle, "main", RoomControl.code, nil)
    }

    private func reserve(_ file: Int32?, from present: Int64, to bytes: Int64) throws(SQLiteError) {
        guard let file else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: "No descriptor to reserve room with.")
        }
        let chunk = Int64(Self.chunk)
        switch vellum_reserve(file, present, (bytes + chunk - 1) / chunk * chunk) {
        case 0: return
        case ENOSPC, EDQUOT, EFBIG: throw .full
        case let code:
            throw SQLiteError(
                code: SQLITE_IOERR,
                message: "Room could not be reserved (error \(code))."
            )
        }
    }

    /// Keeps SQLite from deleting the log when the connection closes, because the file at its path
    /// may belong to another database.
    func keepLog() {
        var keeps: Int32 = 1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    }

    /// Reads the file and its log from end to end and returns the error of the device, or `nil` if
    /// every read succeeds.
    ///
    /// SQLite reports a failed read as damage (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT). This
    /// call distinguishes a failing device from a damaged file. Reads so many bytes of each at
    /// least.
    func readFailure(ofFirst most: Int64 = .max) -> SQLiteError? {
        do throws(SQLiteError) {
            _ = try int(SQL.tableCount)  // The first read opens the log.
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
            for offset in stride(from: 0, to: min(size, most), by: bytes.count)
            where code == SQLITE_OK {
                code = methods.pointee.xRead(
                    file,
                    &bytes,
                    Int32(min(Int64(bytes.count), size - offset)),
                    offset
                )
            }
            let error = SQLiteError(code: code, message: "The device failed to read the file.")
            if code != SQLITE_OK, !error.isDamage { return error }
        }
        return nil
    }

    /// The wal-index slots of the readers with the oldest snapshot, which block the copying of the
    /// log (sqlite.org/walformat.html, 2.2.2).
    var slotsOfOldestReaders: [Int] {
        guard let header = logIndexHeader() else { return [] }
        let copied = header.load(fromByteOffset: 96, as: UInt32.self)
        return (1..<5).filter {
            header.load(fromByteOffset: 100 + 4 * $0, as: UInt32.self) == copied
        }
    }

    /// Returns a number that changes with every commit of any connection. It is current once a
    /// transaction is open.
    func dataVersion() -> UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    /// Returns the header of the wal-index, which every commit of every process changes
    /// (sqlite.org/walformat.html, 2.1).
    ///
    /// Accessed through the VFS: opening and closing the `-shm` file directly would release the
    /// process's own locks (sqlite.org/howtocorrupt.html, 2.2). The pointer is valid while the
    /// connection is open; `nil` before the first read transaction.
    func logIndexHeader() -> UnsafeRawPointer? {
        guard hasLog else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else {
            return nil
        }
        var region: UnsafeMutableRawPointer?
        guard map(file, 0, 32 * 1024, 0, &region) == SQLITE_OK else { return nil }
        return UnsafeRawPointer(region)
    }

    /// The size of the database in pages after the last commit of any process; `nil` if the log has
    /// had none. Read inside a transaction that writes, so that nobody changes it.
    func pagesOfLastCommit() -> Int64? {
        // The field `nPage` (sqlite.org/walformat.html, 2.1), which is 0 until the log has a
        // commit.
        guard let pages = logIndexHeader()?.load(fromByteOffset: 20, as: UInt32.self), pages > 0
        else { return nil }
        return Int64(pages)
    }
}

/// Sizes of the log, in pages of 4 KiB, at which something is done about it.
enum LogLimit {
    /// At this size the log is copied into the database in the background.
    static let checkpointAt = 512
    /// At this size callers wait for the copying: 6 MB of the 8 MB guaranteed. The rest is for
    /// running transactions.
    static let waitFor = 1536
    /// A file of the log that a large transaction left longer than this gives its bytes back once
    /// it is copied.
    static let mostBytes = 8 << 20
}
