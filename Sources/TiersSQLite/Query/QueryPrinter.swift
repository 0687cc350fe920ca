internal import Foundation
internal import Tiers

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

    private let archive: Int64
    private var tables: [String] = []
    /// The table whose rows are found, by its short name.
    private var rows = "c"

    enum Purpose {
        /// The numbers of the rows, in order.
        case rows
        /// How many rows there are.
        case count
    }

    /// - Parameter validAt: The moment at which entries must be valid, where some may expire.
    init(_ purpose: Purpose, of query: TierQuery, archive: Int64, validAt now: WallInstant?) {
        self.archive = archive
        var conditions: [String] = []
        var parts = query.filter.conjuncts

        // A collection's element is looked up in its own table; the other columns are joined to it if they are asked for.
        if let place = parts.firstIndex(where: { $0.element != nil }), let (collection, value) = parts[place].element {
            parts.remove(at: place)
            rows = "x"
            tables.append("elements_\(archive)_\(collection) x")
            conditions.append("x.value = ?")
            bindings.append(.value(value))
            if purpose == .rows && !query.order.isEmpty || parts.contains(where: \.asksColumns) {
                tables.append("JOIN columns_\(archive) c ON c.id = x.id")
            }
        } else {
            tables.append("columns_\(archive) c")
        }
        for part in parts { conditions.append(print(part)) }
        if let now {
            tables.append("JOIN entries_\(archive) e ON e.id = \(rows).id")
            // What ``Validity`` says of an entry.
            conditions.append("(e.expires IS NULL OR (e.expires > ? AND e.written <= ?))")
            bindings.append(.value(.integer(now.rawValue)))
            bindings.append(.value(.integer(now.advanced(byMilliseconds: Validity.slack).rawValue)))
        }
        var rest = ""
        if purpose == .rows {
            let order = query.order.map { "c.c\($0.column)\($0.isDescending ? " DESC" : "")" } + ["\(rows).id"]
            rest = " ORDER BY \(order.joined(separator: ", "))"
        }
        let hasWindow = query.limit != nil || query.offset > 0
        if hasWindow {
            rest += " LIMIT ? OFFSET ?"
            bindings.append(.value(.integer(query.limit.map(Int64.init) ?? -1)))
            bindings.append(.value(.integer(Int64(query.offset))))
        }
        let columns = purpose == .rows ? "\(rows).id" : hasWindow ? "1" : "count(*)"
        sql = SQL.select(
            columns, from: tables.joined(separator: " "), where: conditions.isEmpty ? "1" : conditions.joined(separator: " AND "), rest)
        if purpose == .count, hasWindow { sql = SQL.count(sql) }
    }

    // MARK: Conditions

    private mutating func print(_ condition: ColumnCondition) -> String {
        switch condition {
        case .all(let parts): return list(parts, " AND ", "1")
        case .any(let parts): return list(parts, " OR ", "0")
        // What compares with nothing is not known to SQL, and false here.
        case .not(let part): return "(\(print(part))) IS NOT TRUE"
        case .test(let test): return print(test)
        }
    }

    private mutating func list(_ parts: [ColumnCondition], _ word: String, _ none: String) -> String {
        guard !parts.isEmpty else { return none }
        var printed: [String] = []
        for part in parts { printed.append(print(part)) }
        return "(" + printed.joined(separator: word) + ")"
    }

    private mutating func print(_ test: ColumnTest) -> String {
        let column = "c.c\(test.column)"
        switch test.relation {
        case .isNull: return "\(column) IS NULL"
        case .isEqual(let value):
            bindings.append(.value(value))
            return "\(column) = ?"
        case .isIn(let values):
            bindings += values.map(Binding.value)
            return "\(column) IN (\(values.map { _ in "?" }.joined(separator: ", ")))"
        case .isBetween(let lower, let upper):
            var tests: [String] = []
            if let lower {
                bindings.append(.value(lower.value))
                tests.append("\(column) \(lower.isIncluded ? ">=" : ">") ?")
            }
            if let upper {
                bindings.append(.value(upper.value))
                tests.append("\(column) \(upper.isIncluded ? "<=" : "<") ?")
            }
            return tests.isEmpty ? "\(column) IS NOT NULL" : "(" + tests.joined(separator: " AND ") + ")"
        case .beginsWith(let start): return print(column, beginsWith: start)
        case .hasElement(let value):
            bindings.append(.value(value))
            return
                "EXISTS (\(SQL.select("1", from: "elements_\(archive)_\(test.column) y", where: "y.value = ? AND y.id = \(rows).id", "")))"
        }
    }

    /// Strings that begin with the bytes are a range. Whether they begin with the characters, too, depends on what comes next: a
    /// mark would make another character of the last one. No scalar below U+0300 does that, but for a line feed after a
    /// carriage return.
    private mutating func print(_ column: String, beginsWith start: String) -> String {
        guard let last = start.unicodeScalars.last else { return "\(column) IS NOT NULL" }
        bindings.append(.value(.text(start)))
        bindings.append(.end(of: start))
        var sure = ""
        if last.value < 0x300, last != "\r" {
            sure = "substr(CAST(\(column) AS BLOB), ?, 1) < x'CC' OR "
            bindings.append(.value(.integer(Int64(start.utf8.count + 1))))
        }
        bindings.append(.value(.text(start)))
        return "(\(column) >= ? AND \(column) < ? AND (\(sure)\(Connection.beginsFunction)(\(column), ?)))"
    }
}

extension ColumnCondition {
    fileprivate var conjuncts: [ColumnCondition] {
        guard case .all(let parts) = self else { return [self] }
        return parts.flatMap(\.conjuncts)
    }

    /// The collection and the element, if that is what is asked.
    fileprivate var element: (Int, IndexValue)? {
        guard case .test(let test) = self, case .hasElement(let value) = test.relation else { return nil }
        return (test.column, value)
    }

    /// Whether it asks for a column that is no collection.
    fileprivate var asksColumns: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.asksColumns)
        case .not(let part): part.asksColumns
        case .test: element == nil
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
