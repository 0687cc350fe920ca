public import VellumCore

/// The indexes of a type: their columns, and how to compute the index values of an object.
@usableFromInline package struct IndexCatalog<Value>: Sendable {
    package var shape = IndexShape()
    /// The names of the indexes that no query can use.
    package var unusable: [String] = []
    /// The columns as queries see them.
    private(set) var columns = IndexColumns()
    private var properties: [Property] = []
    private var collections: [Collection] = []

    fileprivate struct Property {
        var value: (Value) -> IndexValue?
    }

    fileprivate struct Collection {
        /// Each element once.
        var elements: (Value) -> [IndexValue]?
    }

    @usableFromInline package init() {}

    /// Whether nothing is indexed.
    @usableFromInline package var isEmpty: Bool { shape.hasNoIndexes }

    /// The version of the type.
    @usableFromInline package var version: Int64 {
        get { shape.version }
        set { shape.version = newValue }
    }

    // MARK: Declaring

    /// Adds a column for a property, unless there is one, and returns its number.
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(
        _ path: KeyPath<Value, Property>,
        name: String
    ) -> Int {
        addColumn(path, name: name, of: Property.self) { $0[keyPath: path] }
    }

    /// Adds a column for a property that a closure reads, unless there is one, and returns its
    /// number.
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(
        _ path: AnyKeyPath,
        name: String,
        of type: Property.Type,
        property: @escaping (Value) -> Property
    ) -> Int {
        if let column = columns.column(of: path) { return column }
        columns.properties.append(.init(path, type))
        properties.append(.init { property($0).indexValue })
        shape.columns.append(.init(name: name, encoding: type.indexEncoding))
        return properties.count - 1
    }

    /// Adds an index of columns.
    @usableFromInline package mutating func addIndex(_ columns: [Int]) {
        if !shape.indexes.contains(columns) { shape.indexes.append(columns) }
    }

    /// Adds an index with an entry for each element of a collection, unless there is one.
    @usableFromInline package mutating func addCollection<Element: IndexableValue>(
        _ path: AnyKeyPath,
        name: String,
        of type: Element.Type,
        elements: @escaping (Value) -> [Element]
    ) {
        guard columns.collection(of: path) == nil else { return }
        let operands = IndexColumns.Operands(path, type)
        let incomparable = operands.incomparable
        columns.collections.append(operands)
        collections.append(
            .init { value in
                var found: [IndexValue] = []
                for element in elements(value) {
                    guard let value = element.indexValue else { return nil }
                    // No query finds an element that is `nil` or equals nothing.
                    if value != incomparable, value != .null { found.append(value) }
                }
                guard found.count > 1 else { return found }
                found.sort()
                return found.indices.compactMap {
                    $0 > 0 && found[$0] == found[$0 - 1] ? nil : found[$0]
                }
            }
        )
        shape.collections.append(.init(name: name, encoding: type.indexEncoding))
    }

    // MARK: Querying

    /// Returns the number of the property's column.
    package func column(of path: AnyKeyPath) -> Int? { columns.column(of: path) }

    /// Returns the index values of an object, or `nil` if one of them cannot be indexed.
    @usableFromInline package func values(of value: Value) -> IndexedValues? {
        var values = IndexedValues()
        values.columns.reserveCapacity(properties.count)
        for property in properties {
            guard let found = property.value(value) else { return nil }
            values.columns.append(found)
        }
        for collection in collections {
            guard let found = collection.elements(value) else { return nil }
            values.elements.append(found)
        }
        return values
    }
}

// Unchecked because the closures are protected by having no state: they capture only key paths and
// metatypes.
extension IndexCatalog.Property: @unchecked Sendable {}
extension IndexCatalog.Collection: @unchecked Sendable {}

// MARK: Columns

/// The columns of an archive as queries see them: which property each has, and how operands of the
/// property become operands of the column.
///
/// Not generic: generic code that is not specialized spends most of its time on looking up types.
struct IndexColumns: Sendable {
    /// The properties with a column, by the number of the column.
    var properties: [Operands] = []
    /// The collections with an index, by their number.
    var collections: [Operands] = []

    var isEmpty: Bool { properties.isEmpty && collections.isEmpty }

