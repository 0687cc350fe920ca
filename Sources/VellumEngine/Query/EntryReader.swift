internal import Foundation
internal import VellumCore

/// Reads and decodes the entries of a query, a bite at a time.
///
/// A bite is of one instant, and nothing is held or locked between two: so no writer waits, and no log grows.
final class EntryReader<Value> {
    private let store: Store<Value>
    private let isLazy: Bool
    private let largestBite: Int

    /// Whether the value that is stored in these bytes may be wanted. One that is not need not be decoded.
    private let mayMatch: ((Data) -> Bool)?

    /// How many objects were decoded so far.
    private(set) var decoded = 0
    /// Whether the asker does not want the answer any more.
    var isCancelled: () -> Bool = { false }

    init(
        _ store: Store<Value>, isLazy: Bool, largestBite: Int, mayMatch: ((Data) -> Bool)? = nil
    ) {
        self.store = store
        self.isLazy = isLazy
        self.largestBite = largestBite
        self.mayMatch = mayMatch
    }

    var limit: ReadLimit { ReadLimit(entries: largestBite) }

    /// The value of an entry, unless it is not valid or cannot be read; then that is reported, and hides no other.
    func value(of stored: StoredEntry) throws(StoreError) -> Value? {
        if isCancelled() { throw .cancelled }
        // By the clock of this moment: a long query outlives entries, and meets some that are newer than itself.
        guard try store.isValid(stored.entry, of: stored.key, at: store.clock.now()) else { return nil }
        guard stored.isIntact else {
            store.reportUnsound(stored.key)
            return nil
        }
        if let mayMatch, !mayMatch(stored.entry.bytes) { return nil }
        do throws(StoreError) {
            decoded += 1
            return try store.decode(stored.entry.bytes, of: stored.key)
        } catch {
            return nil  // Reported where it was found.
        }
    }

    private func item(_ stored: StoredEntry) throws(StoreError) -> QueryItem<Value>? {
        guard let value = try value(of: stored) else { return nil }
        return QueryItem(value: value, origin: QueryOrigin(key: stored.key, row: stored.entry.row, revision: stored.revision))
    }

    /// The values of rows that are known.
    ///
    /// - Parameters:
    ///   - entries: The first of them, as they were when the rows were found.
    ///   - matches: Asked of those that are read later: they may have changed since.
    func values(
        _ entries: [StoredEntry], then rows: ArraySlice<Int64>, matching matches: @escaping (Value) throws -> Bool
    ) -> QueryPipeline<Value> {
        var (entries, rows, isLater) = (entries[...], rows, false)
        return QueryPipeline { () throws(StoreError) in
            while true {
                while let entry = entries.popFirst() {
                    guard let item = try self.item(entry) else { continue }
                    if isLater, try !item.satisfies(matches) { continue }
                    return item
                }
                guard !rows.isEmpty else { return nil }
                let (read, looked) = try self.store.disk.entries(of: rows, self.limit)
                (entries, rows, isLater) = (read[...], rows.dropFirst(looked), true)
            }
        }
    }

    /// Every value after a row, up to the last row that there is now or to another, in bites that grow if the asker may stop
    /// early. What is recorded later is not met, so that no key is met twice.
    func scan(_ rows: UnbuiltRows? = nil) -> QueryPipeline<Value> {
        var last = rows?.after ?? .min
        var end = rows?.through
        var batch = isLazy ? min(32, largestBite) : largestBite
        var entries: ArraySlice<StoredEntry> = []
        return QueryPipeline { () throws(StoreError) in
            let through = if let end { end } else { try self.store.disk.lastRow() }
            end = through
            while true {
                while let entry = entries.popFirst() {
                    if let item = try self.item(entry) { return item }
                }
                let read = try self.store.disk.entries(after: last, through: through, ReadLimit(entries: batch))
                guard let newest = read.last?.entry.row else { return nil }
                batch = min(batch * 4, self.largestBite)
                last = newest
                entries = read[...]
            }
        }
    }

    /// Adds every value that satisfies the condition to the array. The way of a pipeline costs each value a few calls more.
    func scan(into values: inout [Value], matching matches: (Value) throws -> Bool) throws(StoreError) {
        let through = try store.disk.lastRow()
        var last = Int64.min
        while case let entries = try store.disk.entries(after: last, through: through, limit), let newest = entries.last?.entry.row {
            last = newest
            for entry in entries {
                guard let value = try value(of: entry) else { continue }
                do {
                    if try matches(value) { values.append(value) }
                } catch {
                    throw .failedQuery(error)
                }
            }
        }
    }

    /// What lives in memory alone.
    func values(_ memoryOnly: [(key: EntryKey, payload: CachedForm<Value>)]) -> QueryPipeline<Value> {
        var left = memoryOnly[...]
        return QueryPipeline { () throws(StoreError) in
            while let (key, payload) = left.popFirst() {
                if self.isCancelled() { throw .cancelled }
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
}

extension QueryItem {
    fileprivate func satisfies(_ matches: (Value) throws -> Bool) throws(StoreError) -> Bool {
        do {
            return try matches(value)
        } catch {
            throw .failedQuery(error)
        }
    }
}

extension StoreError {
    static var cancelled: StoreError { StoreError(.cancelled, "The query was cancelled.") }
}
