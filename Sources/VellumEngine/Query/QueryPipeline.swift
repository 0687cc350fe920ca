package import VellumCore

/// A value in a pipeline, and its origin.
struct QueryItem<Value> {
    var value: Value
    var origin: QueryOrigin
}

/// The entry of a value.
struct QueryOrigin: Hashable, Sendable {
    var key: EntryKey
    /// The id of the entry, in the order in which keys were first recorded. Entries that are only in memory are last.
    var entryID: Int64
    var revision: UInt32
}

/// A lazy sequence of values.
struct QueryPipeline<Value> {
    typealias Item = QueryItem<Value>

    let next: () throws(VellumError) -> Item?

    init(_ next: @escaping () throws(VellumError) -> Item?) {
        self.next = next
    }

    /// Returns these values, then those of the other pipeline.
    func followed(by other: QueryPipeline) -> QueryPipeline {
        var isFirst = true
        return QueryPipeline { () throws(VellumError) in
            if isFirst {
                if let item = try self.next() { return item }
                isFirst = false
            }
            return try other.next()
        }
    }

    /// Returns the values that result from the steps, in order.
    func executing(_ steps: [QueryDescription<Value>.Step]) -> QueryPipeline {
        var result = self
        for (index, step) in steps.enumerated() {
            switch step {
            case .filter(let condition): result = result.filtered(condition.evaluation())
            case .sort(let orderings):
                result = result.sorted(by: orderings, keeping: QueryDescription.window(of: steps[(index + 1)...]))
            case .skip(let count): result = result.window(skip: count, limit: nil)
            case .limit(let count): result = result.window(skip: 0, limit: count)
            }
        }
        return result
    }

    func filtered(_ matches: @escaping (Value) throws -> Bool) -> QueryPipeline {
        QueryPipeline { () throws(VellumError) in
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

    /// Returns the values of all other entries.
    func without(_ entryIDs: Set<Int64>) -> QueryPipeline {
        QueryPipeline { () throws(VellumError) in
            while let item = try self.next() {
                if !entryIDs.contains(item.origin.entryID) { return item }
            }
            return nil
        }
    }

    /// Skips the first values and returns at most `limit` of the others.
    func window(skip: Int, limit: Int?) -> QueryPipeline {
        var toSkip = skip
        var left = limit ?? .max
        return QueryPipeline { () throws(VellumError) in
            guard left > 0 else { return nil }
            while toSkip > 0 {
                toSkip -= 1
                guard try self.next() != nil else { return nil }
            }
            left -= 1
            return try self.next()
        }
    }

    /// Returns the values in order.
    ///
    /// - Parameters:
    ///   - count: How many of the first values are needed; `nil` for all. At most twice as many are held in memory.
    ///   - breaksTiesByEntryID: Whether equal values are in the order of their ids, and not in that of the pipeline.
    func sorted(
        by orderings: [Ordering<Value>], keeping count: Int?, breaksTiesByEntryID: Bool = false
    ) -> QueryPipeline {
        var sorted: ArraySlice<Item>?
        return QueryPipeline { () throws(VellumError) in
            if sorted == nil {
                var first = FirstItems(Precedence(orderings: orderings, breaksTiesByEntryID: breaksTiesByEntryID), count: count)
                while let item = try self.next() { try first.add(item) }
                sorted = try first.sorted()[...]
            }
            return sorted?.popFirst()
        }
    }
}

extension QueryDescription {
    /// Returns how many of the first values the steps need, or `nil` for all.
    static func window(of steps: ArraySlice<Step>) -> Int? {
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
}

/// The first items of a sequence in an order.
private struct FirstItems<Value> {
    private typealias Arrival = (item: QueryItem<Value>, number: Int)

    private let precedence: Precedence<Value>
    private let count: Int?
    private var items: [Arrival] = []
    private var added = 0
    /// Whether the first `count` items are sorted, so that an item after the last of them can be dropped.
    private var isFull = false

    init(_ precedence: Precedence<Value>, count: Int?) {
        self.precedence = precedence
        self.count = count
    }

    mutating func add(_ item: QueryItem<Value>) throws(VellumError) {
        added += 1
        guard let count else {
            items.append((item, added))
            return
        }
        guard count > 0 else { return }
        if isFull, try !precedence.puts((item, added), before: items[count - 1]) { return }
        items.append((item, added))
        if items.count >= max(64, count.saturatingAdd(count)) {
            try sort()
            if items.count > count { items.removeLast(items.count - count) }
            isFull = items.count == count
        }
    }

    mutating func sorted() throws(VellumError) -> [QueryItem<Value>] {
        try sort()
        return items.prefix(count ?? .max).map { $0.item }
    }

    private mutating func sort() throws(VellumError) {
        do {
            try items.sort { [precedence] left, right in try precedence.puts(left, before: right) }
        } catch {
            throw .failedQuery(error)
        }
    }
}

/// The order of items. Equal items are in the order of arrival or of their ids.
private struct Precedence<Value> {
    var orderings: [Ordering<Value>]
    var breaksTiesByEntryID: Bool

    func puts(
        _ left: (item: QueryItem<Value>, number: Int), before right: (item: QueryItem<Value>, number: Int)
    ) throws(VellumError) -> Bool {
        do {
            for ordering in orderings {
                let order = try ordering.compare(left.item.value, right.item.value)
                if order != 0 { return order < 0 }
            }
        } catch {
            throw .failedQuery(error)
        }
        let (leftID, rightID) = (left.item.origin.entryID, right.item.origin.entryID)
        return breaksTiesByEntryID && leftID != rightID ? leftID < rightID : left.number < right.number
    }
}

extension QueryDescription {
    /// Returns the result of the steps, executed on the values in order: the definition of what a query returns.
    package func results(of values: [Value]) throws(VellumError) -> [Value] {
        var left = values[...]
        let all = QueryPipeline<Value> { () throws(VellumError) in
            left.popFirst().map { QueryItem(value: $0, origin: QueryOrigin(key: "", entryID: 0, revision: 0)) }
        }
        let pipeline = all.executing(steps)
        var results: [Value] = []
        while let item = try pipeline.next() { results.append(item.value) }
        return results
    }
}

extension VellumError {
    static func failedQuery(_ cause: any Error) -> VellumError {
        if let cause = cause as? VellumError { return cause }
        return VellumError(
            .failedQuery, "A predicate threw an error for an object. Write it so that it can be evaluated on every object.", cause: cause)
    }
}
