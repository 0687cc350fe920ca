package import VellumCore

/// What an aggregate computes of the values of a property.
package enum AggregateKind: Sendable { case sum, least, greatest, groups }

/// An aggregate of a property.
package struct PropertyAggregate {
    package var property: AnyKeyPath
    /// `nil` if only decoded values determine it.
    package var kind: AggregateKind?
    /// What it is called.
    package var name: String

    package init(_ name: String, of property: AnyKeyPath, _ kind: AggregateKind?) {
        self.name = name
        self.property = property
        self.kind = kind
    }

    var description: String { "\(name) of \(property.debugDescription)" }
}

/// The result of an aggregate of a column.
package enum AggregateAnswer: Sendable {
    case sum(ExactSum)
    /// The least or the greatest value; `null` if there is none. Unordered ones come after all
    /// others.
    case value(IndexValue)
    /// Each value, and how many entries have it.
    case groups([(value: IndexValue, count: Int)])
}

/// An aggregate of a column.
struct ColumnAggregate: Sendable {
    var kind: AggregateKind
    var column: Int
    /// The value of those that are unordered, if the column may have some. It is stored before all
    /// others.
    var unordered: IndexValue?
    var numbers = ColumnSum.Numbers.integer
    /// Whether an index begins with the column.
    var isFirst = false
}

extension ColumnAggregate {
    /// Creates the aggregate of the property's column; `nil` if there is none, or it does not
    /// determine the aggregate.
    init?(_ aggregate: PropertyAggregate, _ columns: IndexColumns, _ shape: IndexShape) {
        guard let kind = aggregate.kind, let column = columns.column(of: aggregate.property) else {
            return nil
        }
        self.init(kind: kind, column: column, unordered: columns.properties[column].incomparable)
        guard kind == .sum else { return }
        isFirst = shape.indexes.contains { $0.first == column }
        let encoding = shape.columns[column].encoding
        guard
            let numbers = ColumnSum.Numbers(
                rawValue: encoding.last == "?" ? String(encoding.dropLast()) : encoding
            )
        else { return nil }
        self.numbers = numbers
    }

    /// What is selected.
    var expression: String {
        switch kind {
        case .sum: "\(Connection.sumFunction)(c.c\(column))"
        case .least: "min(c.c\(column))"
        case .greatest: "max(c.c\(column))"
        case .groups: "c.c\(column), count(*)"
        }
    }
}

extension QueryPrinter {
    private enum Column: Int32 { case value, count }

    /// Runs the statement of the aggregate; `nil` if the file is damaged.
    func run(
        _ aggregate: ColumnAggregate,
        _ tables: ArchiveTables
    ) throws(SQLiteError) -> AggregateAnswer? {
        let sum = aggregate.kind == .sum ? try tables.connection.columnSum() : nil
        sum?.pointee.numbers = aggregate.numbers
        let find = try tables.prepared(query: sql)
        defer { find.clear() }
        find.bind(bindings)
        var groups: [(value: IndexValue, count: Int)] = []
        while try find.step() {
            groups.append(
                (
                    find.indexValue(Column.value.rawValue),
                    aggregate.kind == .groups ? find.int(Column.count).int : 0
                )
            )
        }
        switch aggregate.kind {
        case .sum: return sum?.pointee.result.map { .sum($0) }
        case .least, .greatest: return .value(groups.first?.value ?? .null)
        case .groups: return .groups(groups)
        }
    }
}
