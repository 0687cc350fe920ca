public import Foundation

/// A condition on values: a tree of tests.
@usableFromInline package indirect enum Condition<Value> {
    /// All conditions are true. True if there are none.
    case all([Condition])
    /// At least one condition is true. False if there are none.
    case any([Condition])
    case not(Condition)
    case test(Test<Value>)

    /// Returns whether the value satisfies the condition.
    @usableFromInline package func matches(_ value: Value) throws -> Bool { try evaluation(value) }

    /// The condition as a closure. For many values, the tree is traversed once.
    @usableFromInline package var evaluation: (Value) throws -> Bool {
        switch self {
        case .test(let test):
            return test.matches
        case .not(let part):
            let part = part.evaluation
            return { try !part($0) }
        case .all(let parts):
            guard let first = parts.first?.evaluation else { return { _ in true } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation }
                return { value in try parts.allSatisfy { try $0(value) } }
            }
            return parts.dropFirst().map { $0.evaluation }.reduce(first) { left, right in { try left($0) && right($0) } }
        case .any(let parts):
            guard let first = parts.first?.evaluation else { return { _ in false } }
            guard parts.count <= 8 else {
                let parts = parts.map { $0.evaluation }
                return { value in try parts.contains { try $0(value) } }
            }
            return parts.dropFirst().map { $0.evaluation }.reduce(first) { left, right in { try left($0) || right($0) } }
        }
    }
}

extension Condition {
    /// The condition as a closure of the data of a value. The closure returns `nil` if the data does not decide. `nil` if no test can read
    /// data.
    @usableFromInline package var storedEvaluation: ((Data) -> Bool?)? {
        switch self {
        case .test(let test):
            return test.matchesStored?()
        case .not(let part):
            return part.storedEvaluation.map { part in { bytes in part(bytes).map { !$0 } } }
        case .all(let parts):
            return Self.stored(parts, deciding: false)
        case .any(let parts):
            return Self.stored(parts, deciding: true)
        }
    }

    /// Returns a closure that returns `deciding` if one part does, and `!deciding` if all parts do.
    private static func stored(_ parts: [Condition], deciding: Bool) -> ((Data) -> Bool?)? {
        let known = parts.compactMap { $0.storedEvaluation }
        guard !known.isEmpty else { return nil }
        let isComplete = known.count == parts.count
        return { bytes in
            var isSure = isComplete
            for part in known {
                switch part(bytes) {
                case deciding: return deciding
                case nil: isSure = false
                default: break
                }
            }
            return isSure ? !deciding : nil
        }
    }
}

/// A test of a value, and the equivalent relation of a property, if an index may answer it.
@usableFromInline package struct Test<Value> {
    @usableFromInline package var property: AnyKeyPath?
    @usableFromInline package var relation: PropertyRelation?
    /// Tests the value. Must return the same as the relation for every value.
    @usableFromInline package var matches: (Value) throws -> Bool
    /// Makes a test of the data of a value that does not decode all of it, which only a scan needs. Returns `nil` if the data has no such
    /// field; the test returns `nil` if the data does not decide, else the same as `matches`.
    @usableFromInline package var matchesStored: (() -> ((Data) -> Bool?)?)?

    @usableFromInline package init(
        _ property: AnyKeyPath? = nil, _ relation: PropertyRelation? = nil, matches: @escaping (Value) throws -> Bool,
        matchesStored: (() -> ((Data) -> Bool?)?)? = nil
    ) {
        self.property = property
        self.relation = relation
        self.matches = matches
        self.matchesStored = matchesStored
    }
}

/// A relation of a property to operands. The operands have the type of the property, or of its elements.
@usableFromInline package enum PropertyRelation {
    case isNil
    case isEqual(Any)
    case isIn([Any])
    case isBetween(lower: Bound?, upper: Bound?)
    /// Begins with the string, compared by whole characters like in Swift.
    case beginsWith(String)
    case hasElement(Any)

    /// A bound of a range.
    @usableFromInline package struct Bound {
        @usableFromInline package var value: Any
        @usableFromInline package var isIncluded: Bool

        @usableFromInline package init(_ value: Any, isIncluded: Bool) {
            self.value = value
            self.isIncluded = isIncluded
        }
    }
}
