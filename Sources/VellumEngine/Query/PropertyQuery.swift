/// A query that is nothing but relations of properties to constants, which must all be true, an
/// order of properties, and a window: an index may answer all of it, and nobody needs the closures
/// that a ``QueryDescription`` has (decision 88).
///
/// Not generic: generic code that is not specialized spends most of its time on looking up types.
package struct PropertyQuery {
    package var relations: [Relation] = []
    /// Most significant first.
    package var order: [(property: AnyKeyPath, isDescending: Bool)] = []
    package var offset = 0
    package var limit: Int?

    package init() {}

    package struct Relation {
        let property: AnyKeyPath
        let relation: PropertyRelation

        package init(_ property: AnyKeyPath, _ relation: PropertyRelation) {
            self.property = property
            self.relation = relation
        }
    }
}

extension IndexColumns {
    /// Returns the query of columns that ``QueryPlan`` makes of the steps of the same query; `nil`
    /// if these columns do not answer all of it.
    func query(_ query: PropertyQuery) -> ColumnQuery? {
        guard query.relations.count <= 8, !(query.relations.isEmpty && query.order.isEmpty) else {
            return nil
        }
        var found = ColumnQuery()
        var conjuncts = [ColumnCondition]()
        conjuncts.reserveCapacity(query.relations.count)
        for part in query.relations {
            guard let condition = condition(part.property, part.relation) else { return nil }
            conjuncts.append(condition)
        }
        found.filter = .all(conjuncts)
        for ordering in query.order {
            guard let column = column(of: ordering.property) else { return nil }
            guard !found.order.contains(where: { $0.column == column }) else { continue }
            found.order.append(ColumnOrder(column: column, isDescending: ordering.isDescending))
        }
        found.offset = query.offset
        found.limit = query.limit
        return found
    }
}
