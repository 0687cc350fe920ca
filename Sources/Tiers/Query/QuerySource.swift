/// Where the values of one query come from: what an index answers first, then what no index covers, one by one.
///
/// What lies on disk is read in bites, each of one instant, and nothing is held or locked in between: so no writer waits, and
/// no log grows. A query that is answered in one bite (up to 4096 objects, or 4 MB) is of one instant. In a longer one each
/// object that stays as it is is met once; one that changes meanwhile is met before or after the change, or not at all if it
/// leaves or no longer matches.
final class QuerySource<Value> {
    private let store: TieredStore<Value>
    private let now: WallInstant
    private let query: QueryDescription<Value>
    private let isLazy: Bool
    private let largestBite: Int

    let plan: QueryPlan<Value>
    private(set) var decoded = 0
    private(set) var uncovered = 0
    private(set) var asked: TierQuery?

    init(_ query: QueryDescription<Value>, in store: TieredStore<Value>, isLazy: Bool, largestBite: Int) {
        self.query = query
        self.store = store
        self.isLazy = isLazy
        self.largestBite = largestBite
        plan = QueryPlanner(store.catalog ?? IndexCatalog()).plan(query)
        now = store.clock.now()
    }

    func countWithoutDecoding() throws(StoreError) -> Int? {
        guard let tier = store.queryableDisk, plan.isFullyPushed, store.memory.aloneCount == 0 else { return nil }
        return try tier.count(validAt: now) { coverage in
            guard coverage.isWhole else { return nil }
            asked = plan.pushed
            return plan.pushed
        }
    }

    // MARK: All at once

    /// Adds all values to the array, where nothing is to be done but to read, to decode and to filter.
    ///
    /// - Returns: Whether it was so. The way of a pipeline costs each value a few calls more.
    func readAll(into values: inout [Value]) throws(StoreError) -> Bool {
        guard let tier = store.queryableDisk, store.memory.aloneCount == 0 else { return false }
        if plan.pushed.isScan { return try scanAll(tier, into: &values) }
        guard plan.isFullyPushed else { return false }
        let answer = try tier.answer(validAt: now, reading: ReadLimit(entries: largestBite)) { coverage in
            guard coverage.isWhole else { return nil }
            asked = plan.pushed
            return plan.pushed
        }
        guard let answer else { return false }
        values.reserveCapacity(answer.rows.count)
        for entry in answer.entries {
            if let value = value(of: entry) { values.append(value) }
        }
        let cursor = RowCursor(rows: answer.rows.dropFirst(answer.looked))
        while let item = try next(cursor, tier) { values.append(item.value) }
        return true
    }

    private func scanAll(_ tier: any QueryableTier, into values: inout [Value]) throws(StoreError) -> Bool {
        var conditions: [Condition<Value>] = []
        for step in query.steps {
            guard case .filter(let condition) = step else { return false }
            conditions.append(condition)
        }
        let matches = Condition.all(conditions).evaluation
        var last = Int64.min
        while case let entries = try tier.entries(after: last, ReadLimit(entries: largestBite)), let newest = entries.last?.entry.row {
            last = newest
            for entry in entries {
                guard let value = value(of: entry) else { continue }
                do {
                    if try matches(value) { values.append(value) }
                } catch {
                    throw .failedQuery(error)
                }
            }
        }
        return true
    }

    // MARK: Beginning

    func begin() throws(StoreError) -> QueryPipeline<Value> {
        let alone = store.valuesInMemoryAlone(at: now)
        guard let tier = store.queryableDisk else {
            return try everyKey(alone).carryingOut(query.steps)
        }
        guard !plan.pushed.isScan, let rows = try indexedRows(tier, isWhole: alone.isEmpty) else {
            return scan(tier, after: .min).followed(by: values(alone)).carryingOut(query.steps)
        }
        guard let others = rows.others else { return rows.pipeline.carryingOut(plan.residual) }

        // The index answers for a part; the rest is asked one by one and put where it belongs.
        let rest = others.followed(by: values(alone)).filtered(plan.condition)
        let end = plan.pushed.limit.map(plan.pushed.offset.saturatingAdd)
        return rows.pipeline.followed(by: rest)
            .sorted(by: plan.orderings, keeping: end, equalOnesByRow: true)
            .window(skip: plan.pushed.offset, limit: plan.pushed.limit)
            .carryingOut(plan.residual)
    }

