import VellumCore

@testable import VellumEngine

/// Evaluates conditions on columns as the index must.
extension ColumnCondition {
    func matches(_ values: IndexedValues) throws -> Bool {
        try evaluation { test in { test.matches($0) } }(values)
    }
}

extension ColumnTest {
    fileprivate func matches(_ values: IndexedValues) -> Bool {
        if case .hasElement(let elements) = relation {
            return elements.contains(where: values.elements[column].contains)
        }
        let value = values.columns[column]
        if case .isNull = relation { return value == .null }
        guard value != .null else { return false }
        switch relation {
        case .isEqual(let other): return value == other
        case .isIn(let others): return others.contains(value)
        case .isBetween(let lower, let upper):
            if let lower, value < lower.value || (value == lower.value && !lower.isIncluded) {
                return false
            }
            if let upper, upper.value < value || (value == upper.value && !upper.isIncluded) {
                return false
            }
            return true
        case .beginsWith(let start):
            guard case .text(let text) = value else { return false }
            return text.starts(with: start)
        case .isNull, .hasElement: return false
        }
    }
}
