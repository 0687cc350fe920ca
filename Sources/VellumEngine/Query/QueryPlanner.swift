internal import VellumCore

/// Splits a query into a part that the index answers and the steps that remain for decoded values.
///
/// A pure value: it identifies columns by number and does not use the database.
///
/// Filters and sorts before the first offset or limit are combined into one condition and one order: a filter may pass a sort, and a later
/// sort takes precedence over an earlier one. If only a part of a filter can be pushed down, that part narrows the candidates and the whole
/// filter remains. An offset or limit is pushed down if no step before it remains. All steps after the first that is not pushed down
/// remain.
struct QueryPlanner {
    private let columns: IndexColumns

    init(_ columns: IndexColumns) {
        self.columns = columns
    }

    func plan<Value>(_ query: QueryDescription<Value>) -> QueryPlan<Value> {
        var pushed = PushedSteps(columns)
        let steps = query.steps
        while pushed.count < steps.count, pushed.push(steps[pushed.count]) { pushed.count += 1 }
        pushed.query.filter = .all(pushed.conjuncts.mergingNegations)
        return QueryPlan(query, pushed)
    }
}

/// The result of ``QueryPlanner``.
struct QueryPlan<Value> {
    private let query: QueryDescription<Value>
    private let steps: PushedSteps

    fileprivate init(_ query: QueryDescription<Value>, _ steps: PushedSteps) {
        self.query = query
        self.steps = steps
    }

    /// The part that the index answers.
    var pushed: ColumnQuery { steps.query }

    /// Whether the index determines all results and their order.
    var isFullyPushed: Bool { steps.remaining.isEmpty && steps.count == query.steps.count }

    /// The steps that remain for decoded values, in order.
    var residual: [QueryDescription<Value>.Step] {
        var residual: [QueryDescription<Value>.Step] = []
        for (step, parts) in steps.remaining {
            guard case .filter(let condition) = query.steps[step] else { continue }
            let conjuncts = condition.conjuncts
            residual.append(.filter(parts.count == 1 ? conjuncts[parts[0]] : .all(parts.map { conjuncts[$0] })))
        }
        return residual + query.steps[steps.count...]
    }

    /// The properties of the remaining steps that an index could answer if it had them.
    var unansweredProperties: [AnyKeyPath] {
        var properties: [AnyKeyPath] = []
        for case .filter(let condition) in residual {
            _ = condition.description { test in
                if test.relation != nil, let property = test.property { properties.append(property) }
                return ""
            }
        }
        for case .sort(let orderings) in residual { properties += orderings.compactMap(\.property) }
        return properties
    }

    /// The filters before the first offset or limit, for values that the index does not cover.
    var condition: ValueCondition<Value> {
        var conditions: [ValueCondition<Value>] = []
        for case .filter(let condition) in query.steps[..<steps.count] { conditions.append(condition) }
        return .all(conditions)
    }

    /// The order that was pushed down, for values that the index does not cover.
    var orderings: [Ordering<Value>] {
        var orderings: [Ordering<Value>] = []
        for case .sort(let more) in query.steps[..<steps.count] { orderings = more + orderings }
        return orderings
    }
}

/// The steps of a query that an index answers.
private struct PushedSteps {
    private let columns: IndexColumns
    /// What the index answers.
    var query = ColumnQuery()
    /// The parts of its filter, and their size.
    private(set) var conjuncts: [ColumnCondition] = []
    private var size = 0
    /// How many steps are pushed down, at least in part.
    var count = 0
    /// The parts of these that remain for decoded values: a filter, and the numbers of its conjuncts. Each remaining part is one step.
    private(set) var remaining: [(step: Int, conjuncts: [Int])] = []

    init(_ columns: IndexColumns) {
        self.columns = columns
    }

    /// The maximum number of values in a condition that is pushed down: a statement has up to 32,766 (sqlite.org/limits.html, 9).
    private static var maximumSize: Int { 32_000 }

    private var hasWindow: Bool { query.offset > 0 || query.limit != nil }

    /// - Returns: Whether the step is pushed down. If not, it and all later steps remain.
    mutating func push<Value>(_ step: QueryDescription<Value>.Step) -> Bool {
        switch step {
        case .filter(let condition):
            guard !hasWindow else { return false }
            var (number, left) = (0, [Int]())
            push(condition, &number, &left)
            if !left.isEmpty { remaining.append((count, left)) }
            return true
        case .sort(let orderings):
            guard !hasWindow, let order = order(orderings) else { return false }
            query.order = order + query.order.filter { old in !order.contains { $0.column == old.column } }
            return true
        case .skip(let count):
            guard remaining.isEmpty else { return false }
            query.offset = query.offset.saturatingAdd(max(0, count))
            query.limit = query.limit.map { max(0, $0 - max(0, count)) }
            return true
        case .limit(let count):
            guard remaining.isEmpty else { return false }
            query.limit = min(query.limit ?? .max, max(0, count))
            return true
        }
    }

    private func order<Value>(_ orderings: [Ordering<Value>]) -> [ColumnOrder]? {
        var order: [ColumnOrder] = []
        for ordering in orderings {
            guard let property = ordering.property, let column = columns.column(of: property) else { return nil }
            if !order.contains(where: { $0.column == column }) {
                order.append(ColumnOrder(column: column, isDescending: ordering.isDescending))
            }
        }
        return order
    }