    private struct IndexedRows {
        var pipeline: QueryPipeline<Value>
        /// What the index does not cover, where it does not cover everything.
        var others: QueryPipeline<Value>?
    }

    /// The values that the index finds, and those that it does not cover; `nil` if there is no index to ask.
    private func indexedRows(_ tier: any QueryableTier, isWhole: Bool) throws(StoreError) -> IndexedRows? {
        var isFirstLook = false
        var isEverything = isWhole
        let answer = try tier.answer(validAt: now, reading: ReadLimit(entries: largestBite)) { coverage in
            guard coverage.isUsable else { return nil }
            var question = plan.pushed
            isEverything = coverage.isWhole && isWhole
            if !isEverything {
                // Rows that the index does not cover may come before those that it does.
                question.limit = question.limit.map(question.offset.saturatingAdd)
                question.offset = 0
            } else if isLazy, !plan.isFullyPushed, question.limit == nil {
                question.limit = Self.firstLook
                isFirstLook = true
            }
            asked = question
            return question
        }
        guard let answer else { return nil }
        uncovered = answer.uncovered.count

        let cursor = RowCursor(answer)
        var pipeline = QueryPipeline { () throws(StoreError) in try self.next(cursor, tier) }
        if isFirstLook, answer.rows.count == Self.firstLook {
            pipeline = pipeline.followed(by: afterFirstLook(answer.rows, tier))
        }
        guard !isEverything else { return IndexedRows(pipeline: pipeline, others: nil) }
        let strays = RowCursor(rows: answer.uncovered[...])
        var others = QueryPipeline { () throws(StoreError) in try self.next(strays, tier) }
        if let row = answer.coveredThrough { others = others.followed(by: scan(tier, after: row)) }
        return IndexedRows(pipeline: pipeline, others: others)
    }

    /// How many rows to look for where fewer may do.
    private static var firstLook: Int { 256 }

    /// All rows but those seen, once the first have turned out not to be enough.
    private func afterFirstLook(_ seen: [Int64], _ tier: any QueryableTier) -> QueryPipeline<Value> {
        var rest: QueryPipeline<Value>?
        return QueryPipeline { () throws(StoreError) in
            if let rest { return try rest.next() }
            let all = try self.allRows(but: Set(seen), tier)
            rest = all
            return try all.next()
        }
    }

    private func allRows(but seen: Set<Int64>, _ tier: any QueryableTier) throws(StoreError) -> QueryPipeline<Value> {
        let answer = try tier.answer(validAt: now, reading: ReadLimit(entries: 0)) { $0.isUsable ? plan.pushed : nil }
        guard let answer else {
            // Another program has dropped the index since.
            return scan(tier, after: .min).filtered(plan.condition).without(seen)
        }
        let cursor = RowCursor(rows: (answer.rows + answer.uncovered).filter { !seen.contains($0) }[...])
        let found = QueryPipeline { () throws(StoreError) in try self.next(cursor, tier) }
        guard let row = answer.coveredThrough else { return found }
        return found.followed(by: scan(tier, after: row).filtered(plan.condition).without(seen))
    }

    // MARK: Reading

    /// Rows that are known, whose entries are read in bites.
    private final class RowCursor {
        var rows: ArraySlice<Int64>
        var entries: ArraySlice<StoredEntry> = []
        /// Whether the entries are of a later instant than the rows.
        var isLater = true

        init(rows: ArraySlice<Int64>) {
            self.rows = rows
        }

        init(_ answer: TierAnswer) {
            entries = answer.entries[...]
            rows = answer.rows.dropFirst(answer.looked)
            isLater = false
        }
    }

