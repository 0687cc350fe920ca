internal import Foundation
internal import VellumCore

/// A query as SQL, and the values to bind to it.
///
/// The text holds no user-supplied value: each is a `?`, so that statements can be kept prepared by
/// their text.
struct QueryPrinter {
    private(set) var sql = ""
    private(set) var bindings: [Binding] = []

    /// The length from which on a list is one value of the statement, from which SQLite takes its
    /// items one by one.
    static var longList: Int { 64 }
    /// The largest number of conditions that are written side by side: SQLite limits the depth of
    /// an expression, and the number of selects in a compound one (sqlite.org/limits.html, 4 and
    /// 5).
    static var longCondition: Int { 200 }

    /// The value of a `?`.
    enum Binding {
        case value(IndexValue)
        case list([IndexValue])
        /// The end of the range of texts that begin with this one.
        case end(of: String)
    }

    enum Purpose {
        /// The numbers of the entries, in order.
        case rows
        /// How many entries there are.
        case count
        /// An aggregate of one column, of all entries or by its values.
        case aggregate(ColumnAggregate)

        var isRows: Bool { if case .rows = self { true } else { false } }
    }

    private let archive: Int64
    /// Whether ``ReversedTies`` reads the rows.
    private var reversesTies = false
    /// The alias of the table whose rows are selected.
    private var rows = "c"
    /// Precedes a column that SQLite is not to search by (sqlite.org/optoverview.html, 2).
    private var withoutSearch = ""

    /// - Parameter validAt: The moment at which entries must be valid, where some may expire.
    init(_ purpose: Purpose, of query: ColumnQuery, archive: Int64, validAt now: WallInstant?) {
        self.archive = archive
        sql.reserveCapacity(256)
        var parts = query.filter.conjuncts
        let hasWindow = query.limit != nil || query.offset > 0
        var readsColumns = purpose.isRows && !query.order.isEmpty
        reversesTies = readsColumns && ReversedTies(query) != nil

        // An element of a collection is looked up in its own table, to which the columns are joined
        // if a condition or the order needs them.
        let position = parts.firstIndex { $0.element != nil }
        let element = position.flatMap { parts.remove(at: $0).element }
        if element != nil { rows = "x" }
        switch purpose {
        case .rows:
            sql += element == nil ? "SELECT c.id" : "SELECT x.id"
            if reversesTies { for column in query.order { sql += ", \(Self.name(column.column))" } }
            sql += " FROM "
        case .count: sql += hasWindow ? "SELECT 1 FROM " : "SELECT count(*) FROM "
        case .aggregate(let aggregate):
            sql += "SELECT \(aggregate.expression) FROM "
            readsColumns = true
        }
        if let (collection, _) = element {
            sql += "elements_\(archive)_\(collection) x"
            if readsColumns || parts.contains(where: \.asksColumns) {
                sql += " JOIN columns_\(archive) c ON c.id = x.id"
            }
        } else {
            sql += "columns_"
            sql += archive.description
            sql += " c"
        }
        if now != nil { sql += " JOIN entries e ON e.id = \(rows).id" }

        sql += " WHERE "
        if let (_, value) = element {
            write("x.value = ?", value)
        } else if parts.isEmpty {
            writeNoCondition(purpose)
        }
        if element != nil, !parts.isEmpty { sql += " AND " }
        writeConjuncts(parts, hasElement: element != nil)
        if let now {
            // Each of the two parameters is named, and gets its number where it is first used.
            sql += " AND "
            sql += Validity.sql(
                lastUse:
                    """
                    max(e.stamp, coalesce((SELECT u.stamp FROM touches u \
                    WHERE u.id = e.id), 0)) >> 20
                    """
            )
            bindings.append(.value(.integer(now.advanced(byMilliseconds: Validity.slack).rawValue)))
            bindings.append(.value(.integer(now.rawValue)))
        }
        switch purpose {
        case .rows: writeOrder(query.order)
        case .aggregate(let aggregate): write(aggregate)
        case .count: break
        }
        let window = query.window(ofRows: purpose.isRows)
        if let limit = window.first { write(" LIMIT ?", .integer(limit)) }
        if window.count > 1 { write(" OFFSET ?", .integer(window[1])) }
        if case .count = purpose, hasWindow { sql = "SELECT count(*) FROM (\(sql))" }
    }

