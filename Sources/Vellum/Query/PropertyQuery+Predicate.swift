internal import Foundation
internal import VellumEngine

// Most queries compare properties with constants, and no more. They are read here without the types
// and closures that testing values takes (decision 88). What is found here is what
// `Condition.init(_:)` finds, or nothing.

extension PropertyQuery {
    /// - Returns: `nil` if the query has any other part, or is invalid.
    init?<Value>(
        where predicate: Predicate<Value>?,
        sortedBy order: [SortDescriptor<Value>] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) {
        guard limit ?? 0 >= 0, offset >= 0 else { return nil }
        self.init()
        if let predicate {
            let root = PropertyRoot(variable: predicate.variable.key)
            guard let part = predicate.expression as? any PropertyRelating,
                part.add(to: &relations, root, depth: 0)
            else { return nil }
        }
        for descriptor in order {
            guard let property = PropertyOrder.property(of: descriptor) else { return nil }
            self.order.append((property, descriptor.order == .reverse))
        }
        self.limit = limit
        self.offset = offset
    }
}

/// A part of a predicate that may be nothing but relations of properties to constants, which must
/// all be true.
private protocol PropertyRelating: PredicateExpression where Output == Bool {
    /// - Parameter depth: In how many connectives the part is.
    /// - Returns: Whether that is so. If not, the list may have some of them.
    func add(to relations: inout [PropertyQuery.Relation], _ root: PropertyRoot, depth: Int) -> Bool
}

/// Returns the key path of the part, if it is a property of the object, with the type of the part.
private func property<Part: PredicateExpression>(_ part: Part, of root: PropertyRoot) -> AnyKeyPath?
{
    guard let path = (part as? any PropertyExpression)?.path(from: root),
        type(of: path).valueType == Part.Output.self
    else { return nil }
    return path
}

/// Returns the value of the part, if it is one.
private func value<Part: PredicateExpression>(_ part: Part) -> Part.Output? {
    (part as? PredicateExpressions.Value<Part.Output>)?.value
}

extension PredicateExpressions.Conjunction: PropertyRelating {
    fileprivate func add(
        to relations: inout [PropertyQuery.Relation],
        _ root: PropertyRoot,
        depth: Int
    ) -> Bool {
        // A chain that is made at run time may be too deep for a recursion.
        guard depth < 8, relations.count < 8, let left = lhs as? any PropertyRelating,
            let right = rhs as? any PropertyRelating
        else {
            return false
        }
        return left.add(to: &relations, root, depth: depth + 1)
            && right.add(to: &relations, root, depth: depth + 1)
    }
}

extension PredicateExpressions.Equal: PropertyRelating {
    fileprivate func add(
        to relations: inout [PropertyQuery.Relation],
        _ root: PropertyRoot,
        depth: Int
    ) -> Bool {
        if let property = property(lhs, of: root), let operand = value(rhs) {
            relations.append(.init(property, .isEqual(operand)))
        } else if let property = property(rhs, of: root), let operand = value(lhs) {
            relations.append(.init(property, .isEqual(operand)))
        } else {
            return false
        }
        return true
    }
}

extension PredicateExpressions.Comparison: PropertyRelating {
    fileprivate func add(
        to relations: inout [PropertyQuery.Relation],
        _ root: PropertyRoot,
        depth: Int
    ) -> Bool {
        guard PropertyOrder.matchesIndexOrder(LHS.Output.self) else { return false }
        if let property = property(lhs, of: root), let operand = value(rhs),
            let relation = op.relation(to: operand)
        {
            relations.append(.init(property, relation))
        } else if let property = property(rhs, of: root), let operand = value(lhs),
            let relation = op.mirrored?.relation(to: operand)
        {
            relations.append(.init(property, relation))
        } else {
            return false
        }
        return true
    }
}

extension PredicateExpressions.ComparisonOperator {
    /// The operator that has its sides exchanged.
    var mirrored: Self? {
        switch self {
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        @unknown default: nil
        }
    }

    fileprivate func relation(to operand: Any) -> PropertyRelation? {
        switch self {
        case .lessThan: .isBetween(lower: nil, upper: .init(operand, isIncluded: false))
        case .lessThanOrEqual: .isBetween(lower: nil, upper: .init(operand, isIncluded: true))
        case .greaterThan: .isBetween(lower: .init(operand, isIncluded: false), upper: nil)
        case .greaterThanOrEqual: .isBetween(lower: .init(operand, isIncluded: true), upper: nil)
        @unknown default: nil
        }
    }
}

extension PredicateExpressions.SequenceStartsWith: PropertyRelating {
    fileprivate func add(
        to relations: inout [PropertyQuery.Relation],
        _ root: PropertyRoot,
        depth: Int
    ) -> Bool {
        guard Base.Output.self == String.self, let start = value(prefix) as? String,
            let property = property(base, of: root)
        else {
            return false
        }
        relations.append(.init(property, .beginsWith(start)))
        return true
    }
}
