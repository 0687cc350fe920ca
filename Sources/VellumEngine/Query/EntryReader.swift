internal import Foundation
internal import VellumCore

/// Reads and decodes the entries of a query in batches.
///
/// Each batch is read from one snapshot. Nothing is locked between two batches, so writers and checkpoints do not wait.
final class EntryReader<Value> {
    private let store: Store<Value>
    private let isLazy: Bool
    private let batchSize: Int

    /// Returns whether the value with these bytes may match. Values that do not match are not decoded.
    private let mayMatch: ((Data) -> Bool)?

    /// How many objects were decoded so far.
    private(set) var decoded = 0
    /// Returns whether the caller has cancelled the query.
    var isCancelled: () -> Bool = { false }

    init(
        _ store: Store<Value>, isLazy: Bool, batchSize: Int, mayMatch: ((Data) -> Bool)? = nil
    ) {
        self.store = store
        self.isLazy = isLazy
        self.batchSize = batchSize
        self.mayMatch = mayMatch
    }

    var limit: ReadLimit { ReadLimit(entries: batchSize) }

    /// Returns the value of an entry, or `nil` if it has expired or cannot be decoded. A damaged entry is reported.
    func value(of stored: StoredEntry) throws(VellumError) -> Value? {
        if isCancelled() { throw .cancelled }
        // Not the time at which the query began: entries expire, and are recorded, during a long query.
        guard try store.isValid(stored.entry, of: stored.key, at: store.clock.now()) else { return nil }
        guard stored.isIntact else {
            store.reportCorrupt(stored.key)
            return nil
        }
        if let mayMatch, !mayMatch(stored.entry.bytes) { return nil }
        return decodedValue(of: stored.entry.bytes, stored.key)
    }

    private func decodedValue(of bytes: Data, _ key: EntryKey) -> Value? {
        do throws(VellumError) {
            decoded += 1
            return try store.decode(bytes, of: key)
        } catch {
            return nil  // `decode` has reported it.
        }
    }

    private func item(_ stored: StoredEntry) throws(VellumError) -> QueryItem<Value>? {
        guard let value = try value(of: stored) else { return nil }
        return QueryItem(value: value, origin: QueryOrigin(key: stored.key, row: stored.entry.row, revision: stored.revision))
    }

    /// Returns the values of entries, then of rows.
    ///
    /// - Parameters:
    ///   - entries: The entries of the first rows, from the snapshot in which the rows were found.
    ///   - rows: The other rows, which are read later.
    ///   - matches: Tests the values that are read later, because they may have changed.
    func values(
        _ entries: [StoredEntry], then rows: ArraySlice<Int64>, matching matches: @escaping (Value) throws -> Bool
    ) -> QueryPipeline<Value> {
        var (entries, rows, isLater) = (entries[...], rows, false)
        return QueryPipeline { () throws(VellumError) in
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

    /// Returns the values of a range of rows, or of all rows that exist now, in batches. The batches grow if the caller may stop early.
    /// Rows that are added later are left out, so that no key is returned twice.
    func scan(_ rows: UnbuiltRows? = nil) -> QueryPipeline<Value> {
        var last = rows?.after ?? .min
        var end = rows?.through
        var batch = isLazy ? min(32, batchSize) : batchSize
        var entries: ArraySlice<StoredEntry> = []
        return QueryPipeline { () throws(VellumError) in
            let through = if let end { end } else { try self.store.disk.lastRow() }
            end = through
            while true {
                while let entry = entries.popFirst() {
                    if let item = try self.item(entry) { return item }
                }
                let read = try self.store.disk.entries(after: last, through: through, ReadLimit(entries: batch))
                guard let newest = read.last?.entry.row else { return nil }
                batch = min(batch * 4, self.batchSize)
                last = newest
                entries = read[...]
            }
        }
    }

    /// Appends every value that satisfies the condition to the array. Faster than a pipeline, which makes several calls per value.
    func scan(into values: inout [Value], matching matches: (Value) throws -> Bool) throws(VellumError) {
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

    /// Returns the values of entries that are only in memory.
    func values(_ memoryOnly: [(key: EntryKey, payload: CachedForm<Value>)]) -> QueryPipeline<Value> {
        var left = memoryOnly[...]
        return QueryPipeline { () throws(VellumError) in
            while let (key, payload) = left.popFirst() {
                if self.isCancelled() { throw .cancelled }
                let value =
                    switch payload {
                    case .value(let value): value as Value?
                    case .bytes(let bytes): self.decodedValue(of: bytes, key)
                    }
                if let value { return QueryItem(value: value, origin: QueryOrigin(key: key, row: .max, revision: 0)) }
            }
            return nil
        }
    }
}

extension QueryItem {
    fileprivate func satisfies(_ matches: (Value) throws -> Bool) throws(VellumError) -> Bool {
        do {
            return try matches(value)
        } catch {
            throw .failedQuery(error)
        }
    }
}

extension VellumError {
    static var cancelled: VellumError { VellumError(.cancelled, "The query was cancelled.") }
}
