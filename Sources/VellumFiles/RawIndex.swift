internal import CBORCoding
internal import Foundation
internal import VellumCore
internal import VellumEngine

/// The index of an archive as its file describes it, by which queries of fields are answered: the
/// catalog of a type that is not known (decision 79).
///
/// A column has the name of a property, and a field that of its coding key. Whether they are the
/// same is asked of the newest objects.
struct RawIndex {
    private let shape: IndexShape
    /// The columns and collections whose values are those of the fields of their names.
    private var usable: (columns: Set<Int>, collections: Set<Int>)

    /// Reads a definition (``IndexShape/definition``); `nil` if it is none that this version
    /// writes.
    init?(definition: String) {
        var parts = definition.components(separatedBy: ";")[...]
        var shape = IndexShape()
        guard parts.popFirst() == "1", let each = parts.lastIndex(of: "each"),
            each > parts.startIndex
        else { return nil }
        shape.columns = Self.columns(parts[..<(each - 1)])
        for index in parts[each - 1].dropFirst().dropLast().components(separatedBy: ")(")
        where !index.isEmpty {
            shape.indexes.append(index.split(separator: ",").compactMap { Int($0) })
        }
        parts = parts[(each + 1)...]
        if let last = parts.last,
            last.hasPrefix("version "),
            let version = Int64(last.dropFirst(8))
        {
            shape.version = version
            parts = parts.dropLast()
        }
        shape.collections = Self.columns(parts)
        guard shape.definition == definition,
            shape.indexes.joined().allSatisfy(shape.columns.indices.contains)
        else { return nil }
        self.shape = shape
        usable = (Self.distinct(shape.columns), Self.distinct(shape.collections))
    }

    /// That of an archive without an index.
    static let none = RawIndex()

    private init() {
        shape = IndexShape()
        usable = ([], [])
    }

    /// The first column of each field: a file may name one twice.
    private static func distinct(_ columns: [IndexShape.Column]) -> Set<Int> {
        var fields: Set<FieldPath> = []
        return Set(
            columns.indices.filter {
                fields.insert(FieldPath(columnNamed: columns[$0].name)).inserted
            }
        )
    }

    private static func columns(_ parts: ArraySlice<String>) -> [IndexShape.Column] {
        parts.compactMap { part in
            guard let colon = part.lastIndex(of: ":") else { return nil }
            return IndexShape.Column(
                name: String(part[..<colon]),
                encoding: String(part[part.index(after: colon)...])
            )
        }
    }

    func hasColumns(_ columns: Int, collections: Int) -> Bool {
        (shape.columns.count, shape.collections.count) == (columns, collections)
    }

    /// The indexes, as a listing shows them.
    var indexes: [RawArchive.Index] {
        shape.indexes.map {
            .init(properties: $0.map { shape.columns[$0].name }, isOfElements: false)
        }
            + shape.collections.map { .init(properties: [$0.name], isOfElements: true) }
    }

    /// The fields that are dates.
    var dateFields: Set<String> {
        Set(
            usable.columns.filter { shape.columns[$0].scalar == .date }.map {
                FieldPath(columnNamed: shape.columns[$0].name).description
            }
        )
    }

    /// Leaves out the columns whose values are not those of the fields of these objects.
    mutating func compare(with samples: [(object: CBORValue, indexed: IndexedValues)]) {
        let catalog = catalog
        for sample in samples {
            let values = catalog.values(of: sample.object)
            usable.columns = usable.columns.filter {
                values?.columns[$0] == sample.indexed.columns[$0]
            }
            usable.collections = usable.collections.filter {
                values?.elements[$0] == sample.indexed.elements[$0]
            }
        }
    }

    // MARK: The catalog