    private mutating func writeNoCondition(_ purpose: Purpose) {
        guard case .aggregate(let aggregate) = purpose, aggregate.isFirst else { return sql += "1" }
        // True of each number, and a reason to read the column's index and not the table. Of a
        // later column SQLite would skip from value to value of the first.
        write("c.c\(aggregate.column) >= ?", .integer(.min))
    }

    private mutating func writeOrder(_ order: [ColumnOrder]) {
        sql += " ORDER BY "
        for column in order {
            sql += Self.name(column.column)
            sql += column.isDescending ? " DESC, " : ", "
        }
        sql += rows
        sql += reversesTies ? ".id DESC" : ".id"
    }

    /// The name of a column. Kept, because to make it takes longer than to write the rest of a
    /// test.
    private static func name(_ column: Int) -> String {
        column < names.count ? names[column] : "c.c\(column)"
    }

    private static let names = (0..<32).map { "c.c\($0)" }

    /// Writes what follows the conditions.
    private mutating func write(_ aggregate: ColumnAggregate) {
        if aggregate.kind == .groups { sql += " GROUP BY c.c\(aggregate.column)" }
        if aggregate.kind == .least, let unordered = aggregate.unordered {
            write(" AND c.c\(aggregate.column) > ?", unordered)
        }
    }

    /// Writes a part with one `?` in it.
    private mutating func write(_ text: String, _ value: IndexValue) {
        sql += text
        bindings.append(.value(value))
    }

    // MARK: Conditions

    private mutating func write(_ condition: ColumnCondition) {
        switch condition {
        case .all(let parts) where parts.isEmpty: sql += "1"
        case .any(let parts) where parts.isEmpty: sql += "0"
        case .all(let parts):
            sql += "("
            writeConjuncts(parts)
            sql += ")"
        case .any(let parts):
            sql += "("
            writeAlternatives(parts)
            sql += ")"
        case .not(let part):
            // A comparison with NULL is NULL in SQL, and false here.
            sql += "("
            write(part)
            sql += ") IS NOT TRUE"
        case .test(let test): write(test)
        }
    }

    /// Of several lists only the shortest is searched for, because SQLite would search for each
    /// combination of their values.
    private mutating func writeConjuncts(_ parts: [ColumnCondition], hasElement: Bool = false) {
        guard parts.contains(where: { $0.listLength > Self.longList }) else {
            return write(parts, " AND ")
        }
        let lists = parts.indices.filter { parts[$0].listLength > 1 }
        let shortest =
            hasElement
            ? -1
            : lists.min {
                parts[$0].listLength < parts[$1].listLength
            }
        write(parts, " AND ", searching: lists.count > 1 || hasElement ? shortest : nil)
    }

    /// Writes many alternatives as lists of entries: SQLite would scan the table for them, or plan
    /// for seconds.
    private mutating func writeAlternatives(_ parts: [ColumnCondition]) {
        guard parts.count > 16 else { return write(parts, " OR ") }
        let rows = rows
        let word = withoutSearch
        let select = "SELECT c.id FROM columns_\(archive) c WHERE "
        for start in stride(from: 0, to: parts.count, by: Self.longCondition) {
            sql += "\(start == 0 ? "" : " OR ")\(word)\(rows).id IN (\(select)"
            self.rows = "c"
            withoutSearch = ""
            write(
                Array(parts[start..<min(start + Self.longCondition, parts.count)]),
                " UNION ALL \(select)"
            )
            self.rows = rows
            withoutSearch = word
            sql += ")"
        }
    }

    private mutating func write(
        _ parts: [ColumnCondition],
        _ word: String,
        searching searched: Int? = nil
    ) {
        let outer = withoutSearch
        for (index, part) in parts.enumerated() {
            if index > 0 { sql += word }
            if let searched, index != searched, part.listLength > 1 { withoutSearch = "+" }
            write(part)
            withoutSearch = outer
        }
    }