    private func next(_ cursor: RowCursor, _ tier: any QueryableTier) throws(StoreError) -> QueryItem<Value>? {
        while true {
            while let entry = cursor.entries.popFirst() {
                guard let item = item(entry) else { continue }
                // It may have changed since the rows were found.
                if cursor.isLater, try !stillMatches(item.value) { continue }
                return item
            }
            guard !cursor.rows.isEmpty else { return nil }
            let (entries, looked) = try tier.entries(of: cursor.rows, ReadLimit(entries: largestBite))
            cursor.entries = entries[...]
            cursor.rows = cursor.rows.dropFirst(looked)
            cursor.isLater = true
        }
    }

    private func stillMatches(_ value: Value) throws(StoreError) -> Bool {
        do {
            return try Condition.all(plan.condition).matches(value)
        } catch {
            throw .failedQuery(error)
        }
    }

    /// Every entry after a row, in bites that grow if the asker may stop early.
    private func scan(_ tier: any QueryableTier, after row: Int64) -> QueryPipeline<Value> {
        var last = row
        var bite = isLazy ? min(32, largestBite) : largestBite
        var entries: ArraySlice<StoredEntry> = []
        var isAtEnd = false
        return QueryPipeline { () throws(StoreError) in
            while true {
                while let entry = entries.popFirst() {
                    if let item = self.item(entry) { return item }
                }
                guard !isAtEnd else { return nil }
                let read = try tier.entries(after: last, ReadLimit(entries: bite))
                bite = min(bite * 4, self.largestBite)
                guard let newest = read.last?.entry.row else {
                    isAtEnd = true
                    continue
                }
                last = newest
                entries = read[...]
            }
        }
    }

    /// The value of an entry, unless it is not valid or cannot be read; then that is reported, and hides no other.
    private func value(of stored: StoredEntry) -> Value? {
        guard stored.entry.validity.contains(now) else { return nil }
        guard stored.isSound else {
            store.reportUnsound(stored.key)
            return nil
        }
        do throws(StoreError) {
            decoded += 1
            return try store.decode(stored.entry.bytes, of: stored.key)
        } catch {
            return nil  // Reported where it was found.
        }
    }

    private func item(_ stored: StoredEntry) -> QueryItem<Value>? {
        value(of: stored).map {
            QueryItem(value: $0, origin: QueryOrigin(key: stored.key, row: stored.entry.row, revision: stored.revision))
        }
    }

    private func values(_ alone: [(key: EntryKey, payload: Remembered<Value>)]) -> QueryPipeline<Value> {
        var left = alone[...]
        return QueryPipeline { () throws(StoreError) in
            while let (key, payload) = left.popFirst() {
                let origin = QueryOrigin(key: key, row: .max, revision: 0)
                switch payload {
                case .value(let value): return QueryItem(value: value, origin: origin)
                case .bytes(let bytes):
                    do throws(StoreError) {
                        self.decoded += 1
                        return QueryItem(value: try self.store.decode(bytes, of: key), origin: origin)
                    } catch {
                        continue  // Reported where it was found.
                    }
                }
            }
            return nil
        }
    }

    /// Everything in a tier that knows no queries, least recently used first.
    private func everyKey(_ alone: [(key: EntryKey, payload: Remembered<Value>)]) throws(StoreError) -> QueryPipeline<Value> {
        var left = try store.disk.keysByUse(limit: .max, validAt: now).reversed()[...]
        let onDisk = QueryPipeline { () throws(StoreError) -> QueryItem<Value>? in
            while let key = left.popFirst()?.key {
                do throws(StoreError) {
                    self.decoded += 1
                    guard let value = try self.store.peekValue(forKey: key) else { continue }
                    return QueryItem(value: value, origin: QueryOrigin(key: key, row: 0, revision: 0))
                } catch  where error.concernsOneEntry {
                    continue
                }
            }
            return nil
        }
        return onDisk.followed(by: values(alone))
    }
}
