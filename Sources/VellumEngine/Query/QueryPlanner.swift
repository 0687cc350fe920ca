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

    init<Value>(_ catalog: IndexCatalog<Value>) {
        self.init(catalog.columns)
    }

    init(_ columns: IndexColumns) {
        self.columns = columns
    }

    func plan<Value>(_ query: QueryDescription<Value>) -> QueryPlan<Value> {
        var pushed = PushedSteps(columns)
        let steps = query.steps
        while pushed.count < steps.count, pushed.push(steps[pushed.count]) { pushed.count += 1 }
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
    private(set) var query = ColumnQuery()
    /// How many steps are pushed down, at least in part.
    var count = 0
    /// The parts of these that remain for decoded values: a filter, and the numbers of its conjuncts. Each remaining part is one step.
    private(set) var remaining: [(step: Int, conjuncts: [Int])] = []

    init(_ columns: IndexColumns) {
        self.columns = columns
    }

    /// The maximum number of tests that are pushed down.
    private static var maximumConditionSize: Int { 200 }

    private var hasWindow: Bool { query.offset > 0 || query.limit != nil }

    /// - Returns: Whether the step is pushed down. If not, it and all later steps remain.
    mutating func push<Value>(_ step: QueryDescription<Value>.Step) -> Bool {
        switch step {
        case .filter(let condition):
            guard !hasWindow else { return false }
            push(
                condition.replacingTests { test in
                    guard let property = test.property, let relation = test.relation else { return .test(nil) }
                    return columns.condition(property, relation)
                })
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

    /// A condition whose tests are those of columns; `nil` in the place of a test that only a closure of values evaluates.
    typealias PartlyIndexed = Condition<ColumnTest?>

    /// Pushes the conjuncts of the condition.
    private mutating func push(_ filter: PartlyIndexed) {
        let conjuncts = filter.conjuncts
        let left = conjuncts.indices.filter { !push(conjunct: conjuncts[$0]) }
        if !left.isEmpty { remaining.append((count, left)) }
    }

    /// - Returns: Whether nothing of the condition remains.
    private mutating func push(conjunct condition: PartlyIndexed) -> Bool {
        let (wider, isExact) = Self.widened(condition)
        guard let wider else { return isExact }
        // SQLite limits the depth of an expression (sqlite.org/limits.html, 5).
        guard query.filter.size + wider.size <= Self.maximumConditionSize else { return false }
        query.filter = query.filter.and(wider)
        return isExact
    }

    /// Returns a condition on columns that every match of this condition satisfies, and whether the two are equivalent.
    private static func widened(_ condition: PartlyIndexed) -> (ColumnCondition?, isExact: Bool) {
        switch condition {
        case .test(let test): return (test.map { .test($0) }, test != nil)
        case .all(let parts):
            let (known, isExact) = widened(parts)
            return (known.isEmpty && !parts.isEmpty ? nil : .all(known), isExact)
        case .any(let parts):
            let (known, isExact) = widened(parts)
            // A part without a column may match any row.
            guard known.count == parts.count else { return (nil, false) }
            return (.any(known.mergingElements), isExact)
        case .not(let part):
            guard case (let inner?, true) = widened(part) else { return (nil, false) }
            return (.not(inner), true)
        }
    }

    /// Returns the widened conditions that exist, and whether all are equivalent to the originals.
    private static func widened(_ conditions: [PartlyIndexed]) -> (known: [ColumnCondition], isExact: Bool) {
        let widened = conditions.map { Self.widened($0) }
        return (widened.compactMap { $0.0 }, widened.allSatisfy { $0.isExact })
    }
}

extension [ColumnCondition] {
    /// The conditions, with the element tests of each collection merged into one.
    fileprivate var mergingElements: [ColumnCondition] {
        var rest: [ColumnCondition] = []
        var elements: [Int: [IndexValue]] = [:]
        for condition in self {
            guard case .test(let test) = condition, case .hasElement(let values) = test.relation else {
                rest.append(condition)
                continue
            }
            elements[test.column, default: []] += values
        }
        return rest + elements.sorted { $0.key < $1.key }.map { .test(ColumnTest(column: $0.key, relation: .hasElement($0.value))) }
    }
}

extension ColumnCondition {
    /// The number of tests and connectives.
    fileprivate var size: Int {
        switch self {
        case .all(let parts), .any(let parts): return parts.reduce(1) { $0 + $1.size }
        case .not(let part): return 1 + part.size
        case .test(let test):
            switch test.relation {
            // A list of values does not nest.
            case .hasElement(let values), .isIn(let values): return 1 + values.count / 8
            default: return 1
            }
        }
    }

    fileprivate func and(_ other: ColumnCondition) -> ColumnCondition {
        switch (self, other) {
        case (.all(let left), .all(let right)): .all(left + right)
        case (.all(let left), _): .all(left + [other])
        default: .all([self, other])
        }
    }
}

extension Int {
    func saturatingAdd(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
