internal import VellumCore

#if canImport(SQLite3)
    internal import SQLite3
#else
    internal import CSQLite
#endif

/// The sum of a column, which SQLite computes row by row without returning to Swift
/// (sqlite.org/appfunc.html, 2.3; decision 76).
struct ColumnSum {
    /// How a column stores numbers (``IndexableValue/indexEncoding``).
    enum Numbers: String { case integer, unsigned, number }

    private(set) var exact = ExactSum()
    /// Whether a value was no integer: the file is damaged.
    private(set) var isDamaged = false
    var numbers = Numbers.integer

    mutating func add(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return
        case SQLITE_INTEGER where numbers == .number: exact.add(rank: sqlite3_value_int64(value))
        case SQLITE_INTEGER: exact.add(indexed: sqlite3_value_int64(value))
        default: isDamaged = true
        }
    }

    /// The sum of all rows.
    var result: ExactSum? {
        var result = exact
        if numbers == .unsigned { result.endOfUnsigned() }
        return isDamaged ? nil : result
    }
}
