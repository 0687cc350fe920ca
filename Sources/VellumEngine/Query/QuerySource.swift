internal import Foundation
internal import VellumCore

/// Where the values of one query come from: what an index answers first, then what no index covers, one by one.
///
/// A query that is answered in one bite (up to 4096 objects, or 4 MB) is of one instant. In a longer one each object that stays
/// as it is is met once; one that changes meanwhile is met before or after the change, or not at all if it leaves or no longer
/// matches.
final class QuerySource<Value> {
    private let store: Store<Value>
    private let query: QueryDescription<Value>
    private let isLazy: Bool
    /// The filters that were pushed down, on values.
    private let matches: (Value) throws -> Bool

    let plan: QueryPlan<Value>
    let reader: EntryReader<Value>
    /// How many objects no index covered.
    private(set) var uncovered = 0
    /// What the tier was asked; nothing if the objects were read one after the other.
    private(set) var asked: ColumnQuery?

    init(_ query: QueryDescription<Value>, in store: Store<Value>, isLazy: Bool, largestBite: Int) {
        self.query = query
        self.store = store
        self.isLazy = isLazy
        plan = QueryPlanner(store.catalog ?? IndexCatalog()).plan(query)
        // What an index finds matches as a rule; where every object is read, few do.
        let mayMatch = plan.pushed.isScan ? query.mayMatchStored : nil
        reader = EntryReader(store, isLazy: isLazy, largestBite: largestBite, mayMatch: mayMatch)
        matches = Condition.all(plan.condition).evaluation
    }

    private var now: WallInstant { store.clock.now() }

    // MARK: Without a pipeline

    /// How many values there are, if the tier alone can tell.
    func countWithoutDecoding() throws(StoreError) -> Int? {
        guard plan.isFullyPushed, store.memory.memoryOnlyCount == 0 else { return nil }
        return try store.disk.count(validAt: now) { coverage in
            guard coverage.isWhole else { return nil }
            asked = plan.pushed
            return plan.pushed
        }
    }

    /// Adds all values to the array, where nothing is to be done but to read, to decode and to filter.
    ///
    /// - Returns: Whether it was so.
    func readAll(into values: inout [Value]) throws(StoreError) -> Bool {
        guard store.memory.memoryOnlyCount == 0 else { return false }
        if plan.pushed.isScan { return try scanAll(into: &values) }
        guard plan.isFullyPushed else { return false }
        let answer = try store.disk.answer(validAt: now, reading: reader.limit) { coverage in
            guard coverage.isWhole else { return nil }
            asked = plan.pushed
            return plan.pushed
        }
        guard let answer else { return false }
        values.reserveCapacity(answer.rows.count)
        for entry in answer.entries {
            if let value = try reader.value(of: entry) { values.append(value) }
        }
        let rest = reader.values([], then: answer.rows.dropFirst(answer.looked), matching: matches)
        while let item = try rest.next() { values.append(item.value) }
        // If some could not be decoded, others may be in their places.
        guard values.count == answer.rows.count || plan.pushed.limit == nil else {
            values.removeAll()
            return false
        }
        return true
    }

    private func scanAll(into values: inout [Value]) throws(StoreError) -> Bool {
        var conditions: [Condition<Value>] = []
        for step in query.steps {
            guard case .filter(let condition) = step else { return false }
            conditions.append(condition)
        }
        try reader.scan(into: &values, matching: Condition.all(conditions).evaluation)
        return true
    }

    // MARK: The pipeline

    func begin() throws(StoreError) -> QueryPipeline<Value> {
        let memoryOnly = store.valuesInMemoryAlone(at: now)
        guard !plan.pushed.isScan, let rows = try indexedRows(isWhole: memoryOnly.isEmpty) else {
            return reader.scan().followed(by: reader.values(memoryOnly)).carryingOut(query.steps)
        }
        guard let others = rows.others else { return rows.pipeline.carryingOut(plan.residual) }

        // The index answers for a part; the rest is asked one by one and put where it belongs.
        let rest = others.followed(by: reader.values(memoryOnly)).filtered(matches)
        return rows.pipeline.followed(by: rest)
            .sorted(by: plan.orderings, keeping: plan.pushed.end, equalOnesByRow: true)
            .window(skip: plan.pushed.offset, limit: plan.pushed.limit)
            .carryingOut(plan.residual)
    }

