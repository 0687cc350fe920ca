internal import Foundation
internal import VellumCore
internal import VellumEngine

/// Conditions on one property, for predicates and finders. Each is a relation for an index and the
/// equivalent test of a value.
///
/// A property that is `nil` is equal to `nil` alone: it satisfies the tests for `nil` and
/// ``isNotEqual(_:)``, and none of the others.
struct PropertyTests<Value, Property> {
    private enum Path {
        case property(KeyPath<Value, Property>)
        case optional(KeyPath<Value, Property?>)
    }

    private let path: Path

    init(_ path: KeyPath<Value, Property>) { self.path = .property(path) }

    init(optional path: KeyPath<Value, Property?>) { self.path = .optional(path) }

    private var anyPath: AnyKeyPath {
        switch path {
        case .property(let path): path
        case .optional(let path): path
        }
    }

    /// The condition that the property is `nil`; `nil` if it is not optional.
    private var nilCondition: ValueCondition<Value>? {
        switch path {
        case .property(let path):
            (Property.self as? any AnyOptional.Type).map { $0.isNil(path) }
        case .optional(let path): Property?.isNil(path)
        }
    }

    /// Converts a test of the property to a test of the value.
    private func valueTest(_ test: @escaping (Property) -> Bool) -> (Value) -> Bool {
        switch path {
        case .property(let path): { test($0[keyPath: path]) }
        case .optional(let path):
            { value in
                value[keyPath: path].map(test) ?? false
            }
        }
    }

    /// Returns a condition that no index answers.
    func satisfies(_ test: @escaping (Property) -> Bool) -> ValueCondition<Value> {
        relation(nil, test)
    }

    /// Returns a condition that an index answers if there is a relation. The test must be
    /// equivalent to the relation.
    private func relation(
        _ relation: PropertyRelation?,
        _ test: @escaping (Property) -> Bool
    ) -> ValueCondition<Value> {
        .test(Test(relation == nil ? nil : anyPath, relation, matches: valueTest(test)))
    }

    private func indexOperand(_ operand: Property) -> Any {
        IndexOperand.of(operand, in: type(of: anyPath).valueType)
    }

    // MARK: Nil

    var isNil: ValueCondition<Value> { nilCondition ?? .any([]) }
    var isNotNil: ValueCondition<Value> {
        nilCondition.map { .not($0) } ?? .all([])
    }
}

// MARK: Equality

extension PropertyTests where Property: Equatable {
    func isEqual(_ operand: Property) -> ValueCondition<Value> {
        guard !isNilValue(operand) else { return isNil }
        return relation(.isEqual(indexOperand(operand))) { $0 == operand }
    }

    /// Not equal to the operand. `nil` is not equal to any other operand.
    func isNotEqual(_ operand: Property) -> ValueCondition<Value> { .not(isEqual(operand)) }

    /// Equal to one of the operands.
    func isOne(of operands: some Sequence<Property>) -> ValueCondition<Value> {
        let all = Array(operands)
        let type = type(of: anyPath).valueType
        let operands = Property.self is any AnyOptional.Type ? all.filter { !isNilValue($0) } : all
        let isPlain = type is any IndexableValue.Type
        let isFound = relation(
            .isIn(operands.map { isPlain ? $0 : IndexOperand.of($0, in: type) }),
            membership(in: operands)
        )
        return operands.count == all.count ? isFound : .any([isFound, isNil])
    }
}

// MARK: Ranges

extension PropertyTests where Property: Comparable {
    func less(than operand: Property) -> ValueCondition<Value> {
        relation(
            range(nil, .init(operand, isIncluded: false)),
            stringTest { $0(operand) < 0 } ?? { $0 < operand }
        )
    }

    func lessOrEqual(_ operand: Property) -> ValueCondition<Value> {
        relation(
            range(nil, .init(operand, isIncluded: true)),
            stringTest { $0(operand) <= 0 } ?? { $0 <= operand }
        )
    }

    func greater(than operand: Property) -> ValueCondition<Value> {
        relation(
            range(.init(operand, isIncluded: false), nil),
            stringTest { $0(operand) > 0 } ?? { $0 > operand }
        )
    }

    func greaterOrEqual(_ operand: Property) -> ValueCondition<Value> {
        relation(
            range(.init(operand, isIncluded: true), nil),
            stringTest { $0(operand) >= 0 } ?? { $0 >= operand }
        )
    }

