internal import Foundation
package import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// A prepared statement. Used only by the thread that holds its connection's lock.
package final class Statement {
    private let pointer: OpaquePointer
    /// Retained so that the connection closes only after its last statement: SQLite would otherwise
    /// delay the close.
    private let owner: Connection
    /// The first error of a binding: the value is too large, or memory is exhausted. ``step()``
    /// throws it, because SQLite would use NULL.
    private var failure = SQLITE_OK

    init(_ sql: String, on owner: Connection, _ connection: OpaquePointer) throws(SQLiteError) {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection,
            sql,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &pointer,
            nil
        )
        guard code == SQLITE_OK, let pointer else {
            throw SQLiteError(code, of: connection)
        }
        self.pointer = pointer
        self.owner = owner
    }

    deinit { sqlite3_finalize(pointer) }

    // MARK: Binding

    private func check(_ code: Int32) {
        if code != SQLITE_OK { failure = code }
    }

    package func bind(_ value: Int64, at index: Int32) {
        check(sqlite3_bind_int64(pointer, index, value))
    }

    /// The number of parameters, and the place of the last.
    var parameterCount: Int32 { sqlite3_bind_parameter_count(pointer) }

    package func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { check(sqlite3_bind_null(pointer, index)) }
    }

    /// Binds a copy of the bytes.
    func bind(copying data: Data, at index: Int32) {
        data.withUnsafeBytes { bind($0, at: index, Self.copied) }
    }

    /// Binds a copy of the key's bytes, which is valid until another statement of the connection
    /// binds a key.
    package func bind(copying key: EntryKey, at index: Int32) {
        key.withBytes { bind($0, at: index, in: owner.keyRoom) }
    }

    /// Copies small values to room that the connection has anyway: SQLite would allocate some for
    /// each.
    private func bind(
        _ bytes: UnsafeRawBufferPointer,
        at index: Int32,
        in room: UnsafeMutableRawBufferPointer
    ) {
        guard bytes.count <= room.count else { return bind(bytes, at: index, Self.copied) }
        room.copyMemory(from: bytes)
        bind(UnsafeRawBufferPointer(rebasing: room[..<bytes.count]), at: index, nil)
    }

    private func bind(
        _ bytes: UnsafeRawBufferPointer,
        at index: Int32,
        _ destructor: sqlite3_destructor_type?
    ) {
        if let start = bytes.baseAddress, bytes.count > 0 {
            check(sqlite3_bind_blob64(pointer, index, start, UInt64(bytes.count), destructor))
        } else {
            check(sqlite3_bind_zeroblob(pointer, index, 0))  // A null pointer would bind NULL.
        }
    }

    package func bind(_ text: String?, at index: Int32) {
        guard var text else { return check(sqlite3_bind_null(pointer, index)) }
        text.withUTF8 { bind(text: $0, at: index) }
    }

    /// Binds a copy of a text, given as contiguous UTF-8 bytes.
    func bind(text: some Collection<UInt8>, at index: Int32) {
        // A null pointer would bind NULL.
        guard !text.isEmpty else {
            return check(
                sqlite3_bind_text64(pointer, index, "", 0, Self.copied, UInt8(SQLITE_UTF8))
            )
        }
        let isBound: Void? = text.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                check(
                    sqlite3_bind_text64(
                        pointer,
                        index,
                        characters.baseAddress,
                        UInt64(characters.count),
                        Self.copied,
                        UInt8(SQLITE_UTF8)
                    )
                )
            }
        }
        precondition(isBound != nil, "A text to bind must be contiguous.")
    }

    /// Binds a list, whose items ``Connection/itemFunction`` returns.
    func bind(items: [IndexValue], at index: Int32) {
        let list = Unmanaged.passRetained(ItemList(items)).toOpaque()
        check(
            sqlite3_bind_pointer(pointer, index, list, ItemList.type) {
                $0.map { Unmanaged<ItemList>.fromOpaque($0).release() }
            }
        )
    }

    /// SQLITE_TRANSIENT: SQLite copies the value.
    fileprivate static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    // MARK: Running

    /// Advances to the next row. Returns whether there is one; throws the error of a binding or of
    /// SQLite.
    package func step() throws(SQLiteError) -> Bool {
        guard failure == SQLITE_OK else {
            defer { clear() }
            throw SQLiteError(code: failure, message: "A value could not be bound.")
        }
        let code = sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let connection: OpaquePointer = sqlite3_db_handle(pointer)
            let error = SQLiteError(sqlite3_extended_errcode(connection), of: connection)
            sqlite3_reset(pointer)
            throw error
        }
    }

    /// Returns the first column of the first row, or 0 if there is no row, and resets the
    /// statement.
    func firstInt() throws(SQLiteError) -> Int64 {
        defer { reset() }
        return try step() ? int(0).value : 0
    }

    /// Runs the statement to its end, and returns the first column of each row.
    func ints() throws(SQLiteError) -> [Int64] {
        var values: [Int64] = []
        while try step() { values.append(int(0).value) }
        return values
    }

    /// Runs the statement to its end, and resets it.
    func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Binds the first parameters, and runs the statement to its end.
    func run(
        _ first: Int64,
        _ second: Int64? = nil,
        _ third: Int64? = nil
    ) throws(SQLiteError) {
        bind(first, at: 1)
        if let second { bind(second, at: 2) }
        if let third { bind(third, at: 3) }
        try run()
    }

    /// Binds a value, small ones by copy and large ones in place, and runs the statement to its
    /// end.
    func run(binding data: Data, at index: Int32) throws(SQLiteError) {
        if data.count <= owner.valueRoom.count {
            data.withUnsafeBytes { bind($0, at: index, in: owner.valueRoom) }
            return try run()
        }
        let result = data.withUnsafeBytes { bytes -> Result<Void, SQLiteError> in
            bind(bytes, at: index, nil)
            return Result { () throws(SQLiteError) in try run() }
        }
        try result.get()
    }

    /// Resets the statement, so that it can be bound and run again. Pointers that it returned
    /// become invalid.
    package func reset() { sqlite3_reset(pointer) }

    /// Resets the statement and releases the bound values.
    func clear() {
        failure = SQLITE_OK
        sqlite3_reset(pointer)
        sqlite3_clear_bindings(pointer)
    }

    // MARK: Reading the row

    package func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(pointer, column) == SQLITE_NULL
    }

    package func int(_ column: Int32) -> StoredInteger {
        StoredInteger(sqlite3_column_int64(pointer, column))
    }

    package func optionalInt(_ column: Int32) -> StoredInteger? {
        isNull(column) ? nil : int(column)
    }

    package func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

    package func text(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(pointer, column) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns whether the column holds exactly the bytes of `text`.
    func isText(_ text: String, at column: Int32) -> Bool {
        guard let start = sqlite3_column_text(pointer, column) else { return false }
        let count = Int(sqlite3_column_bytes(pointer, column))
        var text = text
        return text.withUTF8 { utf8 in
            guard utf8.count == count, let first = utf8.baseAddress else {
                return utf8.count == count
            }
            return memcmp(first, start, count) == 0
        }
    }

    /// Returns the bytes of the column, which are valid until the next step or reset.
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(
            start: start,
            count: start == nil ? 0 : Int(sqlite3_column_bytes(pointer, column))
        )
    }

    func indexValue(_ column: Int32) -> IndexValue {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: .integer(int(column).value)
        case SQLITE_TEXT: .text(text(column) ?? "")
        case SQLITE_BLOB: .bytes(Data(bytes(column)))
        default: .null
        }
    }
}

