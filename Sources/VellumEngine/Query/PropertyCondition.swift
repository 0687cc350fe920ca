/// What an index sees of a condition: relations of properties, without the type of the values and the closures that test them.
indirect enum PropertyCondition {
    case all([PropertyCondition])
    case any([PropertyCondition])
    case not(PropertyCondition)
    case test(AnyKeyPath, PropertyRelation)
    /// A test that only a closure evaluates.
    case closure
}

extension Condition {
    /// The condition as an index sees it. Has the same parts in the same order.
    var ofProperties: PropertyCondition {
        switch self {
        // By number, because an iterator of values of a generic type takes longer.
        case .all(let parts): .all((0..<parts.count).map { parts[$0].ofProperties })
        case .any(let parts): .any((0..<parts.count).map { parts[$0].ofProperties })
        case .not(let part): .not(part.ofProperties)
        case .test(let test):
            if let property = test.property, let relation = test.relation { .test(property, relation) } else { .closure }
        }
    }

    /// The parts that must all be true.
    var conjuncts: [Condition] {
        guard case .all(let parts) = self else { return [self] }
        return parts.flatMap { $0.conjuncts }
    }
}
