internal import Tiers

extension QueryDescription {
    /// Carries out the steps on values, one after the other.
    func results(of values: [Value]) throws -> [Value] {
        var values = values
        for step in steps {
            switch step {
            case .filter(let condition): values = try values.filter(condition.evaluation)
            case .sort(let orderings): values = try orderings.sorted(values)
            case .skip(let count): values = Array(values.dropFirst(max(0, count)))
            case .limit(let count): values = Array(values.prefix(max(0, count)))
            }
        }
        return values
    }
}

extension Condition {
    /// ``matches(_:)`` as a closure, for many values: the tree is gone through once and not for each.
    var evaluation: (Value) throws -> Bool {
        switch self {
        case .test(let test):
            return test.matches
        case .not(let part):
            let part = part.evaluation
            return { try !part($0) }
        case .all(let parts):
            guard let first = parts.first?.evaluation else { return { _ in true } }
            return parts.dropFirst().map(\.evaluation).reduce(first) { left, right in { try left($0) && right($0) } }
        case .any(let parts):
            guard let first = parts.first?.evaluation else { return { _ in false } }
            return parts.dropFirst().map(\.evaluation).reduce(first) { left, right in { try left($0) || right($0) } }
        }
    }
}

extension Array {
    /// The values in the order of these criteria. What is equal stays as it was.
    func sorted<Value>(_ values: [Value]) throws -> [Value] where Element == Ordering<Value> {
        // By place too, because the library's own sort promises no stability.
        try values.enumerated().sorted { left, right in
            for ordering in self {
                let order = try ordering.compare(left.element, right.element)
                if order != 0 { return order < 0 }
            }
            return left.offset < right.offset
        }.map(\.element)
    }
}
