internal import VellumCore

/// The columns of an archive as queries see them: which property each has, and how operands of the property become operands of the column.
///
/// Not generic, like all planning: generic code that is not specialized spends most of its time on looking up types.
struct IndexColumns: Sendable {
    /// The properties with a column, by the number of the column.
    var properties: [Operands] = []
    /// The collections with an index, by their number.
    var collections: [Operands] = []

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

    /// Returns the condition on columns that is equivalent to a relation of a property, or `nil` if there is none.
    func condition(_ path: AnyKeyPath, _ relation: PropertyRelation) -> ColumnCondition? {
        if case .hasElement(let element) = relation {
            guard let number = collection(of: path) else { return nil }
            let operands = collections[number]
            return operands.indexValue(element).map { value in
                value == operands.incomparable || value == .null
                    ? .any([]) : .test(ColumnTest(column: number, relation: .hasElement([value])))
            }
        }
        guard let column = column(of: path), let relation = properties[column].relation(relation) else { return nil }
        return relation == .isIn([]) ? .any([]) : .test(ColumnTest(column: column, relation: relation))
    }
}

// Unchecked because the closures are protected by having no state: they capture only metatypes.
extension IndexColumns.Operands: @unchecked Sendable {}

extension [IndexColumns.Operands] {
    fileprivate func number(of path: AnyKeyPath) -> Int? {
        // The key path of a query is often the object that was declared, and comparing two takes longer.
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
        // Unordered values such as NaN are stored before all others, and are in no range.
        var (first, last): (IndexBound?, IndexBound?) = (incomparable.map { IndexBound($0, isIncluded: false) }, nil)
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