    func isIn(_ range: Range<Property>) -> ValueCondition<Value> {
        let bounds = self.range(
            .init(range.lowerBound, isIncluded: true),
            .init(range.upperBound, isIncluded: false)
        )
        return relation(
            bounds,
            stringTest { $0(range.lowerBound) >= 0 && $0(range.upperBound) < 0 } ?? {
                range.contains($0)
            }
        )
    }

    func isIn(_ range: ClosedRange<Property>) -> ValueCondition<Value> {
        let bounds = self.range(
            .init(range.lowerBound, isIncluded: true),
            .init(range.upperBound, isIncluded: true)
        )
        return relation(
            bounds,
            stringTest { $0(range.lowerBound) >= 0 && $0(range.upperBound) <= 0 } ?? {
                range.contains($0)
            }
        )
    }

    /// Returns a test of strings in the order of an index, or `nil` for other properties.
    ///
    /// - Parameter test: Receives a function that compares the property with an operand.
    private func stringTest(
        _ test: @escaping ((Property) -> Int) -> Bool
    ) -> ((Property) -> Bool)? {
        guard Property.self == String.self else { return nil }
        let compare = PropertyOrder.comparison(of: Property.self)
        return { property in test { compare(property, $0) } }
    }

    private func range(
        _ lower: PropertyRelation.Bound?,
        _ upper: PropertyRelation.Bound?
    ) -> PropertyRelation? {
        PropertyOrder.matchesIndexOrder(Property.self)
            ? .isBetween(lower: lower, upper: upper) : nil
    }
}

// MARK: Collections

extension PropertyTests where Property: Sequence, Property.Element: Equatable {
    func contains(_ element: Property.Element) -> ValueCondition<Value> {
        containsOne(of: [element]) { $0.contains(element) }
    }

    func containsAny(of elements: some Sequence<Property.Element>) -> ValueCondition<Value> {
        let elements = Array(elements)
        let isElement = membership(in: elements)
        return containsOne(of: elements) { $0.contains(where: isElement) }
    }

    private func containsOne(
        of elements: [Property.Element],
        _ test: @escaping (Property) -> Bool
    ) -> ValueCondition<Value> {
        // An index has no `nil`.
        let hasNil =
            Property.Element.self is any AnyOptional.Type && elements.contains(where: isNilValue)
        return relation(
            hasNil
                ? nil
                : .hasElement(elements.map { IndexOperand.of($0, in: Property.Element.self) }),
            test
        )
    }

    func containsAll(of elements: some Sequence<Property.Element>) -> ValueCondition<Value> {
        let conditions = elements.map(contains)
        return conditions.isEmpty ? isNotNil : .all(conditions)
    }
}

extension PropertyTests where Property: Collection {
    var isEmpty: ValueCondition<Value> { relation(emptiness) { $0.isEmpty } }
    /// Not empty, and not `nil`.
    var isNotEmpty: ValueCondition<Value> {
        nilCondition.map {
            .all([.not(isEmpty), .not($0)])
        } ?? .not(isEmpty)
    }

    private var emptiness: PropertyRelation? {
        if Property.self == String.self { return .isEqual("") }
        if Property.self == Data.self { return .isEqual(Data()) }
        return nil
    }
}

// MARK: Strings

extension PropertyTests where Property == String {
    func starts(with start: String) -> ValueCondition<Value> {
        relation(.beginsWith(start)) { $0.starts(with: start) }
    }

    func contains(_ part: StringPart) -> ValueCondition<Value> {
        satisfies { part.isContained(in: $0) }
    }
}

// MARK: Lists

/// Returns a test for the elements of a list, which takes the same time for any number of elements
/// that are hashable.
func membership<Element: Equatable>(in elements: [Element]) -> (Element) -> Bool {
    func isInSet<Hashed: Hashable>(of type: Hashed.Type) -> Any {
        let set = Set(elements.lazy.compactMap { $0 as? Hashed })
        return { (element: Hashed) in set.contains(element) }
    }
    guard elements.count > 16, let type = Element.self as? any Hashable.Type,
        let test = isInSet(of: type) as? (Element) -> Bool
    else {
        return { elements.contains($0) }
    }
    return test
}

// MARK: Operands

/// The form of an operand that an index stores.
enum IndexOperand {
    /// Returns the operand if the indexed type is indexable, else its raw value, by which such a
    /// type is indexed.
    static func of(_ operand: Any, in indexed: Any.Type) -> Any {
        if indexed is any IndexableValue.Type { return operand }
        if let optional = operand as? any AnyOptional, let value = optional.content {
            return of(value, in: indexed)
        }
        guard let operand = operand as? any RawRepresentable else { return operand }
        return operand.rawValue
    }
}