    // MARK: Conditions

    /// Pushes the conjuncts of the condition.
    ///
    /// - Parameters:
    ///   - number: The number of the next conjunct.
    ///   - left: Receives the numbers of those that remain.
    private mutating func push<Value>(_ condition: ValueCondition<Value>, _ number: inout Int, _ left: inout [Int]) {
        if case .all(let parts) = condition {
            // By number, because an iterator of values of a generic type takes longer.
            for part in 0..<parts.count { push(parts[part], &number, &left) }
            return
        }
        if !push(columns.widened(condition)) { left.append(number) }
        number += 1
    }

    /// - Returns: Whether nothing of the conjunct remains.
    private mutating func push(_ conjunct: WidenedCondition) -> Bool {
        guard let wider = conjunct.condition else { return conjunct.isExact }
        let total = size.saturatingAdd(wider.size())
        guard total <= Self.maximumSize else { return false }
        size = total
        conjuncts += wider.conjuncts
        return conjunct.isExact
    }
}

/// A condition on columns that every match of another condition satisfies.
private struct WidenedCondition {
    /// `nil` if there is none.
    var condition: ColumnCondition?
    /// Whether the two are equivalent.
    var isExact: Bool
}

extension IndexColumns {
    fileprivate func widened<Value>(_ condition: ValueCondition<Value>) -> WidenedCondition {
        switch condition {
        case .test(let test):
            guard let property = test.property, let relation = test.relation else { break }
            let pushed = self.condition(property, relation)
            return WidenedCondition(condition: pushed, isExact: pushed != nil)
        case .all(let parts):
            let (known, isExact) = widened(parts)
            return WidenedCondition(condition: known.isEmpty && !parts.isEmpty ? nil : .all(known.mergingNegations), isExact: isExact)
        case .any(let parts):
            let (known, isExact) = widened(parts)
            // A part without a column may match any row.
            guard known.count == parts.count else { break }
            return WidenedCondition(condition: .any(known.mergingLists), isExact: isExact)
        case .not(let part):
            let inner = widened(part)
            guard inner.isExact, let condition = inner.condition else { break }
            return WidenedCondition(condition: .not(condition), isExact: true)
        }
        return WidenedCondition(condition: nil, isExact: false)
    }

    /// Returns the widened conditions that exist, and whether all are equivalent to the originals.
    private func widened<Value>(_ conditions: [ValueCondition<Value>]) -> (known: [ColumnCondition], isExact: Bool) {
        var known: [ColumnCondition] = []
        var isExact = true
        for number in 0..<conditions.count {
            let wider = widened(conditions[number])
            if let condition = wider.condition { known.append(condition) }
            isExact = isExact && wider.isExact
        }
        return (known, isExact)
    }
}

extension [ColumnCondition] {
    /// Alternatives, of which those that a list can express are one list for each column and collection.
    fileprivate var mergingLists: [ColumnCondition] {
        var rest: [ColumnCondition] = []
        var (lists, elements): ([Int: [IndexValue]], [Int: [IndexValue]]) = ([:], [:])
        let isLong = count > 8
        for condition in self {
            guard case .test(let test) = condition else {
                rest.append(condition)
                continue
            }
            switch test.relation {
            case .hasElement(let values): elements[test.column, default: []] += values
            case .isIn(let values) where isLong: lists[test.column, default: []] += values
            case .isEqual(let value) where isLong: lists[test.column, default: []].append(value)
            default: rest.append(condition)
            }
        }
        return rest + lists.sorted { $0.key < $1.key }.map { .test(ColumnTest(column: $0.key, relation: .isIn($0.value))) }
            + elements.sorted { $0.key < $1.key }.map { .test(ColumnTest(column: $0.key, relation: .hasElement($0.value))) }
    }

    /// Conditions that must all be true, of which many negated ones are negated lists.
    fileprivate var mergingNegations: [ColumnCondition] {
        guard count > 8 else { return self }
        var (rest, negated): ([ColumnCondition], [ColumnCondition]) = ([], [])
        for condition in self {
            if case .not(let part) = condition { negated.append(part) } else { rest.append(condition) }
        }
        return rest + negated.mergingLists.map { .not($0) }
    }
}

extension ColumnCondition {
    /// How many values it takes in a statement; `Int.max` if it is nested too deep for SQLite's parser, which stops at a hundred symbols.
    fileprivate func size(depth: Int = 0) -> Int {
        guard depth <= 15 else { return .max }
        switch self {
        case .all(let parts), .any(let parts): return parts.reduce(1) { $0.saturatingAdd($1.size(depth: depth + 1)) }
        case .not(let part): return part.size(depth: depth + 1)
        case .test(let test):
            switch test.relation {
            case .hasElement(let values), .isIn(let values): return values.count > QueryPrinter.longList ? 2 : values.count
            case .isBetween: return 2
            case .beginsWith: return 4
            case .isNull, .isEqual: return 1
            }
        }
    }
}

extension Int {
    func saturatingAdd(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