    private mutating func write(_ test: ColumnTest) {
        let column = Self.name(test.column)
        switch test.relation {
        case .isNull:
            sql += "\(column) IS NULL"
        case .isEqual(let value):
            sql += column
            write(" = ?", value)
        case .isIn(let values):
            sql += "\(withoutSearch)\(column) IN ("
            write(values)
            sql += ")"
        case .isBetween(nil, nil):
            sql += "\(column) IS NOT NULL"
        case .isBetween(let lower, let upper):
            // In parentheses behind NOT.
            sql += "("
            sql += column
            if let lower { write(lower.isIncluded ? " >= ?" : " > ?", lower.value) }
            if lower != nil, upper != nil {
                sql += " AND "
                sql += column
            }
            if let upper { write(upper.isIncluded ? " <= ?" : " < ?", upper.value) }
            sql += ")"
        case .beginsWith(let start):
            write(column, beginsWith: start)
        case .hasElement(let values):
            // A list of entries and not a correlated subquery, so that SQLite can begin with it.
            sql +=
                """
                \(withoutSearch)\(rows).id IN (SELECT id FROM elements_\(archive)_\(test.column) \
                WHERE value IN (
                """
            write(values)
            sql += "))"
        }
    }

    /// Writes a list of values, in one text for all long ones.
    private mutating func write(_ values: [IndexValue]) {
        guard values.count > Self.longList else {
            for (index, value) in values.enumerated() {
                write(index == 0 ? "?" : ", ?", value)
            }
            return
        }
        write(
            """
            WITH RECURSIVE numbers(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < ?)
            """,
            .integer(Int64(values.count - 1))
        )
        sql += " SELECT \(Connection.itemFunction)(?, i) FROM numbers"
        bindings.append(.list(values))
    }

    /// Texts that begin with the bytes are a range. Whether they begin with the characters, too,
    /// depends on the next scalar: a combining mark would change the last character. No scalar
    /// below U+0300 does that, except a line feed after a carriage return.
    private mutating func write(_ column: String, beginsWith start: String) {
        guard let last = start.unicodeScalars.last else {
            sql += "\(column) IS NOT NULL"
            return
        }
        write("(\(column) >= ?", .text(start))
        sql += " AND \(column) < ? AND ("
        bindings.append(.end(of: start))
        if last.value < 0x300, last != "\r" {
            write(
                "substr(CAST(\(column) AS BLOB), ?, 1) < x'CC' OR ",
                .integer(Int64(start.utf8.count + 1))
            )
        }
        write("\(Connection.beginsFunction)(\(column), ?)))", .text(start))
    }
}

extension ColumnCondition {
    /// How many values, or alternatives, the condition may search for one after the other.
    fileprivate var listLength: Int {
        switch self {
        case .any(let parts): return parts.count
        case .test(let test):
            if case .isIn(let values) = test.relation { return values.count }
            if case .hasElement(let values) = test.relation { return values.count }
            return 1
        case .all, .not: return 1
        }
    }

    /// The collection and the element, if the condition asks for exactly one.
    fileprivate var element: (Int, IndexValue)? {
        guard case .test(let test) = self, case .hasElement(let values) = test.relation,
            values.count == 1
        else { return nil }
        return (test.column, values[0])
    }

    /// Whether the condition asks for a column that is not a collection.
    fileprivate var asksColumns: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.asksColumns)
        case .not(let part): part.asksColumns
        case .test(let test): if case .hasElement = test.relation { false } else { true }
        }
    }
}

// MARK: Running

extension QueryPrinter {
    /// The numbers of the entries that match, in order.
    static func rows(
        of query: ColumnQuery,
        in tables: ArchiveTables,
        validAt now: WallInstant?
    ) throws(SQLiteError) -> [Int64] {
        let find = try bound(.rows, query, tables, validAt: now)
        defer { find.clear() }
        guard let ties = ReversedTies(query) else { return try find.ints() }
        if let found = try ties.rows(
            find,
            most: query.window(ofRows: true).first
        ) {
            return found
        }
        // The last of them are equal to more than were asked for. The limit is the last parameter.
        find.reset()
        find.bind(-1, at: find.parameterCount)
        return try ties.rows(find, most: nil) ?? []
    }

