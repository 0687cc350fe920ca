internal import VellumCore

// Queries in words, for explanations. Operands are a user's data and are told as `?`.

extension ColumnQuery {
    /// What is asked, step by step.
    func words(for shape: IndexShape) -> [String] {
        var words: [String] = []
        if case .all(let parts) = filter { words += parts.map { $0.words(for: shape) } } else { words.append(filter.words(for: shape)) }
        if !order.isEmpty {
            words.append(
                "sorted by " + order.map { shape.name($0.column) + ($0.isDescending ? " descending" : "") }.joined(separator: ", "))
        }
        if offset > 0 { words.append("offset \(offset)") }
        if let limit { words.append("limit \(limit)") }
        return words
    }
}

extension ColumnCondition {
    fileprivate func words(for shape: IndexShape) -> String {
        switch self {
        case .all(let parts): parts.isEmpty ? "true" : "(" + parts.map { $0.words(for: shape) }.joined(separator: " and ") + ")"
        case .any(let parts): parts.isEmpty ? "false" : "(" + parts.map { $0.words(for: shape) }.joined(separator: " or ") + ")"
        case .not(let part): "not " + part.words(for: shape)
        case .test(let test): test.words(for: shape)
        }
    }
}

extension ColumnTest {
    fileprivate func words(for shape: IndexShape) -> String {
        switch relation {
        case .hasElement(let elements):
            return "\(shape.collections[column].name) contains \(elements.count == 1 ? "?" : "one of \(elements.count)")"
        default: return words(for: shape.name(column))
        }
    }

    private func words(for name: String) -> String {
        switch relation {
        case .isNull: return "\(name) is nil"
        case .isEqual: return "\(name) = ?"
        case .isIn(let values): return "\(name) is one of \(values.count)"
        case .isBetween(let lower, let upper):
            // That numbers come after what is none goes without saying.
            let said = lower.flatMap { $0.value == .notANumber ? nil : $0 }
            let tests = [said.map { $0.isIncluded ? ">= ?" : "> ?" }, upper.map { $0.isIncluded ? "<= ?" : "< ?" }]
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
    /// The step, by the properties that it names.
    var words: String {
        switch self {
        case .filter(let condition): "filter " + condition.words
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
    fileprivate var words: String {
        switch self {
        case .all(let parts): "(" + parts.map(\.words).joined(separator: " and ") + ")"
        case .any(let parts): "(" + parts.map(\.words).joined(separator: " or ") + ")"
        case .not(let part): "not " + part.words
        case .test(let test): test.property.map { "on " + $0.debugDescription } ?? "on the object"
        }
    }
}
