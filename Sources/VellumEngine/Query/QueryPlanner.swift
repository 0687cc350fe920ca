internal import VellumCore

/// Splits a query into a part that the index answers and the steps that remain for decoded values.
///
/// A pure value: it identifies columns by number and does not use the database.
///
/// Filters and sorts before the first offset or limit are combined into one condition and one order: a filter may pass a sort, and a later
/// sort takes precedence over an earlier one. If only a part of a filter can be pushed down, that part narrows the candidates and the whole
/// filter remains. An offset or limit is pushed down if no step before it remains. All steps after the first that is not pushed down
/// remain.
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

    /// The maximum number of tests that are pushed down.
    private static var maximumConditionSize: Int { 200 }

    /// - Returns: Whether the plan includes the step. If not, it and all later steps remain.
    private func push(_ step: QueryDescription<Value>.Step, into plan: inout QueryPlan<Value>) -> Bool {
        switch step {
        case .filter(let condition):
            guard !plan.hasWindow else { return false }
            // The remaining parts are one step.
            var left: [Condition<Value>] = []
            push(condition, into: &plan, &left)
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

    /// Pushes the parts of the condition that must all be true, and appends those that remain to `left`.
    private func push(_ condition: Condition<Value>, into plan: inout QueryPlan<Value>, _ left: inout [Condition<Value>]) {
        if case .all(let parts) = condition {
            for part in parts { push(part, into: &plan, &left) }
            return
        }
        if !push(condition, into: &plan) { left.append(condition) }
    }

    /// - Returns: Whether nothing of the condition remains.
    private func push(_ part: Condition<Value>, into plan: inout QueryPlan<Value>) -> Bool {
        var (wider, isExact) = widened(part)
        // SQLite limits the depth of an expression (sqlite.org/limits.html, 5).
        if let size = wider?.size, plan.pushed.filter.size + size > Self.maximumConditionSize { (wider, isExact) = (nil, false) }
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

    /// Returns a condition on columns that every match of this condition satisfies, and whether the two are equivalent.
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
            // A part without a column may match any row.
            guard known.count == parts.count else { return (nil, false) }
            return (.any(known.mergingElements), isExact)
        case .not(let part):
            guard case (let inner?, true) = widened(part) else { return (nil, false) }
            return (.not(inner), true)
        }
    }

    /// Returns the widened conditions that exist, and whether all are equivalent to the originals.
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

/// The result of ``QueryPlanner``.
package struct QueryPlan<Value> {
    /// The part that the index answers.
    package internal(set) var pushed = ColumnQuery()
    /// The steps that remain for decoded values, in order.
    package internal(set) var residual: [QueryDescription<Value>.Step] = []

    /// The filters before the first offset or limit, for values that the index does not cover.
    var condition: [Condition<Value>] = []
    /// The order that was pushed down, for values that the index does not cover.
    var orderings: [Ordering<Value>] = []

    init() {}

    /// Whether the index determines all results and their order.
    package var isFullyPushed: Bool { residual.isEmpty }

    fileprivate var hasWindow: Bool {
        pushed.offset > 0 || pushed.limit != nil
            || residual.contains { step in if case .filter = step { false } else { true } }
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
