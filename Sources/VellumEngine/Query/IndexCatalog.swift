public import VellumCore

/// The indexes of a type: their columns, and how to compute the index values of an object.
@usableFromInline package struct IndexCatalog<Value>: Sendable {
    package private(set) var shape = IndexShape()
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
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(_ path: KeyPath<Value, Property>, name: String) -> Int {
        addColumn(path, name: name, of: Property.self) { $0[keyPath: path] }
    }

    /// Adds a column for a property that a closure reads, unless there is one, and returns its number.
    @usableFromInline package mutating func addColumn<Property: IndexableValue>(
        _ path: AnyKeyPath, name: String, of type: Property.Type, property: @escaping (Value) -> Property
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
        _ path: AnyKeyPath, name: String, of type: Element.Type, elements: @escaping (Value) -> [Element]
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
                return found.indices.compactMap { $0 > 0 && found[$0] == found[$0 - 1] ? nil : found[$0] }
            })
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

// Unchecked because the closures are protected by having no state: they capture only key paths and metatypes.
extension IndexCatalog.Property: @unchecked Sendable {}
extension IndexCatalog.Collection: @unchecked Sendable {}
