internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Tests of one property, for every language of queries: what an index is asked, and the same asked of a value.
///
/// Of an optional property, `nil` satisfies none of them.
struct PropertyTests<Value, Property> {
    private let path: AnyKeyPath
    /// Turns a question about the property into one about the value.
    private let asked: (@escaping (Property) -> Bool) -> (Value) -> Bool
    /// The same of what is stored of the value; nothing where that cannot be asked.
    private let askedStored: ((@escaping (Property) -> Bool) -> (Data) -> Bool?)?
    /// Holds where the property is `nil`; nothing where it cannot be.
    private let isNothing: Condition<Value>?

    init(_ path: KeyPath<Value, Property>) {
        self.path = path
        asked = { test in { test($0[keyPath: path]) } }
        askedStored = StoredProperty<Property>.of(path, in: Value.self).map { stored in { test in stored.answering(test) } }
        isNothing = (Property.self as? any OptionalProperty.Type).map { $0.isNil(path) }
    }

    init(optional path: KeyPath<Value, Property?>) {
        self.path = path
        asked = { test in { value in value[keyPath: path].map(test) ?? false } }
        askedStored = StoredProperty<Property?>.of(path, in: Value.self).map { stored in
            { test in stored.answering { $0.map(test) ?? false } }
        }
        isNothing = Property?.isNil(path)
    }

    /// A test that no index answers.
    func satisfies(_ test: @escaping (Property) -> Bool) -> Condition<Value> { relation(nil, test) }

    /// What an index answers, unless there is no relation, and the same on values.
    private func relation(_ relation: PropertyRelation?, _ test: @escaping (Property) -> Bool) -> Condition<Value> {
        .test(Test(relation == nil ? nil : path, relation, matches: asked(test), matchesStored: askedStored?(test)))
    }

    /// The opposite, where the property is not `nil`.
    private func opposite(_ condition: Condition<Value>) -> Condition<Value> {
        isNothing.map { .all([.not(condition), .not($0)]) } ?? .not(condition)
    }

    private func indexed(_ operand: Property) -> Any { IndexOperand.of(operand, in: type(of: path).valueType) }

    // MARK: Nil

    var isNil: Condition<Value> { isNothing ?? .any([]) }
    var isNotNil: Condition<Value> { isNothing.map { .not($0) } ?? .all([]) }
}

// MARK: Equality

extension PropertyTests where Property: Equatable {
    func isEqual(_ operand: Property) -> Condition<Value> {
        guard !isNilValue(operand) else { return isNil }
        return relation(.isEqual(indexed(operand))) { $0 == operand }
    }

    /// Not equal to the operand, and not `nil`; for `nil`, not `nil`.
    func isNotEqual(_ operand: Property) -> Condition<Value> {
        guard !isNilValue(operand) else { return isNotNil }
        return opposite(isEqual(operand))
    }

    /// One of the operands.
    func isOne(of operands: some Sequence<Property>, contains: @escaping (Property) -> Bool) -> Condition<Value> {
        let operands = Array(operands)
        let known = operands.contains(where: isNilValue) ? nil : PropertyRelation.isIn(operands.map(indexed))
        return relation(known, contains)
    }
}

// MARK: Ranges

extension PropertyTests where Property: Comparable {
    func less(than operand: Property) -> Condition<Value> {
        relation(range(nil, .init(operand, isIncluded: false)), texts { $0(operand) < 0 } ?? { $0 < operand })
    }

    func lessOrEqual(_ operand: Property) -> Condition<Value> {
        relation(range(nil, .init(operand, isIncluded: true)), texts { $0(operand) <= 0 } ?? { $0 <= operand })
    }

    func greater(than operand: Property) -> Condition<Value> {
        relation(range(.init(operand, isIncluded: false), nil), texts { $0(operand) > 0 } ?? { $0 > operand })
    }

    func greaterOrEqual(_ operand: Property) -> Condition<Value> {
        relation(range(.init(operand, isIncluded: true), nil), texts { $0(operand) >= 0 } ?? { $0 >= operand })
    }

    func isIn(_ range: Range<Property>) -> Condition<Value> {
        let bounds = self.range(.init(range.lowerBound, isIncluded: true), .init(range.upperBound, isIncluded: false))
        return relation(bounds, texts { $0(range.lowerBound) >= 0 && $0(range.upperBound) < 0 } ?? { range.contains($0) })
    }

    func isIn(_ range: ClosedRange<Property>) -> Condition<Value> {
        let bounds = self.range(.init(range.lowerBound, isIncluded: true), .init(range.upperBound, isIncluded: true))
        return relation(bounds, texts { $0(range.lowerBound) >= 0 && $0(range.upperBound) <= 0 } ?? { range.contains($0) })
    }

    /// A test of strings, in the order that an index keeps; nothing for other properties.
    ///
    /// - Parameter test: Is given how the property compares with something.
    private func texts(_ test: @escaping ((Property) -> Int) -> Bool) -> ((Property) -> Bool)? {
        guard Property.self == String.self else { return nil }
        let compare = PropertyOrder.comparison(of: Property.self)
        return { property in test { compare(property, $0) } }
    }

    private func range(_ lower: PropertyRelation.Bound?, _ upper: PropertyRelation.Bound?) -> PropertyRelation? {
        PropertyOrder.isThatOfIndex(Property.self) ? .isBetween(lower: lower, upper: upper) : nil
    }
}

// MARK: Collections

extension PropertyTests where Property: Sequence, Property.Element: Equatable {
    func contains(_ element: Property.Element) -> Condition<Value> {
        relation(isNilValue(element) ? nil : .hasElement(IndexOperand.of(element, in: Property.Element.self))) { $0.contains(element) }
    }

    func containsAny(of elements: some Sequence<Property.Element>) -> Condition<Value> { .any(elements.map(contains)) }

    func containsAll(of elements: some Sequence<Property.Element>) -> Condition<Value> {
        let conditions = elements.map(contains)
        return conditions.isEmpty ? isNotNil : .all(conditions)
    }
}

extension PropertyTests where Property: Collection {
    var isEmpty: Condition<Value> { relation(emptiness) { $0.isEmpty } }
    var isNotEmpty: Condition<Value> { opposite(isEmpty) }

    private var emptiness: PropertyRelation? {
        if Property.self == String.self { return .isEqual("") }
        if Property.self == Data.self { return .isEqual(Data()) }
        return nil
    }
}

// MARK: Strings

extension PropertyTests where Property == String {
    func starts(with start: String) -> Condition<Value> { relation(.beginsWith(start)) { $0.starts(with: start) } }

    func contains(_ part: StringPart) -> Condition<Value> { satisfies { part.isContained(in: $0) } }
}