/// A list that a statement has as one value (sqlite.org/bindptr.html), for there may be more items
/// than parameters.
final class ItemList {
    fileprivate static var type: UnsafePointer<CChar> {
        UnsafeRawPointer(("items" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    }

    private let items: [IndexValue]

    fileprivate init(_ items: [IndexValue]) { self.items = items }

    /// Makes an item the result of an SQL function: that of the number in the second argument, of
    /// the list in the first.
    static func returnItem(
        _ context: OpaquePointer?,
        _ list: OpaquePointer?,
        _ number: OpaquePointer?
    ) {
        guard let list = sqlite3_value_pointer(list, type) else { return }
        let items = Unmanaged<ItemList>.fromOpaque(list).takeUnretainedValue().items
        let number = Int(sqlite3_value_int64(number))
        guard items.indices.contains(number) else { return }
        switch items[number] {
        case .null: return
        case .integer(let value): sqlite3_result_int64(context, value)
        case .text(let text):
            sqlite3_result_text64(
                context,
                text,
                UInt64(text.utf8.count),
                Statement.copied,
                UInt8(SQLITE_UTF8)
            )
        case .bytes(let data):
            // A null pointer would be NULL.
            data.withUnsafeBytes {
                sqlite3_result_blob64(
                    context,
                    $0.baseAddress ?? UnsafeRawPointer(type),
                    UInt64($0.count),
                    Statement.copied
                )
            }
        }
    }
}
