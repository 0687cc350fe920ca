internal import VellumCore

/// Splits a query into a part that the index answers and the steps that remain for decoded values
/// (decision 15).
///
/// A pure value: it identifies columns by number and does not use the database.
///
/// Filters and sorts before the first offset or limit are combined into one condition and one
/// order: a filter may pass a sort, and a later sort takes precedence over an earlier one. If only
/// a part of a filter can be pushed down, that part narrows the candidates and the whole filter
/// remains. An offset or limit is pushed down if no step before it remains. All steps after the
/// first that is not pushed down remain.
struct QueryPlan<Value> {
    private let query: QueryDescription<Value>
    private let steps: PushedSteps

    init(_ query: QueryDescription<Value>, _ columns: IndexColumns) {
        var pushed = PushedSteps(columns)
        let steps = query.steps
        while pushed.count < steps.count, pushed.push(steps[pushed.count]) {
            pushed.count += 1
        }
        pushed.finish(steps.count)
        self.query = query
        self.steps = pushed
    }

    /// The part that the index answers.
    var pushed: ColumnQuery { steps.query }

    /// Whether the index determines all results and their order.
    var isFullyPushed: Bool { steps.isAll }

    /// The steps that remain for decoded values, in order.
    var residual: [QueryDescription<Value>.Step] {
        var residual: [QueryDescription<Value>.Step] = []
        for (step, parts) in steps.remaining {
            guard case .filter(let condition) = query.steps[step] else { continue }
            let conjuncts = condition.conjuncts
            residual.append(
                .filter(
                    parts.count == 1
                        ? conjuncts[parts[0]]
                        : .all(parts.map { conjuncts[$0] })
                )
            )
        }
        return residual + query.steps[steps.count...]
    }

    /// The properties of the remaining steps that an index could answer if it had them.
    var unansweredProperties: [AnyKeyPath] {
        var properties: [AnyKeyPath] = []
        for case .filter(let condition) in residual {
            condition.forEachTest { test in
                if test.relation != nil, let property = test.property {
                    properties.append(property)
                }
            }
        }
        for case .sort(let orderings) in residual { properties += orderings.compactMap(\.property) }
        return properties
    }

