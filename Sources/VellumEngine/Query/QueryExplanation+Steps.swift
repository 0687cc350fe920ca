internal import VellumCore

// Descriptions of queries, for explanations. Operands are users' data and are printed as `?`.

extension ColumnQuery {
    /// Returns a description of each part of the query.
    func descriptions(for shape: IndexShape) -> [String] {
        var descriptions: [String] = []
        if case .all(let parts) = filter {
            descriptions += parts.map { $0.description(for: shape) }
        } else {
            descriptions.append(filter.description(for: shape))
        }
        if !order.isEmpty {
            let columns = order.map { shape.name($0.column) + ($0.isDescending ? " descending" : "") }
            descriptions.append("sorted by " + columns.joined(separator: ", "))
        }
        if offset > 0 { descriptions.append("offset \(offset)") }
        if let limit { descriptions.append("limit \(limit)") }
        return descriptions
    }
}

extension ColumnCondition {
    fileprivate func description(for shape: IndexShape) -> String {
        switch self {
        case .all(let parts): parts.isEmpty ? "true" : "(" + parts.map { $0.description(for: shape) }.joined(separator: " and ") + ")"
        case .any(let parts): parts.isEmpty ? "false" : "(" + parts.map { $0.description(for: shape) }.joined(separator: " or ") + ")"
        case .not(let part): "not " + part.description(for: shape)
        case .test(let test): test.description(for: shape)
        }
    }
}

extension ColumnTest {
    fileprivate func description(for shape: IndexShape) -> String {
        switch relation {
        case .hasElement(let elements):
            return "\(shape.collections[column].name) contains \(elements.count == 1 ? "?" : "one of \(elements.count)")"
        default: return description(for: shape.name(column))
        }
    }

    private func description(for name: String) -> String {
        switch relation {
        case .isNull: return "\(name) is nil"
        case .isEqual: return "\(name) = ?"
        case .isIn(let values): return "\(name) is one of \(values.count)"
        case .isBetween(let lower, let upper):
            // The planner adds NaN as the lower bound. It is not part of the query.
            let lower = lower.flatMap { $0.value == .notANumber ? nil : $0 }
            let tests = [lower.map { $0.isIncluded ? ">= ?" : "> ?" }, upper.map { $0.isIncluded ? "<= ?" : "< ?" }]
            return tests.compactMap { test in test.map { "\(name) \($0)" } }.joined(separator: " and ")
        case .beginsWith: return "\(name) begins with ?"
        case .hasElement: return "\(name) contains ?"
        }
    }
}

extension IndexShape {
    fileprivate func name(_ column: Int) -> String { columns[column].name }
}

extension QueryDescription.Step {
    /// The kind of the step and its properties.
    var description: String {
        switch self {
        case .filter(let condition): "filter " + condition.description
        case .sort(let orderings):
            "sort by "
                + orderings.map { ($0.property.map(Self.name) ?? "a comparison") + ($0.isDescending ? " descending" : "") }
                .joined(separator: ", ")
        case .skip(let count): "offset \(count)"
        case .limit(let count): "limit \(count)"
        }
    }

    fileprivate static func name(_ property: AnyKeyPath) -> String { property.debugDescription }
}

extension Condition {
    fileprivate var description: String {
        switch self {
        case .all(let parts): "(" + parts.map(\.description).joined(separator: " and ") + ")"
        case .any(let parts): "(" + parts.map(\.description).joined(separator: " or ") + ")"
        case .not(let part): "not " + part.description
        case .test(let test): test.property.map { "on " + $0.debugDescription } ?? "on the object"
        }
    }
}
