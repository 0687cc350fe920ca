internal import Foundation
internal import VellumCore

/// A query as SQL, and what to bind to it.
///
/// Holds no value of a user's: each is a `?`, so that statements can be kept prepared by their text.
struct QueryPrinter {
    private(set) var sql = ""
    private(set) var bindings: [Binding] = []

    /// What stands for a `?`.
    enum Binding {
        case value(IndexValue)
        /// What comes after every text that begins with this one.
        case end(of: String)
    }

    enum Purpose {
        /// The numbers of the rows, in order.
        case rows
        /// How many rows there are.
        case count
    }

    private let archive: Int64
    /// The table whose rows are found, by its short name.
    private var rows = "c"

    /// - Parameter validAt: The moment at which entries must be valid, where some may expire.
    init(_ purpose: Purpose, of query: ColumnQuery, archive: Int64, validAt now: WallInstant?) {
        self.archive = archive
        sql.reserveCapacity(256)
        var parts = query.filter.conjuncts
        let hasWindow = query.limit != nil || query.offset > 0

        // A collection's element is looked up in its own table; the other columns are joined to it if they are asked for.
        let place = parts.firstIndex { $0.element != nil }
        let element = place.flatMap { parts.remove(at: $0).element }
        if element != nil { rows = "x" }
        sql += SQL.select(purpose == .rows ? "\(rows).id" : hasWindow ? "1" : "count(*)")
        if let (collection, _) = element {
            sql += "elements_\(archive)_\(collection) x"
            if purpose == .rows && !query.order.isEmpty || parts.contains(where: \.asksColumns) {
                sql += " JOIN columns_\(archive) c ON c.id = x.id"
            }
        } else {
            sql += "columns_\(archive) c"
        }
        if now != nil { sql += " JOIN entries_\(archive) e ON e.id = \(rows).id" }

        sql += " WHERE "
        if let (_, value) = element { write("x.value = ?", value) } else if parts.isEmpty { sql += "1" }
        for (index, part) in parts.enumerated() {
            if index > 0 || element != nil { sql += " AND " }
            write(part)
        }
        if let now {
            // What ``Validity`` says of an entry.
            write(" AND (coalesce(e.expires, ?)", .integer(.max))
            write(" = ? AND e.idle IS NULL", .integer(.max))
            let slack = IndexValue.integer(now.advanced(byMilliseconds: Validity.slack).rawValue)
            let isUsed = SQL.isUsed(archive)
            write(" OR e.written <= ?", slack)
            write(" AND coalesce(e.expires, ?)", .integer(.max))
            write(" > ?", .integer(now.rawValue))
            write(" AND (e.idle IS NULL OR \(isUsed.0)", slack)
            write("\(isUsed.1)))", .integer(now.rawValue))
        }
        if purpose == .rows { writeOrder(query.order) }
        if hasWindow {
            write(" LIMIT ?", .integer(query.limit.map(Int64.init) ?? -1))
            write(" OFFSET ?", .integer(Int64(query.offset)))
        }
        if purpose == .count, hasWindow { sql = SQL.count(sql) }
    }

    private mutating func writeOrder(_ order: [ColumnOrder]) {
        sql += " ORDER BY "
        for column in order { sql += column.isDescending ? "c.c\(column.column) DESC, " : "c.c\(column.column), " }
        sql += rows
        sql += ".id"
    }

    /// Writes a part with one `?` in it.
    private mutating func write(_ text: String, _ value: IndexValue) {
        sql += text
        bindings.append(.value(value))
    }

    // MARK: Conditions

    private mutating func write(_ condition: ColumnCondition) {
        switch condition {
        case .all(let parts): write(parts, " AND ", "1")
        case .any(let parts): write(parts, " OR ", "0")
        case .not(let part):
            // What compares with nothing is not known to SQL, and false here.
            sql += "("
            write(part)
            sql += ") IS NOT TRUE"
        case .test(let test): write(test)
        }
    }

    private mutating func write(_ parts: [ColumnCondition], _ word: String, _ none: String) {
        guard !parts.isEmpty else {
            sql += none
            return
        }
        sql += "("
        for (index, part) in parts.enumerated() {
            if index > 0 { sql += word }
            write(part)
        }
        sql += ")"
    }

    private mutating func write(_ test: ColumnTest) {
        let column = "c.c\(test.column)"
        switch test.relation {
        case .isNull:
            sql += "\(column) IS NULL"
        case .isEqual(let value):
            write("\(column) = ?", value)
        case .isIn(let values):
            sql += "\(column) IN ("
            for (index, value) in values.enumerated() { write(index == 0 ? "?" : ", ?", value) }
            sql += ")"
        case .isBetween(nil, nil):
            sql += "\(column) IS NOT NULL"
        case .isBetween(let lower, let upper):
            sql += "("
            if let lower { write("\(column) \(lower.isIncluded ? ">=" : ">") ?", lower.value) }
            if lower != nil, upper != nil { sql += " AND " }
            if let upper { write("\(column) \(upper.isIncluded ? "<=" : "<") ?", upper.value) }
            sql += ")"
        case .beginsWith(let start):
            write(column, beginsWith: start)
        case .hasElement(let values):
            // A list of rows, and not a question for each row: so that SQLite can begin with it.
            sql += "\(rows).id IN (\(SQL.select("id"))elements_\(archive)_\(test.column) WHERE value IN ("
            for (index, value) in values.enumerated() { write(index == 0 ? "?" : ", ?", value) }
            sql += "))"
        }
    }

    /// Strings that begin with the bytes are a range. Whether they begin with the characters, too, depends on what comes next: a
    /// mark would make another character of the last one. No scalar below U+0300 does that, but for a line feed after a
    /// carriage return.
    private mutating func write(_ column: String, beginsWith start: String) {
        guard let last = start.unicodeScalars.last else {
            sql += "\(column) IS NOT NULL"
            return
        }
        write("(\(column) >= ?", .text(start))
        sql += " AND \(column) < ? AND ("
        bindings.append(.end(of: start))
        if last.value < 0x300, last != "\r" {
            write("substr(CAST(\(column) AS BLOB), ?, 1) < x'CC' OR ", .integer(Int64(start.utf8.count + 1)))
        }
        write("\(Connection.beginsFunction)(\(column), ?)))", .text(start))
    }
}

extension ColumnCondition {
    fileprivate var conjuncts: [ColumnCondition] {
        guard case .all(let parts) = self else { return [self] }
        return parts.flatMap(\.conjuncts)
    }

    /// The collection and the element, if one is asked for.
    fileprivate var element: (Int, IndexValue)? {
        guard case .test(let test) = self, case .hasElement(let values) = test.relation, values.count == 1 else { return nil }
        return (test.column, values[0])
    }

    /// Whether it asks for a column that is no collection.
    fileprivate var asksColumns: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.asksColumns)
        case .not(let part): part.asksColumns
        case .test(let test): if case .hasElement = test.relation { false } else { true }
        }
    }
}

extension Statement {
    func bind(_ bindings: [QueryPrinter.Binding]) {
        for (index, binding) in bindings.enumerated() {
            switch binding {
            case .value(let value): bind(value, at: Int32(index + 1))
            // No UTF-8 holds the byte FF.
            case .end(let start): bind(text: Array(start.utf8) + [0xFF], at: Int32(index + 1))
            }
        }
    }
}
