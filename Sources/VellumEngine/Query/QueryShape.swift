internal import VellumCore

/// A query without its values, if it is a few comparisons of the first columns: by it its statement
/// is kept, because to write the text of a query takes longer than to bind its values (decision
/// 88).
struct QueryShape {
    /// Another one for each text.
    let code: UInt64

    init?(_ query: ColumnQuery, isCount: Bool) {
        guard case .all(let parts) = query.filter,
            parts.count <= 4,
            query.order.count <= 4
        else {
            return nil
        }
        // Nine bits, eight for each comparison, and five for each column of the order.
        var code =
            UInt64(parts.count) << 6 | UInt64(query.order.count) << 3
            | UInt64(query.window(ofRows: !isCount).count)
        if isCount { code |= 4 }
        for (place, part) in parts.enumerated() {
            guard case .test(let test) = part,
                0..<16 ~= test.column,
                let form = test.relation.form
            else { return nil }
            code |= (UInt64(test.column) << 4 | form) << UInt64(9 + 8 * place)
        }
        for (place, ordering) in query.order.enumerated() {
            guard 0..<16 ~= ordering.column else { return nil }
            code |=
                (UInt64(ordering.column) << 1 | (ordering.isDescending ? 1 : 0))
                << UInt64(41 + 5 * place)
        }
        self.code = code
    }
}

extension ColumnTest.Relation {
    /// A number from 1 to 15 for each way in which ``QueryPrinter`` writes a comparison.
    fileprivate var form: UInt64? {
        func number(_ bound: IndexBound?) -> UInt64 {
            bound.map { $0.isIncluded ? 2 : 1 } ?? 0
        }
        return switch self {
        case .isEqual: 1
        case .isBetween(nil, nil): nil
        case .isBetween(let lower, let upper): 2 + 3 * number(lower) + number(upper)
        case .isNull, .isIn, .beginsWith, .hasElement: nil
        }
    }
}

extension Statement {
    /// Binds the values of a query that has a ``QueryShape``, in the order in which
    /// ``QueryPrinter`` writes them.
    func bindValues(of query: ColumnQuery, isOfRows: Bool) {
        var last: Int32 = 0
        func bindNext(_ value: IndexValue) {
            last += 1
            bind(value, at: last)
        }
        for part in query.filter.conjuncts {
            guard case .test(let test) = part else { continue }
            switch test.relation {
            case .isEqual(let value): bindNext(value)
            case .isBetween(let lower, let upper):
                if let lower { bindNext(lower.value) }
                if let upper { bindNext(upper.value) }
            case .isNull, .isIn, .beginsWith, .hasElement: break
            }
        }
        for value in query.window(ofRows: isOfRows) { bindNext(.integer(value)) }
    }
}
