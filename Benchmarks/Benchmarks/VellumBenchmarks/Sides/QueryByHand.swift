import Foundation

/// A SQL query on Vellum's file, prepared once, on its own connection, in autocommit mode; then the
/// decode.
///
/// Omits the rest of Vellum's work: no checksum, no plan, no check of dates, no order among equal
/// values.
final class QueryByHand<Value: Subject> {
    private let statement: RawStatement

    init(_ path: String, _ sql: String) throws {
        statement = try RawDatabase(path, RawDatabase.reading).prepare(sql)
    }

    func values(_ bind: (RawStatement) -> Void) throws -> [Value] {
        defer { statement.reset() }
        bind(statement)
        var values: [Value] = []
        while try statement.step() { values.append(try Value.decode(statement.data(0))) }
        return values
    }

    func count(_ bind: (RawStatement) -> Void) throws -> Int {
        defer { statement.reset() }
        bind(statement)
        return try statement.step() ? Int(statement.int(0)) : 0
    }
}

/// The bytes of the objects whose columns satisfy the condition.
func selectByHand(_ condition: String) -> String {
    "SELECT e.bytes FROM columns_1 c JOIN entries e ON e.id = c.id WHERE \(condition)"
}