    /// Converts operands of a property to operands of a column.
    struct Operands {
        let path: AnyKeyPath
        /// Returns the index value of an operand, or `nil` if it cannot be indexed.
        let indexValue: (Any) -> IndexValue?
        /// The index value of operands that equal nothing, such as NaN.
        let incomparable: IndexValue?

        init<Operand: IndexableValue>(_ path: AnyKeyPath, _ type: Operand.Type) {
            self.path = path
            indexValue = { ($0 as? Operand)?.indexValue }
            incomparable = Operand.incomparableIndexValue
        }
    }

    /// Returns the number of the property's column.
    func column(of path: AnyKeyPath) -> Int? { properties.number(of: path) }

    /// Returns the number of the collection.
    func collection(of path: AnyKeyPath) -> Int? { collections.number(of: path) }

    /// Whether an index may have the property by another key path: Swift does not say which
    /// property a computed one is, such as that of a protocol by which generic code reads a stored
    /// one.
    func mayHave(_ path: AnyKeyPath) -> Bool {
        func isUnnamed(_ path: AnyKeyPath) -> Bool { path.debugDescription.contains("<computed") }
        let all = properties + collections
        guard !all.contains(where: { $0.path == path }) else { return false }
        return all.contains {
            type(of: $0.path).valueType == type(of: path).valueType
                && (isUnnamed($0.path) || isUnnamed(path))
        }
    }

    /// Returns the condition on columns that is equivalent to the relation of a property, or `nil`
    /// if there is none.
    func condition(_ path: AnyKeyPath, _ relation: PropertyRelation) -> ColumnCondition? {
        if case .hasElement(let elements) = relation {
            guard let number = collection(of: path) else { return nil }
            let values = elements.compactMap(collections[number].indexValue)
            guard values.count == elements.count else { return nil }
            let found = values.filter { $0 != collections[number].incomparable && $0 != .null }
            return found.isEmpty
                ? .any([])
                : .test(ColumnTest(column: number, relation: .hasElement(found)))
        }
        guard let column = column(of: path), let relation = properties[column].relation(relation)
        else { return nil }
        return relation == .isIn([])
            ? .any([]) : .test(ColumnTest(column: column, relation: relation))
    }
}

// Unchecked because the closures are protected by having no state: they capture only metatypes.
extension IndexColumns.Operands: @unchecked Sendable {}

extension [IndexColumns.Operands] {
    fileprivate func number(of path: AnyKeyPath) -> Int? {
        // The key path of a query is often the object that was declared, and comparing two takes
        // longer.
        firstIndex { $0.path === path } ?? firstIndex { $0.path == path }
    }
}

extension IndexColumns.Operands {
    /// Returns the equivalent relation of a column, or `nil` if there is none.
    fileprivate func relation(_ relation: PropertyRelation) -> ColumnTest.Relation? {
        switch relation {
        case .isNil: return .isNull
        case .isEqual(let value):
            guard let value = indexValue(value) else { return nil }
            return value == incomparable ? .isIn([]) : value == .null ? .isNull : .isEqual(value)
        case .isIn(let values):
            let known = values.compactMap(indexValue)
            guard known.count == values.count, !known.contains(.null) else { return nil }
            return .isIn(known.filter { $0 != incomparable })
        case .isBetween(let lower, let upper):
            return range(lower, upper)
        case .beginsWith(let start):
            guard case .text(let start)? = IndexValue(normalizing: start) else { return nil }
            return .beginsWith(start)
        case .hasElement: return nil
        }
    }

    private func range(
        _ lower: PropertyRelation.Bound?,
        _ upper: PropertyRelation.Bound?
    ) -> ColumnTest.Relation? {
        // Unordered values such as NaN are stored before all others, and are in no range.
        var first: IndexBound? = incomparable.map { IndexBound($0, isIncluded: false) }
        var last: IndexBound? = nil
        if let lower {
            guard let value = indexValue(lower.value) else { return nil }
            if value == incomparable || value == .null { return .isIn([]) }
            first = IndexBound(value, isIncluded: lower.isIncluded)
        }
        if let upper {
            guard let value = indexValue(upper.value) else { return nil }
            if value == incomparable || value == .null { return .isIn([]) }
            last = IndexBound(value, isIncluded: upper.isIncluded)
        }
        return .isBetween(lower: first, upper: last)
    }
}
