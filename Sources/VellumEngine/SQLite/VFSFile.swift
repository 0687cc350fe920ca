internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A file that is opened through SQLite's default VFS (sqlite.org/c3ref/io_methods.html), with SQLite's result codes.
final class VFSFile {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let memory: UnsafeMutableRawPointer
    /// The VFS keeps the pointer.
    private let path: UnsafeMutablePointer<CChar>
    private var methods: sqlite3_io_methods { file.pointee.pMethods.pointee }

    enum Mode {
        case reading
        /// The file must not exist. Its first sync also syncs the name in its folder, as for a log.
        case creating
    }

    /// Never follows a symbolic link.
    init(_ path: String, _ mode: Mode) throws(SQLiteError) {
        guard let vfs = sqlite3_vfs_find(nil) else { throw SQLiteError(code: SQLITE_ERROR, message: "SQLite has no VFS.") }
        let size = Int(vfs.pointee.szOsFile)
        memory = .allocate(byteCount: size, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        file = memory.assumingMemoryBound(to: sqlite3_file.self)
        let length = path.utf8.count
        self.path = .allocate(capacity: length + 2)
        self.path.initialize(repeating: 0, count: length + 2)
        for (index, byte) in path.utf8.enumerated() { self.path[index] = CChar(bitPattern: byte) }
        let access = mode == .reading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE
        // As a log: with the mode and the owner of the database.
        let code = vfs.pointee.xOpen(vfs, self.path, file, access | SQLITE_OPEN_WAL, nil)
        // `deinit` runs in any case.
        guard code == SQLITE_OK else { throw SQLiteError(code: code, message: "A file beside the database could not be opened.") }
    }

    deinit {
        if let methods = file.pointee.pMethods { _ = methods.pointee.xClose(file) }
        memory.deallocate()
        path.deallocate()
    }

    /// How many bytes one call reads or writes: SQLite's own VFS takes less than 128 KiB, and loses the rest.
    private static let step = 1 << 16

    func write(_ bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
        for offset in stride(from: 0, to: bytes.count, by: Self.step) {
            let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + Self.step, bytes.count)])
            try check(methods.xWrite(file, part.baseAddress, Int32(part.count), Int64(offset)), "written")
        }
    }

    /// Fills the buffer from the beginning of the file.
    func read(into bytes: UnsafeMutableRawBufferPointer) throws(SQLiteError) {
        for offset in stride(from: 0, to: bytes.count, by: Self.step) {
            let part = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<min(offset + Self.step, bytes.count)])
            try check(methods.xRead(file, part.baseAddress, Int32(part.count), Int64(offset)), "read")
        }
    }

    func sync() throws(SQLiteError) {
        #if canImport(Darwin)
            let flags = SQLITE_SYNC_FULL  // F_FULLFSYNC
        #else
            let flags = SQLITE_SYNC_NORMAL
        #endif
        try check(methods.xSync(file, flags), "synced")
    }

    var size: Int64 {
        get throws(SQLiteError) {
            var size: sqlite3_int64 = 0
            try check(methods.xFileSize(file, &size), "measured")
            return size
        }
    }

    private func check(_ code: Int32, _ step: String) throws(SQLiteError) {
        guard code != SQLITE_OK else { return }
        throw SQLiteError(code: code, message: "A file beside the database could not be \(step).")
    }

    /// Removes a file, if there is one.
    static func remove(_ path: String) throws(SQLiteError) {
        guard let vfs = sqlite3_vfs_find(nil) else { return }
        let code = vfs.pointee.xDelete(vfs, path, 0)
        // SQLITE_IOERR_DELETE_NOENT, a macro that Swift does not import.
        guard code != SQLITE_OK, code != SQLITE_IOERR | (23 << 8) else { return }
        throw SQLiteError(code: code, message: "A file beside the database could not be removed.")
    }
}