    /// The filters before the first offset or limit, for values that the index does not cover.
    var condition: ValueCondition<Value> {
        var conditions: [ValueCondition<Value>] = []
        for case .filter(let condition) in query.steps[..<steps.count] {
            conditions.append(condition)
        }
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
    private var conjuncts: [ColumnCondition] = []
    private var size = 0
    /// How many of them are no negated lists, which are merged.
    private var others = 0
    /// How many steps are pushed down, at least in part.
    var count = 0
    /// The parts of these that remain for decoded values: a filter, and the numbers of its
    /// conjuncts. Each remaining part is one step.
    private(set) var remaining: [(step: Int, conjuncts: [Int])] = []
    /// Whether nothing remains.
    private(set) var isAll = false

    init(_ columns: IndexColumns) {
        self.columns = columns
    }

    /// The maximum number of values in a condition that is pushed down: a statement has up to
    /// 32,766 (sqlite.org/limits.html, 9).
    private static var maximumSize: Int { 32_000 }

    mutating func finish(_ steps: Int) {
        query.filter = .all(conjuncts.mergingNegations)
        conjuncts = []
        isAll = remaining.isEmpty && count == steps
    }

    private var hasWindow: Bool { query.offset > 0 || query.limit != nil }

    /// - Returns: Whether the step is pushed down. If not, it and all later steps remain.
    mutating func push<Value>(_ step: QueryDescription<Value>.Step) -> Bool {
        switch step {
        case .filter(let condition):
            guard !hasWindow else { return false }
            var number = 0
            var left = [Int]()
            push(condition, &number, &left)
            if !left.isEmpty { remaining.append((count, left)) }
            return true
        case .sort(let orderings):
            guard !hasWindow, let order = order(orderings) else { return false }
            query.order =
                order + query.order.filter { old in !order.contains { $0.column == old.column } }
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
            guard let property = ordering.property, let column = columns.column(of: property) else {
                return nil
            }
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
    private mutating func push<Value>(
        _ condition: ValueCondition<Value>,
        _ number: inout Int,
        _ left: inout [Int]
    ) {
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
        let isNegatedList = if case .not(let part) = wider { part.list != nil } else { false }
        let size = size.saturatingAdd(wider.size())
        let others = isNegatedList ? others : others + 1
        guard size <= Self.maximumSize, others <= QueryPrinter.longCondition else { return false }
        self.size = size
        self.others = others
        if case .all = wider { conjuncts += wider.conjuncts } else { conjuncts.append(wider) }
        return conjunct.isExact
    }
}

/// A condition on columns that every match of another condition satisfies; `nil` if there is none.
/// `isExact`: whether the two are equivalent.
private typealias WidenedCondition = (condition: ColumnCondition?, isExact: Bool)

extension IndexColumns {
    fileprivate func widened<Value>(_ condition: ValueCondition<Value>) -> WidenedCondition {
        switch condition {
        case .test(let test):
            guard let property = test.property, let relation = test.relation else { break }
            let pushed = self.condition(property, relation)
            return (pushed, isExact: pushed != nil)
        case .all(let parts):
            let (known, isExact) = widened(parts)
            let merged = known.mergingNegations.prefix(QueryPrinter.longCondition)
            return (
                known.isEmpty && !parts.isEmpty ? nil : .all(Array(merged)),
                isExact: isExact && known.count <= merged.count
            )
        case .any(let parts):
            let (known, isExact) = widened(parts)
            // A part without a column may match any row.
            guard known.count == parts.count else { break }
            return (.any(known.mergingLists), isExact)
        case .not(let part):
            let inner = widened(part)
            guard inner.isExact, let condition = inner.condition else { break }
            return (.not(condition), isExact: true)
        }
        return (nil, isExact: false)
    }

    /// Returns the widened conditions that exist, and whether all are equivalent to the originals.
    private func widened<Value>(
        _ conditions: [ValueCondition<Value>]
    ) -> (known: [ColumnCondition], isExact: Bool) {
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
    /// Alternatives, of which those that test for values are one list for each column and
    /// collection.
    fileprivate var mergingLists: [ColumnCondition] {
        var rest = [ColumnCondition]()
        var lists = [ColumnTest: [IndexValue]]()
        for condition in self {
            if let (test, values) = condition.list,
                count > 8 || test.relation == .hasElement([])
            {
                lists[test, default: []] += values
            } else {
                rest.append(condition)
            }
        }
        let sorted = lists.sorted { $0.key.column < $1.key.column }
        return rest
            + sorted.map { test, values in
                .test(
                    ColumnTest(
                        column: test.column,
                        relation: test.relation == .isIn([]) ? .isIn(values) : .hasElement(values)
                    )
                )
            }
    }

    /// Conditions that must all be true, of which many negated ones are negated lists.
    fileprivate var mergingNegations: [ColumnCondition] {
        guard count > 8 else { return self }
        var rest: [ColumnCondition] = []
        var negated: [ColumnCondition] = []
        for condition in self {
            if case .not(let part) = condition {
                negated.append(part)
            } else {
                rest.append(condition)
            }
        }
        return rest + negated.mergingLists.map { .not($0) }
    }
}

extension ColumnCondition {
    /// The values for which it tests, and the test without them; `nil` if it is another test.
    var list: (test: ColumnTest, values: [IndexValue])? {
        guard case .test(let test) = self else { return nil }
        switch test.relation {
        case .isEqual(let value):
            return (ColumnTest(column: test.column, relation: .isIn([])), [value])
        case .isIn(let values):
            return (ColumnTest(column: test.column, relation: .isIn([])), values)
        case .hasElement(let values):
            return (ColumnTest(column: test.column, relation: .hasElement([])), values)
        case .isNull, .isBetween, .beginsWith: return nil
        }
    }

    /// How many values it takes in a statement; `Int.max` if it is nested too deep for SQLite's
    /// parser, which stops at a hundred symbols.
    fileprivate func size(depth: Int = 0) -> Int {
        guard depth <= 15 else { return .max }
        switch self {
        case .all(let parts), .any(let parts):
            return parts.reduce(1) { $0.saturatingAdd($1.size(depth: depth + 1)) }
        case .not(let part): return part.size(depth: depth + 1)
        case .test(let test):
            switch test.relation {
            case .hasElement(let values), .isIn(let values):
                return values.count > QueryPrinter.longList ? 2 : values.count
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