    private struct IndexedRows {
        var pipeline: QueryPipeline<Value>
        /// What the index does not cover, where it does not cover everything.
        var others: QueryPipeline<Value>?
    }

    /// The values that the index finds, and those that it does not cover; `nil` if there is no index to ask.
    private func indexedRows(isWhole: Bool) throws(StoreError) -> IndexedRows? {
        var question = plan.pushed
        var isEverything = isWhole
        let answer = try store.disk.answer(validAt: now, reading: reader.limit) { coverage in
            guard coverage.isUsable else { return nil }
            isEverything = coverage.isWhole && isWhole
            if !isEverything {
                // Rows that the index does not cover may come before those that it does.
                question.limit = plan.pushed.end
                question.offset = 0
            } else if isLazy, !plan.isFullyPushed, question.limit == nil {
                question.limit = Self.firstLook
            }
            asked = question
            return question
        }
        guard let answer else { return nil }

        var pipeline = reader.values(answer.entries, then: answer.rows.dropFirst(answer.looked), matching: matches)
        if answer.rows.count == question.limit {
            // There may be more, and they are wanted if this was but a first look, or some cannot be decoded.
            pipeline = pipeline.followed(by: later { () throws(StoreError) in try self.allRows(but: answer.rows, offset: question.offset) })
            pipeline = pipeline.window(skip: 0, limit: isEverything ? plan.pushed.limit : question.limit)
        }
        guard !isEverything else { return IndexedRows(pipeline: pipeline, others: nil) }
        return IndexedRows(pipeline: pipeline, others: others(answer))
    }

    /// How many rows to look for where fewer may do.
    private static var firstLook: Int { 256 }

    /// What an index does not cover, one by one.
    private func others(_ answer: QueryAnswer) -> QueryPipeline<Value> {
        let undecodable = Set(answer.undecodable)
        var healed: [Int64] = []
        var isHealed = false
        let unindexedRows = reader.values([], then: answer.uncovered[...], matching: matches)
        let rest = answer.unbuilt.map { unindexedRows.followed(by: reader.scan($0)) } ?? unindexedRows
        return QueryPipeline { () throws(StoreError) in
            if let item = try rest.next() {
                self.uncovered += 1
                if undecodable.contains(item.origin.row) { healed.append(item.origin.row) }
                return item
            }
            if !healed.isEmpty, !isHealed {
                isHealed = true
                try self.store.disk.indexAgain(healed)
            }
            return nil
        }
    }

    /// All rows but those seen, once the first have turned out not to be enough.
    private func allRows(but seen: [Int64], offset: Int) throws(StoreError) -> QueryPipeline<Value> {
        let seen = Set(seen)
        var question = plan.pushed
        question.limit = nil
        question.offset = offset
        let answer = try store.disk.answer(validAt: now, reading: ReadLimit(entries: 0)) { $0.isUsable ? question : nil }
        guard let answer else {
            // Another program has dropped the index since. The order, too, was the index's.
            return reader.scan().without(seen).filtered(matches).sorted(by: plan.orderings, keeping: nil)
        }
        let found = reader.values([], then: answer.rows.filter { !seen.contains($0) }[...], matching: matches)
        return found.followed(by: others(answer).without(seen).filtered(matches))
    }

    /// A pipeline that is made when it is first asked.
    private func later(_ make: @escaping () throws(StoreError) -> QueryPipeline<Value>) -> QueryPipeline<Value> {
        var made: QueryPipeline<Value>?
        return QueryPipeline { () throws(StoreError) in
            if let made { return try made.next() }
            let pipeline = try make()
            made = pipeline
            return try pipeline.next()
        }
    }
}

extension QueryDescription {
    /// Whether a value with these bytes may get past the filters that come first; `nil` if bytes cannot be asked.
    fileprivate var mayMatchStored: ((Data) -> Bool)? {
        var conditions: [Condition<Value>] = []
        for case .filter(let condition) in steps.prefix(while: { if case .filter = $0 { true } else { false } }) {
            conditions.append(condition)
        }
        return Condition.all(conditions).storedEvaluation.map { matches in { matches($0) ?? true } }
    }
}