    /// The indexes of objects as fields. Columns that cannot be used have a path that no query has.
    var catalog: IndexCatalog<CBORValue> {
        var catalog = IndexCatalog<CBORValue>()
        for (number, column) in shape.columns.enumerated() {
            Self.add(
                column,
                to: &catalog,
                usable.columns.contains(number)
                    ? Self.path(column.name) : \CBORValue.[unused: number]
            )
            catalog.shape.columns[number].encoding = column.encoding
        }
        for index in shape.indexes { catalog.addIndex(index) }
        for (number, column) in shape.collections.enumerated() {
            let isUsable = usable.collections.contains(number) && column.scalar != nil
            let path = isUsable ? Self.path(column.name) : \CBORValue.[unused: -1 - number]
            Self.addElements(of: column, to: &catalog, path)
            catalog.shape.collections[number].encoding = column.encoding
        }
        catalog.version = shape.version
        return catalog
    }

    private static func path(_ name: String) -> KeyPath<CBORValue, CBORValue?> {
        \CBORValue.[field: FieldPath(columnNamed: name)]
    }

    private static func add(
        _ column: IndexShape.Column,
        to catalog: inout IndexCatalog<CBORValue>,
        _ path: KeyPath<CBORValue, CBORValue?>
    ) {
        func add<Value: IndexableScalar>(_ zero: Value, _ read: @escaping (CBORValue) -> Value?) {
            guard column.encoding.hasSuffix("?") else {
                _ = catalog.addColumn(path, name: column.name, of: Value.self) {
                    $0[keyPath: path].flatMap(read) ?? zero
                }
                return
            }
            _ = catalog.addColumn(path, name: column.name, of: Value?.self) {
                $0[keyPath: path].flatMap(read)
            }
        }
        switch column.scalar {
        case .text: add("", \.indexedText)
        case .integer: add(0, \.indexedInteger)
        case .unsigned: add(UInt(0), \.indexedUnsigned)
        case .number: add(Double(0), \.indexedNumber)
        case .date: add(Date(timeIntervalSinceReferenceDate: 0), \.indexedDate)
        case .bool: add(false, \.indexedBool)
        case .uuid:
            add(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))) {
                PlainValue($0).text.flatMap(UUID.init)
            }
        case nil:
            add(false) { _ in nil }
        }
    }

    private static func addElements(
        of column: IndexShape.Column,
        to catalog: inout IndexCatalog<CBORValue>,
        _ path: KeyPath<CBORValue, CBORValue?>
    ) {
        func add<Value: IndexableScalar>(
            _ type: Value.Type,
            _ read: @escaping (CBORValue) -> Value?
        ) {
            catalog.addCollection(path, name: column.name, of: Value?.self) { object in
                guard case .array(let elements)? = object[keyPath: path] else { return [] }
                return elements.map(read)
            }
        }
        switch column.scalar {
        case .text: add(String.self, \.indexedText)
        case .integer: add(Int.self, \.indexedInteger)
        case .unsigned: add(UInt.self, \.indexedUnsigned)
        case .number: add(Double.self, \.indexedNumber)
        case .date: add(Date.self, \.indexedDate)
        case .bool: add(Bool.self, \.indexedBool)
        case .uuid: add(UUID.self) { PlainValue($0).text.flatMap(UUID.init) }
        case nil:
            add(Bool.self) { _ in nil }
        }
    }

    // MARK: Queries

    /// The query for the engine, which answers by the index what it can.
    func description(of query: RawQuery) -> QueryDescription<CBORValue> {
        var steps: [QueryDescription<CBORValue>.Step] = []
        let condition: ValueCondition<CBORValue> = query.condition.replacingTests {
            .test(self.test($0))
        }
        if !condition.conjuncts.isEmpty { steps.append(.filter(condition)) }
        if !query.sorts.isEmpty {
            steps.append(.sort(query.sorts.map(Self.ordering)))
        }
        if query.offset > 0 { steps.append(.skip(query.offset)) }
        if let limit = query.limit { steps.append(.limit(limit)) }
        return QueryDescription(steps)
    }

    private static func ordering(_ sort: RawQuery.Sort) -> Ordering<CBORValue> {
        let path = path(sort.field)
        return Ordering(path, isDescending: sort.isDescending) { left, right in
            let order = Scalar.compare(left[keyPath: path], right[keyPath: path])
            return sort.isDescending ? -order : order
        }
    }

    private static func path(_ field: FieldPath) -> KeyPath<CBORValue, CBORValue?> {
        \CBORValue.[field: field]
    }

    private func test(_ test: FieldTest) -> Test<CBORValue> {
        let relation = relation(of: test)
        return Test(
            relation == nil ? nil : Self.path(test.field),
            relation,
            matches: test.matches
        )
    }

    /// The relation of a column that is equivalent to a test; `nil` if there is none.
    private func relation(of test: FieldTest) -> PropertyRelation? {
        if case .contains(let literal) = test.relation {
            guard let list = column(test.field, in: shape.collections, usable.collections) else {
                return nil
            }
            return list.operand(literal).map { .hasElement([$0]) }
        }
        guard let column = column(test.field, in: shape.columns, usable.columns) else { return nil }
        switch test.relation {
        case .isNull: return .isNil
        case .isEqual(let literal): return column.operand(literal).map(PropertyRelation.isEqual)
        case .isIn(let literals):
            let operands = literals.compactMap(column.operand)
            return operands.count == literals.count ? .isIn(operands) : nil
        case .isLess(let literal, let orEqual):
            return column.operand(literal).map {
                .isBetween(lower: nil, upper: .init($0, isIncluded: orEqual))
            }
        case .isGreater(let literal, let orEqual):
            return column.operand(literal).map {
                .isBetween(lower: .init($0, isIncluded: orEqual), upper: nil)
            }
        case .begins(let start): return column.scalar == .text ? .beginsWith(start) : nil
        case .contains: return nil
        }
    }

    private func column(
        _ field: FieldPath,
        in columns: [IndexShape.Column],
        _ usable: Set<Int>
    ) -> IndexShape.Column? {
        columns.indices.first {
            usable.contains($0) && FieldPath(columnNamed: columns[$0].name) == field
        }.map { columns[$0] }
    }
}