    /// How many entries match.
    static func count(
        of query: ColumnQuery,
        in tables: ArchiveTables,
        validAt now: WallInstant?
    ) throws(SQLiteError) -> Int {
        let count = try bound(.count, query, tables, validAt: now)
        defer { count.clear() }
        return try count.step() ? count.int(0).int : 0
    }

    /// The statement of the query, with its values.
    private static func bound(
        _ purpose: Purpose,
        _ query: ColumnQuery,
        _ tables: ArchiveTables,
        validAt now: WallInstant?
    ) throws(SQLiteError) -> Statement {
        let shape = now == nil ? QueryShape(query, isCount: !purpose.isRows)?.code : nil
        if let shape, let statement = tables.shapes[shape] {
            statement.bindValues(of: query, isOfRows: purpose.isRows)
            return statement
        }
        let printer = QueryPrinter(purpose, of: query, archive: tables.id, validAt: now)
        let statement = try tables.prepared(query: printer.sql)
        statement.bind(printer.bindings)
        if let shape {
            if tables.shapes.count >= 64 { tables.shapes.removeAll() }
            tables.shapes[shape] = statement
        }
        return statement
    }
}

extension QueryPrinter {
    private enum PlanColumn: Int32 { case id, parent, unused, detail }

    /// How SQLite runs the query, one line per table (sqlite.org/eqp.html), and whether it examines
    /// no table row by row.
    func explain(
        _ connection: Connection
    ) throws(SQLiteError) -> (access: [String], usesIndex: Bool) {
        let explain = try connection.prepare("EXPLAIN QUERY PLAN \(sql)")
        explain.bind(bindings)
        var access: [String] = []
        while try explain.step() { access.append(explain.text(PlanColumn.detail) ?? "") }
        // A long list is read step by step, too.
        let lists = ["SCAN CONSTANT ROW", "SCAN numbers"]
        return (
            access,
            !access.contains {
                $0.hasPrefix("SCAN ") && !$0.contains(" USING ") && !lists.contains($0)
            }
        )
    }
}

/// Reads rows in a descending order, in which SQLite returns ties the last one first, and reverses
/// each group of them: SQLite would sort each group by itself, which takes longer than to find it.
struct ReversedTies {
    /// How many columns of the order follow the number of the entry.
    private let columns: Int
    private let offset: Int
    private let limit: Int?

    /// - Returns: `nil` for any other order.
    init?(_ query: ColumnQuery) {
        guard !query.order.isEmpty, query.order.allSatisfy(\.isDescending) else { return nil }
        columns = query.order.count
        offset = query.offset
        limit = query.limit
    }

    /// - Parameter most: How many rows the statement returns at most; `nil` for all.
    /// - Returns: `nil` if the last ties that are needed may be more than those.
    func rows(_ read: Statement, most: Int64?) throws(SQLiteError) -> [Int64]? {
        let end = limit.map(offset.saturatingAdd) ?? .max
        var found = [Int64]()
        var ties = 0
        var place = [IndexValue](repeating: .null, count: columns)
        while try read.step() {
            var isTie = true
            for column in 0..<columns {
                let value = read.indexValue(Int32(column + 1))
                guard value != place[column] else { continue }
                isTie = false
                place[column] = value
            }
            if !isTie {
                found[ties...].reverse()
                ties = found.count
                if ties >= end { return window(of: found) }
            }
            found.append(read.int(0).value)
        }
        if let most, found.count >= most, ties < end { return nil }
        found[ties...].reverse()
        return window(of: found)
    }

    private func window(of found: [Int64]) -> [Int64] {
        Array(found.dropFirst(offset).prefix(limit ?? .max))
    }
}

extension Statement {
    func bind(_ bindings: [QueryPrinter.Binding]) {
        for (index, binding) in bindings.enumerated() {
            switch binding {
            case .value(let value): bind(value, at: Int32(index + 1))
            case .list(let values): bind(items: values, at: Int32(index + 1))
            // The byte FF does not occur in UTF-8.
            case .end(let start):
                bind(text: Array(start.utf8) + [0xFF], at: Int32(index + 1))
            }
        }
    }
}
