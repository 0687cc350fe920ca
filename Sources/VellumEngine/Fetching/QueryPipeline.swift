package import VellumCore

/// A value in a pipeline, and its origin.
package struct QueryItem<Value> {
    package var value: Value
    package var origin: QueryOrigin
    /// When the entry expires, if that is before another use of it.
    var end = WallInstant.never
    /// ``Store/digest(of:)``; 0 unless it is wanted.
    var digest: UInt64 = 0
}

/// The entry of a value.
package struct QueryOrigin: Hashable, Sendable {
    package var key: EntryKey
    /// The id of the entry, in the order in which keys were first recorded. Entries that are only
    /// in memory are last.
    package var entryID: Int64
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
                result = result.sorted(
                    by: orderings,
                    keeping: QueryDescription.window(of: steps[(index + 1)...])
                )
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
    ///   - count: How many of the first values are needed; `nil` for all. No more are held in
    ///     memory.
    ///   - breaksTiesByEntryID: Whether equal values are in the order of their ids, and not in that
    ///     of the pipeline.
    func sorted(
        by orderings: [Ordering<Value>],
        keeping count: Int?,
        breaksTiesByEntryID: Bool = false
    ) -> QueryPipeline {
        var sorted: ArraySlice<Item>?
        return QueryPipeline { () throws(VellumError) in
            if sorted == nil {
                let precedence = Precedence<Value>(
                    orderings: orderings,
                    breaksTiesByEntryID: breaksTiesByEntryID
                )
                var first = FirstItems(precedence, count: count ?? .max)
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

/// The first items of a sequence in an order: a heap of their places, with the last of them at the
/// root. Most items of a long sequence are compared with that one and dropped.
///
/// - Complexity: O(log count) for each item that is kept.
private struct FirstItems<Value> {
    private let precedence: Precedence<Value>
    private let count: Int
    private var items: [QueryItem<Value>] = []
    /// When each item arrived.
    private var numbers: [Int] = []
    private var heap: [Int] = []
    private var added = 0

    init(_ precedence: Precedence<Value>, count: Int) {
        self.precedence = precedence
        self.count = count
    }

    mutating func add(_ item: QueryItem<Value>) throws(VellumError) {
        added += 1
        if items.count < count {
            heap.append(items.count)
            items.append(item)
            numbers.append(added)
            // The heap is needed once an item may have to go.
            if items.count == count { try arrange() }
        } else if let last = heap.first,
            try precedence.puts(item, added, before: items[last], numbers[last])
        {
            items[last] = item
            numbers[last] = added
            try sink(0)
        }
    }

    func sorted() throws(VellumError) -> [QueryItem<Value>] {
        var places = Array(items.indices)
        do {
            try places.sort { left, right in try puts(left, before: right) }
        } catch {
            throw .failedQuery(error)
        }
        return places.map { items[$0] }
    }

    private func puts(_ left: Int, before right: Int) throws(VellumError) -> Bool {
        try precedence.puts(
            items[left],
            numbers[left],
            before: items[right],
            numbers[right]
        )
    }

    private mutating func arrange() throws(VellumError) {
        for index in (0..<heap.count / 2).reversed() { try sink(index) }
    }

    private mutating func sink(_ start: Int) throws(VellumError) {
        let place = heap[start]
        var index = start
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count,
                try puts(heap[child], before: heap[child + 1])
            {
                child += 1
            }
            guard try puts(place, before: heap[child]) else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = place
    }
}

/// The order of items. Equal items are in the order of arrival or of their ids.
private struct Precedence<Value> {
    var orderings: [Ordering<Value>]
    var breaksTiesByEntryID: Bool

    func puts(
        _ left: QueryItem<Value>,
        _ leftNumber: Int,
        before right: QueryItem<Value>,
        _ rightNumber: Int
    ) throws(VellumError) -> Bool {
        do {
            for ordering in orderings {
                let order = try ordering.compare(left.value, right.value)
                if order != 0 { return order < 0 }
            }
        } catch {
            throw .failedQuery(error)
        }
        let leftID = left.origin.entryID
        let rightID = right.origin.entryID
        return breaksTiesByEntryID && leftID != rightID
            ? leftID < rightID : leftNumber < rightNumber
    }
}

extension QueryDescription {
    /// Returns the result of the steps, executed on the values in order: the definition of what a
    /// query returns.
    package func results(of values: [Value]) throws(VellumError) -> [Value] {
        var left = values[...]
        let all = QueryPipeline<Value> { () throws(VellumError) in
            left.popFirst().map {
                QueryItem(value: $0, origin: QueryOrigin(key: "", entryID: 0, revision: 0))
            }
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
            .failedQuery,
            """
            A predicate threw an error for an object. Write it so that it can be evaluated on \
            every object.
            """,
            cause: cause
        )
    }
}
