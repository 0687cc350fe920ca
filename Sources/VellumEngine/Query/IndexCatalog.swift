public import VellumCore

/// The indexes of a type: their columns, and how to compute the index values of an object.
@usableFromInline package struct IndexCatalog<Value>: Sendable {
    package private(set) var shape = IndexShape()
    /// The names of the indexes that no query can use.
    package var unusable: [String] = []
    private var properties: [Property] = []
    private var collections: [Collection] = []

    fileprivate struct Property {
        var operands: Operands
        var value: (Value) -> IndexValue?
    }

    fileprivate struct Collection {
        var operands: Operands
        /// Each element once.
        var elements: (Value) -> [IndexValue]?
    }

    /// Converts operands of a property to operands of a column.
    fileprivate struct Operands {
        var path: AnyKeyPath
        /// Returns the index value of an operand, or `nil` if it cannot be indexed.
        var indexValue: (Any) -> IndexValue?
        /// The index value of operands that equal nothing, such as NaN.
        var incomparable: IndexValue?

        init<Operand: IndexableValue>(_ path: AnyKeyPath, _ type: Operand.Type) {
            self.path = path
            indexValue = { ($0 as? Operand)?.indexValue }
            incomparable = Operand.incomparableIndexValue
        }
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
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(_ path: KeyPath<Value, Property>, name: String) -> Int {
        addColumn(path, name: name, of: Property.self) { $0[keyPath: path] }
    }

    /// Adds a column for a property that a closure reads, unless there is one, and returns its number.
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(
        _ path: AnyKeyPath, name: String, of type: Property.Type, property: @escaping (Value) -> Property
    ) -> Int {
        if let column = column(of: path) { return column }
        properties.append(.init(operands: Operands(path, type), value: { property($0).indexValue }))
        shape.columns.append(.init(name: name, encoding: type.indexEncoding))
        return properties.count - 1
    }

    /// Adds an index of columns.
    @usableFromInline package mutating func addIndex(_ columns: [Int]) {
        if !shape.indexes.contains(columns) { shape.indexes.append(columns) }
    }

    /// Adds an index with an entry for each element of a collection, unless there is one.
    @usableFromInline package mutating func addCollection<Element: IndexableValue>(
        _ path: AnyKeyPath, name: String, of type: Element.Type, elements: @escaping (Value) -> [Element]
    ) {
        guard !collections.contains(where: { $0.operands.path == path }) else { return }
        let operands = Operands(path, type)
        let incomparable = operands.incomparable
        collections.append(
            .init(operands: operands) { value in
                var found: [IndexValue] = []
                for element in elements(value) {
                    guard let value = element.indexValue else { return nil }
                    // No query finds an element that is `nil` or equals nothing.
                    if value != incomparable, value != .null { found.append(value) }
                }
                guard found.count > 1 else { return found }
                found.sort()
                return found.indices.compactMap { $0 > 0 && found[$0] == found[$0 - 1] ? nil : found[$0] }
            })
        shape.collections.append(.init(name: name, encoding: type.indexEncoding))
    }

    // MARK: Querying

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

    /// Returns the number of the property's column.
    @usableFromInline package func column(of path: AnyKeyPath) -> Int? { properties.firstIndex { $0.operands.path == path } }

    /// Returns the condition on columns that is equivalent to a relation of a property, or `nil` if there is none.
    func condition(_ path: AnyKeyPath, _ relation: PropertyRelation) -> ColumnCondition? {
        if case .hasElement(let element) = relation {
            guard let number = collections.firstIndex(where: { $0.operands.path == path }) else { return nil }
            let operands = collections[number].operands
            return operands.indexValue(element).map { value in
                value == operands.incomparable || value == .null
                    ? .any([]) : .test(ColumnTest(column: number, relation: .hasElement([value])))
            }
        }
        guard let column = column(of: path), let relation = properties[column].operands.relation(relation) else { return nil }
        return relation == .isIn([]) ? .any([]) : .test(ColumnTest(column: column, relation: relation))
    }
}

// Unchecked because the closures are protected by having no state: they capture only key paths and metatypes.
extension IndexCatalog.Property: @unchecked Sendable {}
extension IndexCatalog.Collection: @unchecked Sendable {}

extension IndexCatalog.Operands {
    /// Returns the equivalent relation of a column, or `nil` if there is none.
    fileprivate func relation(_ relation: PropertyRelation) -> ColumnTest.Relation? {
        switch relation {
        case .isNil: return .isNull
        case .isEqual(let value):
            guard let value = indexValue(value) else { return nil }
            return value == incomparable ? .isIn([]) : value == .null ? .isNull : .isEqual(value)
        case .isIn(let values):
            let known = values.compactMap(indexValue)
            // A statement has a limited number of parameters.
            guard known.count == values.count, known.count <= 500, !known.contains(.null) else { return nil }
            return .isIn(known.filter { $0 != incomparable })
        case .isBetween(let lower, let upper):
            return range(lower, upper)
        case .beginsWith(let start):
            guard case .text(let start)? = IndexValue(normalizing: start) else { return nil }
            return .beginsWith(start)
        case .hasElement: return nil
        }
    }

    private func range(_ lower: PropertyRelation.Bound?, _ upper: PropertyRelation.Bound?) -> ColumnTest.Relation? {
        var bounds: [IndexBound?] = []
        for bound in [lower, upper] {
            guard let bound else {
                bounds.append(nil)
                continue
            }
            guard let value = indexValue(bound.value) else { return nil }
            if value == incomparable || value == .null { return .isIn([]) }
            bounds.append(IndexBound(value, isIncluded: bound.isIncluded))
        }
        // Unordered values such as NaN are stored before all others, and are in no range.
        if bounds[0] == nil, let incomparable { bounds[0] = IndexBound(incomparable, isIncluded: false) }
        return .isBetween(lower: bounds[0], upper: bounds[1])
    }
}
