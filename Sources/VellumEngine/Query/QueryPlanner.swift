internal import VellumCore

/// Splits a query into what a tier answers exactly from its columns, and what is left to do on decoded values.
///
/// A pure value: it knows columns by number and no database.
///
/// The steps are read from the first on. Filters and sorts before the first window become one condition and one order:
/// a filter may pass a sort, and a later sort goes before an earlier one. Of a filter that only a part can be pushed down,
/// that part narrows the candidates and the whole is asked again. A window can be pushed down if nothing before it is left
/// to do; everything after it is.
package struct QueryPlanner<Value> {
    private let catalog: IndexCatalog<Value>

    package init(_ catalog: IndexCatalog<Value>) {
        self.catalog = catalog
    }

    package func plan(_ query: QueryDescription<Value>) -> QueryPlan<Value> {
        var plan = QueryPlan<Value>()
        var rest = query.steps[...]
        while let step = rest.first, push(step, into: &plan) { rest.removeFirst() }
        plan.residual += rest
        return plan
    }

    /// How many tests are pushed down at most.
    private static var largestCondition: Int { 200 }

    /// - Returns: Whether the step is dealt with; if not, it and what follows are left to do.
    private func push(_ step: QueryDescription<Value>.Step, into plan: inout QueryPlan<Value>) -> Bool {
        switch step {
        case .filter(let condition):
            guard !plan.hasWindow else { return false }
            // What is left of them is one step, however many there are.
            let left = condition.conjuncts.filter { !push($0, into: &plan) }
            if !left.isEmpty { plan.residual.append(.filter(left.count == 1 ? left[0] : .all(left))) }
            return true
        case .sort(let orderings):
            guard !plan.hasWindow, let order = order(orderings) else { return false }
            plan.pushed.order = order + plan.pushed.order.filter { old in !order.contains { $0.column == old.column } }
            plan.orderings = orderings + plan.orderings
            return true
        case .skip(let count):
            guard plan.residual.isEmpty else { return false }
            plan.pushed.offset = plan.pushed.offset.saturatingAdd(max(0, count))
            plan.pushed.limit = plan.pushed.limit.map { max(0, $0 - max(0, count)) }
            return true
        case .limit(let count):
            guard plan.residual.isEmpty else { return false }
            plan.pushed.limit = min(plan.pushed.limit ?? .max, max(0, count))
            return true
        }
    }

    /// - Returns: Whether nothing of it is left to do.
    private func push(_ part: Condition<Value>, into plan: inout QueryPlan<Value>) -> Bool {
        var (wider, isExact) = widened(part)
        // SQLite has no room for more in one expression (sqlite.org/limits.html, 5).
        if let size = wider?.size, plan.pushed.filter.size + size > Self.largestCondition { (wider, isExact) = (nil, false) }
        plan.condition.append(part)
        if let wider { plan.pushed.filter = plan.pushed.filter.and(wider) }
        return isExact
    }

    private func order(_ orderings: [Ordering<Value>]) -> [ColumnOrder]? {
        var order: [ColumnOrder] = []
        for ordering in orderings {
            guard let property = ordering.property, let column = catalog.column(of: property) else { return nil }
            if !order.contains(where: { $0.column == column }) {
                order.append(ColumnOrder(column: column, isDescending: ordering.isDescending))
            }
        }
        return order
    }

    /// A condition on columns that holds wherever this one does, and whether it holds nowhere else.
    private func widened(_ condition: Condition<Value>) -> (ColumnCondition?, isExact: Bool) {
        switch condition {
        case .test(let test):
            guard let property = test.property, let relation = test.relation else { return (nil, false) }
            let pushed = catalog.condition(property, relation)
            return (pushed, pushed != nil)
        case .all(let parts):
            let (known, isExact) = widened(parts)
            return (known.isEmpty && !parts.isEmpty ? nil : .all(known), isExact)
        case .any(let parts):
            let (known, isExact) = widened(parts)
            // One that is not known may hold anywhere.
            guard known.count == parts.count else { return (nil, false) }
            return (.any(known.mergingElements), isExact)
        case .not(let part):
            guard case (let inner?, true) = widened(part) else { return (nil, false) }
            return (.not(inner), true)
        }
    }

    /// Those of the conditions of which columns know something, and whether they know all of each.
    private func widened(_ conditions: [Condition<Value>]) -> (known: [ColumnCondition], isExact: Bool) {
        var known: [ColumnCondition] = []
        var isExact = true
        for condition in conditions {
            let (wider, isExactHere) = widened(condition)
            if let wider { known.append(wider) }
            isExact = isExact && isExactHere
        }
        return (known, isExact)
    }
}

/// What ``QueryPlanner`` decided.
package struct QueryPlan<Value> {
    /// What the tier answers.
    package internal(set) var pushed = ColumnQuery()
    /// What is left to do on decoded values, in this order.
    package internal(set) var residual: [QueryDescription<Value>.Step] = []

    /// The filters before the first window, on values: for what no index covers.
    var condition: [Condition<Value>] = []
    /// The order that was pushed down, on values.
    var orderings: [Ordering<Value>] = []

    init() {}

    /// Whether the tier alone knows which values match, and in which order.
    package var isFullyPushed: Bool { residual.isEmpty }

    fileprivate var hasWindow: Bool {
        pushed.offset > 0 || pushed.limit != nil
            || residual.contains { step in if case .filter = step { false } else { true } }
    }
}

extension Condition {
    /// The parts that must all hold.
    fileprivate var conjuncts: [Condition] {
        guard case .all(let parts) = self else { return [self] }
        // No key path here: in generic code each is made anew, which costs a microsecond.
        return parts.flatMap { $0.conjuncts }
    }
}

extension [ColumnCondition] {
    /// Tests for elements of one collection as one test for any of them.
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
    /// How many tests and values there are.
    fileprivate var size: Int {
        switch self {
        case .all(let parts), .any(let parts): return parts.reduce(1) { $0 + $1.size }
        case .not(let part): return 1 + part.size
        case .test(let test):
            switch test.relation {
            // A list of values is no nested expression.
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
