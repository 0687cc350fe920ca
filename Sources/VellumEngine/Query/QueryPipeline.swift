package import VellumCore

/// A value on its way through a query, and where it came from.
struct QueryItem<Value> {
    var value: Value
    var origin: QueryOrigin
}

/// Where a value was found.
struct QueryOrigin: Hashable, Sendable {
    var key: EntryKey
    /// The entry's row: the order in which keys were first recorded. What lives in memory alone comes after all others.
    var row: Int64
    var revision: UInt32
}

/// Values one after the other, each made when it is asked for.
struct QueryPipeline<Value> {
    typealias Item = QueryItem<Value>

    let next: () throws(StoreError) -> Item?

    init(_ next: @escaping () throws(StoreError) -> Item?) {
        self.next = next
    }

    /// All of one, then all of the other.
    func followed(by other: QueryPipeline) -> QueryPipeline {
        var isFirst = true
        return QueryPipeline { () throws(StoreError) in
            if isFirst {
                if let item = try self.next() { return item }
                isFirst = false
            }
            return try other.next()
        }
    }

    /// The steps in their order.
    func carryingOut(_ steps: [QueryDescription<Value>.Step]) -> QueryPipeline {
        var result = self
        for (index, step) in steps.enumerated() {
            switch step {
            case .filter(let condition): result = result.filtered(condition.evaluation)
            case .sort(let orderings): result = result.sorted(by: orderings, keeping: Self.window(after: steps[(index + 1)...]))
            case .skip(let count): result = result.window(skip: count, limit: nil)
            case .limit(let count): result = result.window(skip: 0, limit: count)
            }
        }
        return result
    }

    /// How many of the first values the steps have a use for; `nil` if all.
    private static func window(after steps: ArraySlice<QueryDescription<Value>.Step>) -> Int? {
        var skipped = 0
        for step in steps {
            switch step {
            case .skip(let count): skipped = skipped.saturatingAdd(max(0, count))
            case .limit(let count): return skipped.saturatingAdd(max(0, count))
            case .filter, .sort: return nil
            }
        }
        return nil
    }

    func filtered(_ matches: @escaping (Value) throws -> Bool) -> QueryPipeline {
        QueryPipeline { () throws(StoreError) in
            do {
                while let item = try self.next() {
                    if try matches(item.value) { return item }
                }
                return nil
            } catch {
                throw .failedQuery(error)
            }
        }
    }

    /// Leaves out what is of these rows.
    func without(_ rows: Set<Int64>) -> QueryPipeline {
        QueryPipeline { () throws(StoreError) in
            while let item = try self.next() {
                if !rows.contains(item.origin.row) { return item }
            }
            return nil
        }
    }

    /// Leaves out the first, and asks for no more than the limit.
    func window(skip: Int, limit: Int?) -> QueryPipeline {
        var toSkip = skip
        var left = limit ?? .max
        return QueryPipeline { () throws(StoreError) in
            guard left > 0 else { return nil }
            while toSkip > 0 {
                toSkip -= 1
                guard try self.next() != nil else { return nil }
            }
            left -= 1
            return try self.next()
        }
    }

    /// All values in order; equal ones as they came, or as they were first recorded.
    ///
    /// - Parameter count: How many of the first are needed; no more than twice as many are held.
    func sorted(by orderings: [Ordering<Value>], keeping count: Int?, equalOnesByRow: Bool = false) -> QueryPipeline {
        var sorted: ArraySlice<Item>?
        return QueryPipeline { () throws(StoreError) in
            if sorted == nil {
                var first = FirstItems(Precedence(orderings: orderings, equalOnesByRow: equalOnesByRow), count: count)
                while let item = try self.next() { try first.add(item) }
                sorted = try first.sorted()[...]
            }
            return sorted?.popFirst()
        }
    }
}

/// The first items in some order, of any number.
private struct FirstItems<Value> {
    private typealias Arrival = (item: QueryItem<Value>, turn: Int)

    private let precedence: Precedence<Value>
    private let count: Int?
    private var items: [Arrival] = []
    private var turn = 0
    /// Whether the first `count` items are sorted, and the last of them is the one to beat.
    private var isFull = false

    init(_ precedence: Precedence<Value>, count: Int?) {
        self.precedence = precedence
        self.count = count
    }

    mutating func add(_ item: QueryItem<Value>) throws(StoreError) {
        turn += 1
        guard let count else {
            items.append((item, turn))
            return
        }
        guard count > 0 else { return }
        if isFull, try !precedence.puts((item, turn), before: items[count - 1]) { return }
        items.append((item, turn))
        if items.count >= max(64, count.saturatingAdd(count)) {
            try sort()
            if items.count > count { items.removeLast(items.count - count) }
            isFull = items.count == count
        }
    }

    mutating func sorted() throws(StoreError) -> [QueryItem<Value>] {
        try sort()
        return items.prefix(count ?? .max).map { $0.item }
    }

    private mutating func sort() throws(StoreError) {
        do {
            try items.sort { [precedence] left, right in try precedence.puts(left, before: right) }
        } catch {
            throw .failedQuery(error)
        }
    }
}

/// Which of two items comes first: equal ones as they came, or as they were first recorded.
private struct Precedence<Value> {
    var orderings: [Ordering<Value>]
    var equalOnesByRow: Bool

    func puts(
        _ left: (item: QueryItem<Value>, turn: Int), before right: (item: QueryItem<Value>, turn: Int)
    ) throws(StoreError) -> Bool {
        do {
            for ordering in orderings {
                let order = try ordering.compare(left.item.value, right.item.value)
                if order != 0 { return order < 0 }
            }
        } catch {
            throw .failedQuery(error)
        }
        let (leftRow, rightRow) = (left.item.origin.row, right.item.origin.row)
        return equalOnesByRow && leftRow != rightRow ? leftRow < rightRow : left.turn < right.turn
    }
}

extension QueryDescription {
    /// What the steps make of values, carried out one after the other: the meaning of a query.
    package func results(of values: [Value]) throws(StoreError) -> [Value] {
        var left = values[...]
        let all = QueryPipeline<Value> { () throws(StoreError) in
            left.popFirst().map { QueryItem(value: $0, origin: QueryOrigin(key: "", row: 0, revision: 0)) }
        }
        let pipeline = all.carryingOut(steps)
        var results: [Value] = []
        while let item = try pipeline.next() { results.append(item.value) }
        return results
    }
}

extension StoreError {
    static func failedQuery(_ cause: any Error) -> StoreError {
        if let cause = cause as? StoreError { return cause }
        return StoreError(
            .failedQuery, "The condition of a query failed on an object. Ask in a way that every object can answer.", cause: cause)
    }
}