extension FieldPath {
    /// The field of a property: `address?.city` is `address.city`.
    fileprivate init(columnNamed name: String) {
        self.init(
            names: name.split(separator: ".").map {
                String(
                    $0.drop {
                        "?!".contains($0)
                    }.reversed().drop { "?!".contains($0) }.reversed()
                )
            }
        )
    }
}

/// The kinds of values of which an index can be used without the type.
private enum IndexedScalar {
    case text, integer, unsigned, number, date, bool, uuid
}

extension IndexShape.Column {
    fileprivate var scalar: IndexedScalar? {
        switch encoding.hasSuffix("?") ? String(encoding.dropLast()) : encoding {
        case "String": .text
        case "integer": .integer
        case "unsigned": .unsigned
        case "number": .number
        case "Date": .date
        case "Bool": .bool
        case "UUID": .uuid
        default: nil
        }
    }

    /// The operand of a query for the values of the column; `nil` if they cannot be compared with
    /// it by the index.
    fileprivate func operand(_ literal: Literal) -> Any? {
        switch (scalar, literal) {
        case (.text, .text(let text)): text
        case (.integer, .integer(let integer)): Int(exactly: integer)
        case (.unsigned, .integer(let integer)): UInt(exactly: integer)
        case (.number, .integer(let integer)): Double(exactly: integer)
        case (.number, .number(let number)): number
        case (.date, .date(let date)): date
        case (.bool, .bool(let bool)): bool
        case (.uuid, .text(let text)):
            UUID(uuidString: text).flatMap { $0.uuidString == text ? $0 : nil }
        default: nil
        }
    }
}

// The fields as typed properties have them.

extension CBORValue {
    /// Stands for a column that no query may use.
    fileprivate subscript(unused number: Int) -> CBORValue? { nil }

    fileprivate var indexedText: String? { PlainValue(self).text }
    fileprivate var indexedInteger: Int? { intValue }
    fileprivate var indexedUnsigned: UInt? {
        if case .integer(let integer) = self { UInt(exactly: integer) } else { nil }
    }
    fileprivate var indexedBool: Bool? { if case .bool(let value) = self { value } else { nil } }
    fileprivate var indexedDate: Date? {
        PlainValue(self).date ?? indexedNumber.map(Date.init(timeIntervalSinceReferenceDate:))
    }
    fileprivate var indexedNumber: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .float(let number): number
        default: nil
        }
    }
}
