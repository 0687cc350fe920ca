import CRawSQLite
import Foundation

/// A minimal wrapper of a SQLite connection.
final class RawDatabase {
    let handle: OpaquePointer

    init(_ path: String, _ settings: String) throws {
        var handle: OpaquePointer?
        let flags =
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK, let handle else {
            throw RawError(handle)
        }
        self.handle = handle
        sqlite3_busy_timeout(handle, 10_000)
        try execute(settings)
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw RawError(handle) }
    }

    func prepare(_ sql: String) throws -> RawStatement { try RawStatement(sql, self) }

    /// The settings of a connection that writes: those of `Sources/VellumEngine/SQLite/SQL.swift`,
    /// and how each commit is synced.
    static func writing(_ synchronous: Synchronous) -> String {
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = \(synchronous.rawValue);
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA cache_size = -8192;
        PRAGMA temp_store = MEMORY;
        """
    }

    static let reading =
        "PRAGMA query_only = ON; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;"
}

/// When SQLite syncs the log.
enum Synchronous: String {
    /// Only at checkpoints: a commit survives a killed process.
    case crashSafe = "NORMAL"
    /// At each commit, which then survives power loss, too.
    case powerSafe = "FULL"
}

struct RawError: Error {
    let message: String

    init(_ handle: OpaquePointer?) { message = String(cString: sqlite3_errmsg(handle)) }
}

/// A prepared statement of SQLite's C API.
final class RawStatement {
    private let pointer: OpaquePointer
    private let database: RawDatabase

    init(_ sql: String, _ database: RawDatabase) throws {
        var pointer: OpaquePointer?
        guard
            sqlite3_prepare_v3(
                database.handle,
                sql,
                -1,
                UInt32(SQLITE_PREPARE_PERSISTENT),
                &pointer,
                nil
            ) == SQLITE_OK, let pointer
        else { throw RawError(database.handle) }
        self.pointer = pointer
        self.database = database
    }

    deinit { sqlite3_finalize(pointer) }

    @inline(__always)
    func bind(_ value: Int64, _ index: Int32) { sqlite3_bind_int64(pointer, index, value) }

    func bind(real value: Double, _ index: Int32) { sqlite3_bind_double(pointer, index, value) }

    /// Binds bytes that must stay valid until the statement is reset.
    @inline(__always)
    func bind(_ bytes: UnsafeRawBufferPointer, _ index: Int32) {
        sqlite3_bind_blob64(pointer, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    /// Binds a text, which SQLite copies.
    func bind(text: String, _ index: Int32) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text64(
                    pointer,
                    index,
                    $0.baseAddress,
                    UInt64($0.count),
                    unsafeBitCast(-1, to: sqlite3_destructor_type.self),
                    UInt8(SQLITE_UTF8)
                )
            }
        }
    }

    @inline(__always)
    func step() throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw RawError(database.handle)
        }
    }

    @inline(__always)
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    @inline(__always)
    func reset() { sqlite3_reset(pointer) }

    func int(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }

    func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

    func data(_ column: Int32) -> Data {
        let start = sqlite3_column_blob(pointer, column)
        let bytes = UnsafeRawBufferPointer(
            start: start,
            count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, column))
        )
        return Data(bytes)
    }
}
